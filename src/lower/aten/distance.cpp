#include "lower/aten/distance.h"

#include <cmath>

namespace anyshape::lower {
namespace {

// The differences of all rows of x and y: [..., p, r, m].
Ref differences(Lowering& l, Ref x, Ref y) {
  const int64_t at = static_cast<int64_t>(l->rank(x)) - 1;
  return l.op("Sub", {l->unsqueeze(x, {at}), l->unsqueeze(y, {static_cast<int64_t>(l->rank(y)) - 2})});
}

// |x|^2 + |y|^2 - 2xy, as PyTorch does it for many rows.
Ref euclidean_by_product(Lowering& l, Ref x, Ref y) {
  const auto squares = [&](Ref t) { return l.reduce("ReduceSum", l.op("Mul", {t, t}), {-1}, true); };
  const Ref cross = times(l, l.op("MatMul", {x, swap_last(l, y)}), -2);
  const Ref sum = l.op("Add", {l.op("Add", {squares(x), swap_last(l, squares(y))}), cross});
  return l.op("Sqrt", {l.clip(sum, l->number(0.0, l->dtype(x)), {})});
}

bool many(Dim rows) { return rows.constant().value_or(0) > 25; }

Arg cdist(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.tensor("x1")), y = l.as_float(a.tensor("x2"));
  if (!l.need_rank(x, 2, 16) || !l.need_rank(y, 2, 16)) return {};
  const double p = a.f("p", 2);
  const int64_t mode = a.i("compute_mode", 0);
  const bool large = many(l->dim(x, l->rank(x) - 2)) || many(l->dim(y, l->rank(y) - 2));
  if (p == 2 && (mode == 1 || (mode == 0 && large))) return euclidean_by_product(l, x, y);
  return length_along(l, differences(l, x, y), p, -1, false);
}

Arg pairwise_distance(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "x1", "x2");
  return pairwise(l, x, y, a.f("p", 2), a.f("eps", 1e-6), a.flag("keepdim"));
}

// Both vectors at length 1, but none divided by less than eps.
Arg cosine_similarity(Lowering& l, const Args& a) {
  auto [x, y] = l.promoted(a, "x1", "x2");
  x = l.as_float(x);
  y = l.as_float(y);
  const Ref both = l.op("Mul", {x, y});
  const int64_t axis = l.axis(both, a.i("dim", 1)), from_end = axis - static_cast<int64_t>(l->rank(both));
  const Ref least = l->number(a.f("eps", 1e-8), l->dtype(x));
  const auto unit = [&](Ref t) {
    if (static_cast<int64_t>(l->rank(t)) + from_end < 0) return t;
    const Ref length = l.reduce("ReduceL2", t, {from_end}, true);
    return l.op("Div", {t, l.op("Max", {length, least})});
  };
  return l.reduce("ReduceSum", l.op("Mul", {unit(x), unit(y)}), {axis}, false);
}

Arg refused(Lowering& l, const Args& a) {
  l->refuse("aten.missing", "aten::{} has no form in ONNX that is independent of the sizes", a.schema().name);
  return {};
}

constexpr AtenOp kDistanceOps[] = {
    {"_cdist_forward", cdist},
    {"cdist", cdist},
    {"cosine_similarity", cosine_similarity},
    {"pairwise_distance", pairwise_distance},
    {"pdist", refused},
    {"renorm", refused},
};

}  // namespace

Ref length_along(Lowering& l, Ref x, double p, int64_t axis, bool keepdims) {
  const DType dtype = l->dtype(x);
  if (p == 2) return l.reduce("ReduceL2", x, {axis}, keepdims);
  if (p == 1) return l.reduce("ReduceL1", x, {axis}, keepdims);
  const Ref size = l.op("Abs", {x});
  if (std::isinf(p)) return l.reduce(p > 0 ? "ReduceMax" : "ReduceMin", size, {axis}, keepdims);
  if (p == 0) {
    const Ref differs = l.op("Not", {l.op("Equal", {x, l->number(0.0, dtype)})});
    return l.reduce("ReduceSum", l->cast(differs, dtype), {axis}, keepdims);
  }
  const Ref sum = l.reduce("ReduceSum", l.op("Pow", {size, l->number(p, dtype)}), {axis}, keepdims);
  return l.op("Pow", {sum, l->number(1 / p, dtype)});
}

Ref pairwise(Lowering& l, Ref x, Ref y, double p, double eps, bool keepdims) {
  const Ref apart = l.op("Add", {l.op("Sub", {x, y}), l->number(eps, l->dtype(x))});
  return length_along(l, apart, p, -1, keepdims);
}

std::span<const AtenOp> distance_ops() { return kDistanceOps; }

}  // namespace anyshape::lower
