#include <limits>

#include "lower/aten/families.h"
#include "lower/aten/numeric.h"

namespace anyshape::lower {
namespace {

Ref flat(Lowering& l, Ref x) { return l->reshape(x, {product(l->dims(x))}); }

std::pair<Ref, Ref> sorted(Lowering& l, Ref x, int64_t dim, bool descending) {
  if (l->rank(x) == 0) return {x, l->number(int64_t{0})};
  const int64_t axis = l.axis(x, dim);
  return l.topk(x, l->dim(x, static_cast<size_t>(axis)), axis, descending, true);
}

Arg sort(Lowering& l, const Args& a) {
  const auto [values, indices] = sorted(l, a.self(), a.i("dim", -1), a.flag("descending"));
  return Refs{values, indices};
}

Arg argsort(Lowering& l, const Args& a) { return sorted(l, a.self(), a.i("dim", -1), a.flag("descending")).second; }

Arg msort(Lowering& l, const Args& a) { return sorted(l, a.self(), 0, false).first; }

Arg topk(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (l->rank(x) == 0) return Refs{x, l->number(int64_t{0})};
  const int64_t axis = l.axis(x, a.i("dim", -1));
  const auto [values, indices] = l.topk(x, a.dim("k"), axis, a.flag("largest", true), a.flag("sorted", true));
  return Refs{values, indices};
}

// The k-th smallest along an axis, and where it is.
Refs smallest(Lowering& l, Ref x, Dim k, int64_t axis, bool keepdim) {
  if (l->rank(x) == 0) return {x, l->number(int64_t{0})};
  const auto [values, indices] = l.topk(x, k, axis, false, true);
  const Ref last = keepdim ? l->ints({-1}) : l->number(int64_t{-1});
  return {l->gather(values, last, axis), l->gather(indices, last, axis)};
}

Arg kthvalue(Lowering& l, const Args& a) {
  const Ref x = a.self();
  return smallest(l, x, a.dim("k"), l.axis(x, a.i("dim", -1)), a.flag("keepdim"));
}

Dim middle(Lowering& l, Ref x, int64_t axis) { return floordiv(l->dim(x, static_cast<size_t>(axis)) + 1, 2); }

Arg median(Lowering& l, const Args& a) {
  const Ref x = flat(l, a.self());
  return smallest(l, x, middle(l, x, 0), 0, false)[0];
}

Arg median_along(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const int64_t axis = l.axis(x, a.i("dim"));
  return smallest(l, x, middle(l, x, axis), axis, a.flag("keepdim"));
}

std::vector<int64_t> swapped(size_t rank, size_t a, size_t b) {
  std::vector<int64_t> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = static_cast<int64_t>(i);
  if (rank > 0) std::swap(order[a], order[b]);
  return order;
}

// The smallest of the most frequent values, and its last place. Every entry is compared with every other.
Arg mode(Lowering& l, const Args& a) {
  const Ref given = a.self();
  if (l->rank(given) == 0) return Refs{given, l->number(int64_t{0})};
  const size_t axis = static_cast<size_t>(l.axis(given, a.i("dim", -1)));
  const auto order = swapped(l->rank(given), axis, l->rank(given) - 1);
  const Ref x = l->transpose(given, order);
  const Ref same = l.op("Equal", {l->unsqueeze(x, {-1}), l->unsqueeze(x, {-2})});
  const Ref votes = l.reduce("ReduceSum", l->cast(same, DType::i32), {-1}, false);
  const Ref winning = l.op("Equal", {votes, l.reduce("ReduceMax", votes, {-1}, true)});
  const Ref others = l.reduce("ReduceMax", x, {-1}, true);
  const Ref value = l.reduce("ReduceMin", choose(l, winning, x, others), {-1}, true);
  const Ref places = l.op("Range", {l->number(int64_t{0}), l->scalar(l->dim(given, axis)), l->number(int64_t{1})});
  const Ref here = l.op("Where", {l.op("Equal", {x, value}), places, l->number(int64_t{-1})});
  Refs out{l->transpose(value, order), l->transpose(l.reduce("ReduceMax", here, {-1}, true), order)};
  if (a.flag("keepdim")) return out;
  for (Ref& one : out) one = l->squeeze(one, {static_cast<int64_t>(axis)});
  return out;
}

// Between the entries at floor and ceil of q (n - 1) of the sorted axis.
Arg quantile(Lowering& l, const Args& a) {
  const bool whole = !a.has("dim");
  const Ref given = whole ? flat(l, a.self()) : a.self();
  if (!l.need_rank(given, 1, 64)) return {};
  const size_t axis = whole ? 0 : static_cast<size_t>(l.axis(given, a.i("dim")));
  const DType dtype = l->dtype(given);
  const Ref q = l.operand(a.arg("q"), dtype);
  const Ref ordered =
      l->transpose(sorted(l, given, static_cast<int64_t>(axis), false).first, swapped(l->rank(given), axis, 0));
  const Ref place = l.op("Mul", {q, l.operand(Arg(l->dim(given, axis) - 1), dtype)});
  const std::string how = a.s("interpolation", "linear");
  const auto at = [&](Ref where) { return l->gather(ordered, l->cast(where, DType::i64), 0); };
  Ref out;
  if (how == "nearest") {
    out = at(l.op("Round", {place}));
  } else if (how == "lower" || how == "higher") {
    out = at(l.op(how == "lower" ? "Floor" : "Ceil", {place}));
  } else {
    const Ref below = l.op("Floor", {place});
    std::vector<int64_t> behind;
    for (size_t i = 1; i < l->rank(given); ++i) behind.push_back(static_cast<int64_t>(l->rank(q) + i - 1));
    const Ref weight = how == "midpoint" ? like(l, place, 0.5) : l->unsqueeze(l.op("Sub", {place, below}), behind);
    const Ref lo = at(below), hi = at(l.op("Ceil", {place}));
    out = l.op("Add", {lo, l.op("Mul", {l.op("Sub", {hi, lo}), weight})});
  }
  // The axes behind q's are the given ones without `axis`; what stood first stands where `axis` was.
  const size_t lead = l->rank(q), rest = l->rank(given) - 1;
  if (axis > 1 && rest > 1) {
    std::vector<int64_t> order;
    for (size_t i = 0; i < lead; ++i) order.push_back(static_cast<int64_t>(i));
    order.push_back(static_cast<int64_t>(lead + axis - 1));
    for (size_t i = 0; i < rest; ++i)
      if (i != axis - 1) order.push_back(static_cast<int64_t>(lead + i));
    out = l->transpose(out, order);
  }
  if (!a.flag("keepdim")) return out;
  if (!whole) return l->unsqueeze(out, {static_cast<int64_t>(lead + axis)});
  std::vector<int64_t> ones;
  for (size_t i = 0; i < l->rank(a.self()); ++i) ones.push_back(static_cast<int64_t>(lead + i));
  return l->unsqueeze(out, ones);
}

// How many entries of the sorted last axis lie before each value.
Ref places_in(Lowering& l, const Args& a, Ref sequence, Ref values) {
  const bool right = a.flag("right") || a.s("side") == "right";
  const Ref bounds = l->rank(sequence) > 1 ? l->unsqueeze(sequence, {-2}) : sequence;
  const Ref wanted = l->unsqueeze(values, {-1});
  const Ref before = right ? at_most(l, bounds, wanted) : less(l, bounds, wanted);
  const DType dtype = a.flag("out_int32") ? DType::i32 : DType::i64;
  return l.reduce("ReduceSum", l->cast(before, dtype), {-1}, false);
}

Arg searchsorted(Lowering& l, const Args& a) {
  const auto [given, values] = l.promoted(a, "sorted_sequence", "self");
  Ref sequence = given;
  if (const Ref sorter = a.tensor("sorter"))
    sequence = l.op("GatherElements", {sequence, sorter}, {attr("axis", static_cast<int64_t>(l->rank(sequence)) - 1)});
  return places_in(l, a, sequence, values);
}

Arg bucketize(Lowering& l, const Args& a) {
  const auto [values, bounds] = l.promoted(a, "self", "boundaries");
  return places_in(l, a, bounds, values);
}

Refs distinct(Lowering& l, Ref x, std::vector<Attribute> attributes) {
  const DType given = l->dtype(x);
  const bool narrow = is_integer(given) || given == DType::boolean;
  attributes.push_back(attr("sorted", 1));
  Refs out = l->emit("Unique", {l->cast(x, narrow ? DType::i64 : given)}, std::move(attributes), 4);
  out[0] = l->cast(out[0], given);
  return out;
}

Arg unique(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Refs out = distinct(l, x, {});
  return Refs{out[0], l->reshape(out[2], l->dims(x)), out[3]};
}

Arg unique_along(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Refs out = distinct(l, x, {attr("axis", l.axis(x, a.i("dim")))});
  return Refs{out[0], out[2], out[3]};
}

constexpr AtenOp kOrderOps[] = {
    {"_unique2", unique},         {"argsort", argsort},           {"bucketize", bucketize}, {"kthvalue", kthvalue},
    {"median", median},           {"median.dim", median_along},   {"mode", mode},           {"msort", msort},
    {"quantile", quantile},       {"searchsorted", searchsorted}, {"sort", sort},           {"topk", topk},
    {"unique_dim", unique_along},
};

}  // namespace

std::span<const AtenOp> order_ops() { return kOrderOps; }

}  // namespace anyshape::lower
