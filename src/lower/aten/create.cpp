#include <cmath>

#include "lower/aten/families.h"
#include "lower/aten/numeric.h"

namespace anyshape::lower {
namespace {

// Numbers computed at export may be this many; beyond that the graph computes them.
constexpr int64_t kComputedNow = 1 << 14;

Ref filled(Lowering& l, const Dims& dims, const Arg& value, DType dtype) {
  const Ref single = l.operand(value, dtype);
  const Tensor* known = l->tensor(single);
  return known && known->count() == 1 ? l->full(dims, *known) : l->expand(single, dims);
}

DType wanted_type(const Args& a, DType otherwise) { return a.dtype("dtype").value_or(otherwise); }

template <int Value>
Arg constant_of(Lowering& l, const Args& a) {
  return filled(l, a.dims("size"), Arg(Dim(Value)), wanted_type(a, DType::f32));
}

// What a number alone becomes, also one that is only known when the model runs.
DType default_type(Lowering& l, const Arg& value) {
  const DType given = l.common_type({&value});
  return is_float(given) ? DType::f32 : given;
}

Arg full(Lowering& l, const Args& a) {
  const Arg& value = a.arg("fill_value");
  return filled(l, a.dims("size"), value, wanted_type(a, default_type(l, value)));
}

template <int Value>
Arg constant_like(Lowering& l, const Args& a) {
  const Ref x = a.self();
  return filled(l, l->dims(x), Arg(Dim(Value)), wanted_type(a, l->dtype(x)));
}

Arg full_like(Lowering& l, const Args& a) {
  const Ref x = a.self();
  return filled(l, l->dims(x), a.arg("fill_value"), wanted_type(a, l->dtype(x)));
}

template <int Value>
Arg new_constant(Lowering& l, const Args& a) {
  return filled(l, a.dims("size"), Arg(Dim(Value)), wanted_type(a, l->dtype(a.self())));
}

Arg new_full(Lowering& l, const Args& a) {
  return filled(l, a.dims("size"), a.arg("fill_value"), wanted_type(a, l->dtype(a.self())));
}

Arg scalar_tensor(Lowering& l, const Args& a) {
  const Arg& value = a.arg("s");
  return l.operand(value, wanted_type(a, DType::f32));
}

// torch.tensor(number)
Arg tensor_of(Lowering& l, const Args& a) {
  const Arg& value = a.arg("t");
  return l.operand(value, wanted_type(a, default_type(l, value)));
}

Arg as_tensor(Lowering& l, const Args& a) {
  if (a.has("t")) return tensor_of(l, a);
  const Ref x = a.self();
  return l->cast(x, wanted_type(a, l->dtype(x)));
}

bool same_value_create(const Args&, Ref self, Ref result) { return self == result; }

// A number of the program: whole (possibly symbolic), real, or only known when the model runs.
struct Number {
  std::optional<Dim> whole;
  std::optional<double> real;
};

Number number_of(Lowering& l, const Arg& arg) {
  Number out;
  if (const auto* dim = arg.get<Dim>()) out.whole = *dim;
  if (const auto* truth = arg.get<bool>()) out.whole = Dim(int64_t{*truth});
  if (const auto* real = arg.get<double>()) out.real = *real;
  if (arg.is_tensor() && is_integer(l->dtype(l.ref(arg)))) out.whole = l.item(l.ref(arg));
  if (out.whole && out.whole->is_constant()) out.real = static_cast<double>(*out.whole->constant());
  return out;
}

Ref counted(Lowering& l, Dim start, Dim end, Dim step) {
  return l.op("Range", {l->scalar(start), l->scalar(end), l->scalar(step)});
}

Arg arange(Lowering& l, const Args& a) {
  const Arg zero = Arg(Dim(0)), one = Arg(Dim(1));
  const Arg& from = a.has("start") ? a.arg("start") : zero;
  const Arg& by = a.has("step") ? a.arg("step") : one;
  const Arg& to = a.arg("end");
  const DType kind = l.common_type({&from, &to, &by});
  const DType dtype = wanted_type(a, is_float(kind) ? DType::f32 : DType::i64);
  const Number start = number_of(l, from), end = number_of(l, to), step = number_of(l, by);
  if (start.whole && end.whole && step.whole) return l->cast(counted(l, *start.whole, *end.whole, *step.whole), dtype);
  if (start.real && end.real && step.real && *step.real != 0) {
    const double count = std::ceil((*end.real - *start.real) / *step.real);
    if (count >= 0 && count <= static_cast<double>(kComputedNow)) {
      std::vector<double> values(static_cast<size_t>(count));
      for (size_t i = 0; i < values.size(); ++i) values[i] = *start.real + static_cast<double>(i) * *step.real;
      return reals(l, values, dtype);
    }
  }
  const Refs in{l.operand(from, DType::f64), l.operand(to, DType::f64), l.operand(by, DType::f64)};
  return l->cast(l.op("Range", in), dtype);
}

// The second half is counted from the end, so that both ends are exact.
Ref spread(Lowering& l, const Args& a, DType dtype) {
  const Arg &from = a.arg("start"), &to = a.arg("end");
  const Number start = number_of(l, from), end = number_of(l, to);
  const Dim steps = l->assumptions().simplify(a.dim("steps"));
  if (start.real && end.real && steps.is_constant() && *steps.constant() <= kComputedNow) {
    const int64_t n = std::max<int64_t>(0, *steps.constant());
    const double by = n > 1 ? (*end.real - *start.real) / static_cast<double>(n - 1) : 0;
    std::vector<double> values(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i)
      values[static_cast<size_t>(i)] = i < n / 2 || n == 1 ? *start.real + by * static_cast<double>(i)
                                                           : *end.real - by * static_cast<double>(n - 1 - i);
    return reals(l, values, dtype);
  }
  const DType wide = is_float(dtype) ? dtype : DType::f64;
  const Ref first = l.operand(from, wide), last = l.operand(to, wide);
  const Ref index = l->cast(counted(l, 0, steps, 1), wide);
  const Ref back = l.op("Sub", {l.operand(Arg(steps - 1), wide), index});
  const Ref by = l.op("Div", {l.op("Sub", {last, first}), l.operand(Arg(max(steps - 1, Dim(1))), wide)});
  const Ref front_half = l.op("Add", {first, l.op("Mul", {by, index})});
  const Ref back_half = l.op("Sub", {last, l.op("Mul", {by, back})});
  return l->cast(l.op("Where", {at_most(l, index, back), front_half, back_half}), dtype);
}

Arg linspace(Lowering& l, const Args& a) { return spread(l, a, wanted_type(a, DType::f32)); }

Arg logspace(Lowering& l, const Args& a) {
  const DType dtype = wanted_type(a, DType::f32);
  const Ref exponents = spread(l, a, DType::f64);
  return l->cast(l.op("Pow", {l->number(a.f("base", 10), DType::f64), exponents}), dtype);
}

Arg eye(Lowering& l, const Args& a) {
  const Dim rows = a.dim("n"), columns = a.has("m") ? a.dim("m") : rows;
  const Ref down = l->unsqueeze(counted(l, 0, rows, 1), {1}), across = counted(l, 0, columns, 1);
  return l->cast(l.op("Equal", {down, across}), wanted_type(a, DType::f32));
}

template <bool Upper>
Arg triangle_indices(Lowering& l, const Args& a) {
  const int64_t rows = a.i("row"), columns = a.i("col"), offset = a.i("offset");
  std::vector<int64_t> across, all;
  if (rows < 0 || columns < 0 || rows * columns > (1 << 22)) {
    l->refuse("aten.arguments", "the indices of a triangle of {} x {} are too many", rows, columns);
    return {};
  }
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      if (Upper ? c - r >= offset : c - r <= offset) {
        all.push_back(r);
        across.push_back(c);
      }
  const int64_t count = static_cast<int64_t>(across.size());
  all.insert(all.end(), across.begin(), across.end());
  return l->cast(l->constant(Tensor::of_ints({2, count}, all)), wanted_type(a, DType::i64));
}

constexpr AtenOp kCreateOps[] = {
    {"_make_dep_token", constant_of<0>},
    {"arange", arange},
    {.name = "as_tensor", .lower = as_tensor, .put = put_whole, .shares = same_value_create},
    {"empty", constant_of<0>},
    {"empty_like", constant_like<0>},
    {"empty_permuted", constant_of<0>},
    {"empty_strided", constant_of<0>},
    {"eye", eye},
    {"full", full},
    {"full_like", full_like},
    {"linspace", linspace},
    {"logspace", logspace},
    {"new_empty", new_constant<0>},
    {"new_empty_strided", new_constant<0>},
    {"new_full", new_full},
    {"new_ones", new_constant<1>},
    {"new_zeros", new_constant<0>},
    {"ones", constant_of<1>},
    {"ones_like", constant_like<1>},
    {"scalar_tensor", scalar_tensor},
    {"tensor", tensor_of},
    {"tril_indices", triangle_indices<false>},
    {"triu_indices", triangle_indices<true>},
    {"zero", constant_like<0>},
    {"zeros", constant_of<0>},
    {"zeros_like", constant_like<0>},
};

}  // namespace

std::span<const AtenOp> create_ops() { return kCreateOps; }

}  // namespace anyshape::lower
