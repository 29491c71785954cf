#include "lower/aten/families.h"
#include "lower/aten/numeric.h"

namespace anyshape::lower {
namespace {

// New random numbers at every run; PyTorch's own sequence for a seed cannot be reproduced.
Ref drawn(Lowering& l, std::string_view type, const Dims& dims, DType dtype, std::vector<Attribute> attributes) {
  const DType used = dtype == DType::f64 ? DType::f64 : DType::f32;
  attributes.push_back(attr("dtype", static_cast<int64_t>(used)));
  std::vector<int64_t> numbers;
  for (Dim d : dims)
    if (d.is_constant()) numbers.push_back(*d.constant());
  if (numbers.size() == dims.size()) {
    attributes.push_back(attr("shape", std::move(numbers)));
    return l->cast(l.op(type, {}, std::move(attributes)), dtype);
  }
  const Ref zero = l->integer(0, DType::f32);
  if (l->failed()) return {};
  return l->cast(l.op(std::string(type) + "Like", {l->full(dims, *l->tensor(zero))}, std::move(attributes)), dtype);
}

Ref uniform_numbers(Lowering& l, const Dims& dims, DType dtype, double low = 0, double high = 1) {
  return drawn(l, "RandomUniform", dims, dtype, {attr("low", low), attr("high", high)});
}

Ref normal_numbers(Lowering& l, const Dims& dims, DType dtype, double mean = 0, double deviation = 1) {
  return drawn(l, "RandomNormal", dims, dtype, {attr("mean", mean), attr("scale", deviation)});
}

DType wanted_type(const Args& a, DType otherwise) { return a.dtype("dtype").value_or(otherwise); }

Arg rand(Lowering& l, const Args& a) { return uniform_numbers(l, a.dims("size"), wanted_type(a, DType::f32)); }
Arg randn(Lowering& l, const Args& a) { return normal_numbers(l, a.dims("size"), wanted_type(a, DType::f32)); }

Arg rand_like(Lowering& l, const Args& a) {
  return uniform_numbers(l, l->dims(a.self()), wanted_type(a, l->dtype(a.self())));
}

Arg randn_like(Lowering& l, const Args& a) {
  return normal_numbers(l, l->dims(a.self()), wanted_type(a, l->dtype(a.self())));
}

// Whole numbers from low to high - 1.
Ref whole_numbers_random(Lowering& l, const Args& a, const Dims& dims, DType dtype) {
  const Ref share = uniform_numbers(l, dims, DType::f64);
  const Ref low = l.operand(a.has("low") ? a.arg("low") : Arg(Dim(0)), DType::f64);
  const Ref high = l.operand(a.arg("high"), DType::f64);
  const Ref scaled = l.op("Add", {l.op("Mul", {share, l.op("Sub", {high, low})}), low});
  return l->cast(l.op("Floor", {scaled}), dtype);
}

Arg randint(Lowering& l, const Args& a) {
  return whole_numbers_random(l, a, a.dims("size"), wanted_type(a, DType::i64));
}

Arg randint_like(Lowering& l, const Args& a) {
  return whole_numbers_random(l, a, l->dims(a.self()), wanted_type(a, l->dtype(a.self())));
}

// The order of random numbers.
Arg randperm(Lowering& l, const Args& a) {
  const Dim count = a.dim("n");
  const auto [values, order] = l.topk(uniform_numbers(l, {count}, DType::f32), count, 0, true, true);
  return l->cast(order, wanted_type(a, DType::i64));
}

// normal(mean, std): one of both is a tensor, or neither, and then there is a size. normal_(self, mean, std) fills.
Arg normal(Lowering& l, const Args& a) {
  const bool tensors = a.is_tensor("mean") || a.is_tensor("std");
  if (!tensors) {
    const Ref filled = a.has("self") ? a.self() : Ref();
    const Dims dims = filled ? l->dims(filled) : a.dims("size");
    const DType dtype = filled ? l->dtype(filled) : wanted_type(a, DType::f32);
    return normal_numbers(l, dims, dtype, a.f("mean"), a.f("std", 1));
  }
  const Ref shaped = a.is_tensor("mean") ? a.tensor("mean") : a.tensor("std");
  const DType dtype = l->dtype(shaped);
  const Ref mean = l.operand(a.arg("mean"), dtype), deviation = l.operand(a.arg("std"), dtype);
  const Ref sum_of_both = l.op("Add", {mean, deviation});
  const Ref noise = normal_numbers(l, l->dims(sum_of_both), dtype);
  return l.op("Add", {mean, l.op("Mul", {noise, deviation})});
}

Arg uniform(Lowering& l, const Args& a) {
  const Ref x = a.self();
  return uniform_numbers(l, l->dims(x), l->dtype(x), a.f("from"), a.f("to", 1));
}

Arg exponential(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Ref share = uniform_numbers(l, l->dims(x), l->dtype(x));
  const Ref logarithm = l.op("Log", {l.op("Sub", {like(l, x, 1), share})});
  return l.op("Div", {l.op("Neg", {logarithm}), like(l, x, a.f("lambd", 1))});
}

// True with probability p, which is the tensor itself where none is given.
Arg bernoulli(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Ref chance = a.has("p") ? l.operand(a.arg("p"), DType::f32) : l->cast(x, DType::f32);
  return l->cast(less(l, uniform_numbers(l, l->dims(x), DType::f32), chance), l->dtype(x));
}

constexpr AtenOp kRandomOps[] = {
    {"bernoulli", bernoulli}, {"exponential", exponential}, {"normal", normal},     {"normal_functional", normal},
    {"rand", rand},           {"rand_like", rand_like},     {"randint", randint},   {"randint_like", randint_like},
    {"randn", randn},         {"randn_like", randn_like},   {"randperm", randperm}, {"uniform", uniform},
};

}  // namespace

std::span<const AtenOp> random_ops() { return kRandomOps; }

}  // namespace anyshape::lower
