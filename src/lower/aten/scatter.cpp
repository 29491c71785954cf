#include <algorithm>
#include <cmath>
#include <limits>

#include "lower/aten/families.h"
#include "lower/aten/move.h"
#include "tensor/real.h"

namespace anyshape::lower {
namespace {

// One number of a type.
Tensor one_number(DType dtype, double value) {
  auto tensor = Tensor::allocate(dtype, {});
  if (!tensor) return {};
  if (is_float(dtype))
    set_real(*tensor, 0, value);
  else
    tensor->set_int(0, static_cast<int64_t>(value));
  return *std::move(tensor);
}

// A value in every place of `dims`.
Ref spread(Lowering& l, Ref value, const Dims& dims) {
  if (const Tensor* known = l->tensor(value); known && known->count() == 1) return l->full(dims, *known);
  return l->expand(value, dims);
}

// The entries of `source` that an index of these sizes reads.
Ref fitted(Lowering& l, Ref source, const Dims& dims) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (!l->same(l->dim(source, i), dims[i])) source = l->slice(source, static_cast<int64_t>(i), 0, dims[i]);
  return source;
}

Arg gather(Lowering& l, const Args& a) {
  const Ref x = a.self(), index = a.tensor("index");
  const Ref out =
      l.op("GatherElements", {at_least_1d(l, x), at_least_1d(l, index)}, {attr("axis", l.axis(x, a.i("dim")))});
  return l->rank(index) == 0 ? l->squeeze(out, {0}) : out;
}

Arg take_along_dim(Lowering& l, const Args& a) {
  Ref x = a.self(), index = a.tensor("indices");
  if (!a.has("dim")) {
    x = l->reshape(x, {product(l->dims(x))});
    return l.op("GatherElements", {x, l->reshape(index, {product(l->dims(index))})}, {attr("axis", 0)});
  }
  const auto axis = static_cast<size_t>(l.axis(x, a.i("dim")));
  Dims of_x = l->dims(x), of_index = l->dims(index);
  if (of_x.size() != of_index.size() && !l->failed())
    l->refuse("aten.rank", "take_along_dim of {} axes with {}", of_x.size(), of_index.size());
  if (l->failed()) return {};
  for (size_t i = 0; i < of_x.size(); ++i) {
    if (i == axis) continue;
    if (of_x[i] == Dim(1)) of_x[i] = of_index[i];
    of_index[i] = of_x[i];
  }
  return l.op("GatherElements", {l->expand(x, of_x), l->expand(index, of_index)},
              {attr("axis", static_cast<int64_t>(axis))});
}

struct Reduction {
  std::string_view onnx;  // "" for plain assignment
  int64_t since = 11;
  double nothing = 0;  // what changes no result
};

std::optional<Reduction> reduction(Lowering& l, std::string_view name) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  Reduction out;
  if (name.empty()) return out;
  if (name == "add" || name == "sum" || name == "mean")
    out = {"add", 16, 0};
  else if (name == "multiply" || name == "prod")
    out = {"mul", 16, 1};
  else if (name == "amax")
    out = {"max", 18, -kInf};
  else if (name == "amin")
    out = {"min", 18, kInf};
  else
    l->refuse("aten.arguments", "scattering with the reduction {:?}", name);
  if (!l->failed() && l->opset() < out.since)
    l->refuse(kOpsetCode, "scattering with the reduction {:?} needs opset {} or later", name, out.since);
  return l->failed() ? std::nullopt : std::optional(out);
}

Ref nothing_of(Lowering& l, const Reduction& by, DType dtype) {
  if (is_float(dtype) || std::isfinite(by.nothing)) return l->constant(one_number(dtype, by.nothing));
  const int bits_used = static_cast<int>(bits(dtype));
  const bool least = by.nothing < 0, is_signed = is_signed_integer(dtype);
  if (dtype == DType::boolean) return l->integer(least ? 0 : 1, dtype);
  if (!is_signed) return l->integer(least ? 0 : (bits_used == 64 ? -1 : (int64_t{1} << bits_used) - 1), dtype);
  const int64_t most = bits_used == 64 ? INT64_MAX : (int64_t{1} << (bits_used - 1)) - 1;
  return l->integer(least ? -most - 1 : most, dtype);
}

Ref scatter_into(Lowering& l, Ref x, Ref index, Ref updates, int64_t axis, const Reduction& by) {
  std::vector<Attribute> attributes{attr("axis", axis)};
  if (!by.onnx.empty()) attributes.push_back(attr("reduction", by.onnx));
  return l.op("ScatterElements", {x, index, updates}, std::move(attributes));
}

// The sums of a scatter divided by how many entries each is made of.
Ref averaged(Lowering& l, Ref sums, Ref index, int64_t axis, bool include_self, const Reduction& by) {
  const DType dtype = l->dtype(sums);
  const Ref one = l->integer(1, dtype), none = l->integer(0, dtype);
  Ref counts = spread(l, one, l->dims(sums));
  if (!include_self) counts = scatter_into(l, counts, index, spread(l, none, l->dims(index)), axis, {});
  counts = scatter_into(l, counts, index, spread(l, one, l->dims(index)), axis, by);
  const Ref quotient = l.op("Div", {sums, counts});
  if (is_float(dtype)) return quotient;
  const Ref rest = l.op("Mod", {sums, counts});
  return l.op("Div", {l.op("Sub", {sums, rest}), counts});
}

Ref scattered_scatter(Lowering& l, const Args& a, std::string_view how, bool include_self) {
  const Ref self = a.self();
  const auto by = reduction(l, how);
  if (!by) return {};
  const DType dtype = l->dtype(self);
  const int64_t axis = l.axis(self, a.i("dim"));
  const Ref index = at_least_1d(l, a.tensor("index"));
  Ref x = at_least_1d(l, self);
  const bool one_value = a.has("value");
  const Ref source = one_value ? l.operand(a.arg("value"), dtype) : at_least_1d(l, l->cast(a.tensor("src"), dtype));
  if (l->failed()) return {};
  const Ref updates = one_value ? spread(l, source, l->dims(index)) : fitted(l, source, l->dims(index));
  if (!include_self) x = scatter_into(l, x, index, spread(l, nothing_of(l, *by, dtype), l->dims(index)), axis, {});
  Ref out = scatter_into(l, x, index, updates, axis, *by);
  if (how == "mean") out = averaged(l, out, index, axis, include_self, *by);
  return l->rank(self) == 0 ? l->squeeze(out, {0}) : out;
}

Arg scatter(Lowering& l, const Args& a) { return scattered_scatter(l, a, a.s("reduce"), true); }
Arg scatter_add(Lowering& l, const Args& a) { return scattered_scatter(l, a, "add", true); }
Arg scatter_reduce(Lowering& l, const Args& a) {
  return scattered_scatter(l, a, a.s("reduce"), a.flag("include_self", true));
}

// How often each number from 0 on occurs, or the sum of its weights.
Arg bincount(Lowering& l, const Args& a) {
  const Ref x = l->cast(a.self(), DType::i64), weights = a.tensor("weights");
  if (!l.need_rank(x, 1, 1)) return {};
  const auto by = reduction(l, "add");
  if (!by) return {};
  const Ref least = l->ints({a.i("minlength", 0) - 1});
  const Ref count = l.op("Add", {l.reduce("ReduceMax", l->concat({x, least}, 0), {0}, false), l->number(1)});
  const DType dtype = !weights ? DType::i64 : l->dtype(weights) == DType::f32 ? DType::f32 : DType::f64;
  const Ref nothing = spread(l, l->integer(0, dtype), {l.item(count)});
  const Ref added = weights ? l->cast(weights, dtype) : spread(l, l->integer(1, dtype), l->dims(x));
  return scatter_into(l, nothing, x, added, 0, *by);
}

Arg index_select(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Ref out = l->gather(at_least_1d(l, x), at_least_1d(l, a.tensor("index")), l.axis(x, a.i("dim")));
  return l->rank(x) == 0 ? l->squeeze(out, {0}) : out;
}

// Whole slices along an axis written at the places of an index.
Ref put_slices(Lowering& l, const Args& a, Ref source, std::string_view how) {
  const Ref self = a.self();
  const auto by = reduction(l, how);
  if (!by) return {};
  const int64_t axis = l.axis(self, a.i("dim"));
  const Ref x = at_least_1d(l, self), index = at_least_1d(l, a.tensor("index"));
  std::vector<Attribute> attributes;
  if (!by->onnx.empty()) attributes.push_back(attr("reduction", by->onnx));
  const Ref turned = axis_to_front(l, x, axis);
  if (l->failed()) return {};
  Ref updates;
  if (l->rank(source) == 0 && l->rank(self) > 0) {
    Dims to = l->dims(turned);
    to[0] = l->dim(index, 0);
    updates = spread(l, source, to);
  } else {
    updates = axis_to_front(l, at_least_1d(l, source), axis);
  }
  const Ref places = l->unsqueeze(l->cast(index, DType::i64), {1});
  const Ref out = axis_from_front(l, l.op("ScatterND", {turned, places, updates}, std::move(attributes)), axis);
  return l->rank(self) == 0 ? l->squeeze(out, {0}) : out;
}

Arg index_add(Lowering& l, const Args& a) {
  Ref source = l->cast(a.tensor("source"), l->dtype(a.self()));
  if (a.has("alpha") && a.f("alpha", 1) != 1)
    source = l.op("Mul", {source, l.operand(a.arg("alpha"), l->dtype(source))});
  return put_slices(l, a, source, "add");
}

Arg index_copy(Lowering& l, const Args& a) {
  return put_slices(l, a, l->cast(a.tensor("source"), l->dtype(a.self())), "");
}

Arg index_fill(Lowering& l, const Args& a) {
  return put_slices(l, a, l.operand(a.arg("value"), l->dtype(a.self())), "");
}

Arg take(Lowering& l, const Args& a) {
  const Ref x = a.self();
  return l->gather(l->reshape(x, {product(l->dims(x))}), a.tensor("index"), 0);
}

Arg put(Lowering& l, const Args& a) {
  const Ref x = a.self(), index = a.tensor("index"), source = l->cast(a.tensor("source"), l->dtype(x));
  const auto by = reduction(l, a.flag("accumulate") ? "add" : "");
  if (!by) return {};
  const Dim count = product(l->dims(index));
  const Ref flat = scatter_into(l, l->reshape(x, {product(l->dims(x))}), l->reshape(index, {count}),
                                l->reshape(source, {count}), 0, *by);
  return l->reshape(flat, l->dims(x));
}

Ref without_leading_ones(Lowering& l, Ref x, size_t rank) {
  while (l->rank(x) > rank && l->dim(x, 0) == Dim(1)) x = l->squeeze(x, {0});
  return x;
}

Arg copy(Lowering& l, const Args& a) {
  const Ref self = a.self(), source = a.has("src") ? a.tensor("src") : a.tensor("other");
  return l->expand(without_leading_ones(l, l->cast(source, l->dtype(self)), l->rank(self)), l->dims(self));
}

Arg fill(Lowering& l, const Args& a) {
  const Ref self = a.self();
  return spread(l, l.operand(a.arg("value"), l->dtype(self)), l->dims(self));
}

constexpr AtenOp kScatterOps[] = {
    {"bincount", bincount},
    {"copy", copy},
    {"fill", fill},
    {"gather", gather},
    {"index_add", index_add},
    {"index_copy", index_copy},
    {"index_fill", index_fill},
    {"index_select", index_select},
    {"put", put},
    {"scatter", scatter},
    {"scatter_add", scatter_add},
    {"scatter_reduce", scatter_reduce},
    {"take", take},
    {"take_along_dim", take_along_dim},
};

}  // namespace

std::span<const AtenOp> scatter_ops() { return kScatterOps; }

}  // namespace anyshape::lower
