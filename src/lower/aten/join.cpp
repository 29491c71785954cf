#include <algorithm>

#include "lower/aten/families.h"
#include "lower/aten/move.h"

namespace anyshape::lower {
namespace {

// What PyTorch leaves out of a concatenation: tensors of shape [0].
bool is_nothing_join(Lowering& l, Ref x) { return l->rank(x) == 1 && l->dim(x, 0) == Dim(0); }

Arg cat(Lowering& l, const Args& a) {
  Refs parts = of_one_type(l, a.tensors("tensors"));
  if (parts.empty()) {
    l->refuse("aten.arguments", "a concatenation of no tensors");
    return {};
  }
  const Ref first = parts[0];
  const bool some_larger = std::any_of(parts.begin(), parts.end(), [&](Ref x) { return l->rank(x) > 1; });
  if (some_larger || std::any_of(parts.begin(), parts.end(), [&](Ref x) { return !is_nothing_join(l, x); }))
    std::erase_if(parts, [&](Ref x) { return is_nothing_join(l, x); });
  if (parts.empty()) return first;
  return l->concat(parts, l.axis(parts[0], a.i("dim", 0)));
}

Arg stack(Lowering& l, const Args& a) { return stacked(l, of_one_type(l, a.tensors("tensors")), a.i("dim", 0)); }

Refs at_least(Lowering& l, const Refs& parts, size_t rank);

// A new axis in front for 2, one behind as well for 3.
Ref at_least(Lowering& l, Ref x, size_t rank) {
  x = at_least_1d(l, x);
  if (rank >= 2 && l->rank(x) == 1) x = l->unsqueeze(x, {0});
  if (rank >= 3 && l->rank(x) == 2) x = l->unsqueeze(x, {2});
  return x;
}

Refs at_least(Lowering& l, const Refs& parts, size_t rank) {
  Refs out;
  for (Ref x : parts) out.push_back(at_least(l, x, rank));
  return out;
}

template <size_t Rank>
Arg atleast(Lowering& l, const Args& a) {
  if (a.has("tensors")) return at_least(l, a.tensors("tensors"), Rank);
  return at_least(l, a.self(), Rank);
}

Arg hstack(Lowering& l, const Args& a) {
  const Refs parts = at_least(l, of_one_type(l, a.tensors("tensors")), 1);
  if (parts.empty()) return {};
  return l->concat(parts, l->rank(parts[0]) == 1 ? 0 : 1);
}

Arg vstack(Lowering& l, const Args& a) { return l->concat(at_least(l, of_one_type(l, a.tensors("tensors")), 2), 0); }

Arg dstack(Lowering& l, const Args& a) { return l->concat(at_least(l, of_one_type(l, a.tensors("tensors")), 3), 2); }

Arg column_stack(Lowering& l, const Args& a) {
  Refs parts = of_one_type(l, a.tensors("tensors"));
  for (Ref& x : parts)
    if (l->rank(x) <= 1) x = l->unsqueeze(at_least_1d(l, x), {1});
  return l->concat(parts, 1);
}

// Axes of size 1 are expanded, others tiled.
Ref repeated(Lowering& l, Ref x, Dims repeats) {
  const size_t rank = std::max(repeats.size(), l->rank(x));
  repeats.insert(repeats.begin(), rank - repeats.size(), Dim(1));
  x = with_rank(l, x, rank);
  if (l->failed()) return {};
  Dims from = l->dims(x), to = from;
  bool only_ones = true, nothing = true;
  for (size_t i = 0; i < rank; ++i) {
    to[i] = from[i] * repeats[i];
    nothing &= repeats[i] == Dim(1);
    only_ones &= repeats[i] == Dim(1) || from[i] == Dim(1);
  }
  if (nothing) return x;
  if (only_ones) return l->expand(x, std::move(to));
  return l.op("Tile", {x, l->shape(repeats)});
}

Arg repeat(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Dims repeats = a.dims("repeats");
  if (repeats.size() < l->rank(x)) {
    l->refuse("aten.arguments", "repeat of {} axes names {} numbers", l->rank(x), repeats.size());
    return {};
  }
  return repeated(l, x, repeats);
}

Arg tile(Lowering& l, const Args& a) { return repeated(l, a.self(), a.dims("dims")); }

// Each entry `count` times.
Ref interleaved(Lowering& l, Ref x, int64_t axis, Dim count) {
  Dims to = l->dims(x);
  const auto at = static_cast<size_t>(axis);
  to[at] = to[at] * count;
  Dims repeats(to.size() + 1, Dim(1));
  repeats[at + 1] = count;
  return l->reshape(repeated(l, l->unsqueeze(x, {axis + 1}), std::move(repeats)), std::move(to));
}

// The index that takes entry i repeats[i] times.
Ref repetitions(Lowering& l, Ref repeats, std::optional<Dim> size) {
  repeats = l->cast(repeats, DType::i64);
  if (const Tensor* known = l->tensor(repeats); known && known->rank() == 1) {
    std::vector<int64_t> index;
    for (int64_t i = 0; i < known->count(); ++i)
      index.insert(index.end(), static_cast<size_t>(std::clamp<int64_t>(known->int_at(i), 0, 1 << 20)), i);
    return l->ints(std::move(index));
  }
  const Ref most = l.reduce("ReduceMax", repeats, {0}, false);
  const Ref place = l.op("Range", {l->number(int64_t{0}), most, l->number(int64_t{1})});
  const Ref taken = l.op("Less", {place, l->unsqueeze(repeats, {1})});
  const Ref rows = l.op("Gather", {l.op("NonZero", {taken}), l->number(int64_t{0})}, {attr("axis", 0)});
  return size ? l->reshape(rows, {*size}) : rows;
}

Arg repeat_interleave(Lowering& l, const Args& a) {
  const bool only_repeats = a.schema().overload == "Tensor";
  const auto size = a.has("output_size") ? std::optional(a.dim("output_size")) : std::nullopt;
  if (only_repeats) return repetitions(l, a.tensor("repeats"), size);
  Ref x = a.self();
  if (!a.has("dim")) x = l->reshape(x, {product(l->dims(x))});
  const int64_t axis = l.axis(x, a.i("dim", 0));
  if (l->failed()) return {};
  if (!a.is_tensor("repeats")) return interleaved(l, x, axis, a.dim("repeats"));
  const Ref repeats = at_least_1d(l, a.tensor("repeats"));
  if (const auto single = l->fact(repeats).single(); single && l->same(l->dim(repeats, 0), 1))
    return interleaved(l, x, axis, *single);
  const Ref each = l->expand(repeats, {l->dim(x, static_cast<size_t>(axis))});
  return l->gather(x, repetitions(l, each, size), axis);
}

// Two parts change places. A shift of at most two entries needs no look at the size: on a shorter axis both parts come
// out right.
Ref rolled(Lowering& l, Ref x, int64_t axis, Dim shift) {
  const Dim size = l->dim(x, static_cast<size_t>(axis));
  if (size == Dim(0) || shift == Dim(0)) return x;
  const auto number = shift.constant();
  const bool within = number && (std::abs(*number) <= 2 || l->proves(Condition::ge(size, Dim(std::abs(*number)))));
  if (size.is_constant() && number)
    shift = (*number % *size.constant() + *size.constant()) % *size.constant();
  else if (!within)
    shift = mod(shift, size);
  if (shift == Dim(0)) return x;
  // A shift to the left by n is one to the right by size - n.
  const Dim at = l->assumptions().simplify(-shift);
  const Ref tail = l->slice(x, axis, at, INT64_MAX), head = l->slice(x, axis, 0, at);
  return l->concat({tail, head}, axis);
}

Arg roll(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Dims shifts = a.dims("shifts");
  const std::vector<int64_t> axes = a.ints("dims");
  if (axes.empty() && shifts.size() == 1) {
    const Ref flat = l->reshape(x, {product(l->dims(x))});
    return l->reshape(rolled(l, flat, 0, shifts[0]), l->dims(x));
  }
  if (axes.size() != shifts.size()) {
    l->refuse("aten.arguments", "roll by {} shifts along {} axes", shifts.size(), axes.size());
    return {};
  }
  Ref out = x;
  for (size_t i = 0; i < axes.size(); ++i) out = rolled(l, out, l.axis(x, axes[i]), shifts[i]);
  return out;
}

Ref flipped(Lowering& l, Ref x, const std::vector<int64_t>& axes) {
  if (axes.empty()) return x;
  const size_t n = axes.size();
  return l.op("Slice", {x, l->ints(std::vector<int64_t>(n, -1)), l->ints(std::vector<int64_t>(n, INT64_MIN)),
                        l->ints(axes), l->ints(std::vector<int64_t>(n, -1))});
}

Arg flip(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const std::vector<int64_t> axes = a.ints("dims");
  if (axes.empty() || l->rank(x) == 0) return x;
  return flipped(l, x, l.axes(x, axes));
}

template <int64_t Axis>
Arg flip_axis(Lowering& l, const Args& a) {
  if (!l.need_rank(a.self(), Axis + 1, 64)) return {};
  return flipped(l, a.self(), {Axis});
}

Arg rot90(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const std::vector<int64_t> dims = a.ints("dims");
  if (!l.need_rank(x, 2, 64) || dims.size() != 2) return {};
  const int64_t turns = ((a.i("k", 1) % 4) + 4) % 4, d0 = l.axis(x, dims[0]), d1 = l.axis(x, dims[1]);
  std::vector<int64_t> order = all_axes(l->rank(x));
  std::swap(order[static_cast<size_t>(d0)], order[static_cast<size_t>(d1)]);
  if (turns == 1) return l->transpose(flipped(l, x, {d1}), order);
  if (turns == 2) return flipped(l, x, {d0, d1});
  return turns == 3 ? l->transpose(flipped(l, x, {d0}), order) : x;
}

Refs grid(Lowering& l, Refs parts, bool swapped) {
  if (swapped && parts.size() > 1) std::swap(parts[0], parts[1]);
  Dims to;
  for (Ref& x : parts) {
    x = at_least_1d(l, x);
    to.push_back(l->dim(x, 0));
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    std::vector<int64_t> ones;
    for (size_t k = 0; k < parts.size(); ++k)
      if (k != i) ones.push_back(static_cast<int64_t>(k));
    parts[i] = l->expand(l->unsqueeze(parts[i], ones), to);
  }
  if (swapped && parts.size() > 1) std::swap(parts[0], parts[1]);
  return parts;
}

Arg meshgrid(Lowering& l, const Args& a) { return grid(l, a.tensors("tensors"), a.s("indexing", "ij") == "xy"); }

Arg cartesian_prod(Lowering& l, const Args& a) {
  const Refs parts = of_one_type(l, a.tensors("tensors"));
  if (parts.size() == 1) return parts[0];
  Refs columns = grid(l, parts, false);
  if (columns.empty() || l->failed()) return {};
  const Dim count = product(l->dims(columns[0]));
  for (Ref& x : columns) x = l->reshape(x, {count});
  return stacked(l, columns, 1);
}

Arg combinations(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const auto size = l->dim(x, 0).constant();
  const int64_t r = a.i("r", 2);
  const bool again = a.flag("with_replacement");
  if (!l.need_rank(x, 1, 1)) return {};
  if (!size || r < 0 || *size > 256 || r > 4) {
    l->refuse("aten.symbolic", "combinations of {} entries taken {} at a time", print(l->dim(x, 0)), r);
    return {};
  }
  if (r == 0) return l->slice(x, 0, 0, 0);
  std::vector<int64_t> index, at(static_cast<size_t>(r), 0);
  int64_t rows = 0;
  const auto visit = [&](const auto& self, size_t k, int64_t from) -> void {
    if (k == at.size()) {
      index.insert(index.end(), at.begin(), at.end());
      ++rows;
      return;
    }
    for (int64_t i = from; i < *size; ++i) {
      at[k] = i;
      self(self, k + 1, again ? i : i + 1);
    }
  };
  visit(visit, 0, 0);
  return l->gather(x, l->constant(Tensor::of_ints({rows, r}, index)), 0);
}

Arg block_diag(Lowering& l, const Args& a) {
  const Refs parts = at_least(l, of_one_type(l, a.tensors("tensors")), 2);
  Dim columns = 0, left = 0;
  for (Ref x : parts) columns = columns + l->dim(x, 1);
  Refs rows;
  for (Ref x : parts) {
    const Dim right = columns - left - l->dim(x, 1);
    const bool whole = left == Dim(0) && right == Dim(0);
    rows.push_back(whole ? x : l->pad(x, {0, left, 0, right}, {}));
    left = left + l->dim(x, 1);
  }
  return l->concat(rows, 0);
}

constexpr AtenOp kJoinOps[] = {
    {"atleast_1d", atleast<1>},
    {"atleast_2d", atleast<2>},
    {"atleast_3d", atleast<3>},
    {"block_diag", block_diag},
    {"cartesian_prod", cartesian_prod},
    {"cat", cat},
    {"column_stack", column_stack},
    {"combinations", combinations},
    {"concat", cat},
    {"concatenate", cat},
    {"dstack", dstack},
    {"flip", flip},
    {"fliplr", flip_axis<1>},
    {"flipud", flip_axis<0>},
    {"hstack", hstack},
    {"meshgrid", meshgrid},
    {"repeat", repeat},
    {"repeat_interleave", repeat_interleave},
    {"roll", roll},
    {"rot90", rot90},
    {"row_stack", vstack},
    {"stack", stack},
    {"tile", tile},
    {"vstack", vstack},
};

}  // namespace

Ref iota(Lowering& l, Dim n) {
  if (const auto count = n.constant()) return l->ints(all_axes(static_cast<size_t>(std::max<int64_t>(*count, 0))));
  return l.op("Range", {l->number(int64_t{0}), l->scalar(n), l->number(int64_t{1})});
}

Ref axis_to_front(Lowering& l, Ref x, int64_t axis) {
  std::vector<int64_t> order = all_axes(l->rank(x));
  if (static_cast<size_t>(axis) >= order.size()) return x;
  std::rotate(order.begin(), order.begin() + axis, order.begin() + axis + 1);
  return l->transpose(x, std::move(order));
}

Ref axis_from_front(Lowering& l, Ref x, int64_t axis) {
  std::vector<int64_t> order = all_axes(l->rank(x));
  if (static_cast<size_t>(axis) >= order.size()) return x;
  std::rotate(order.begin(), order.begin() + axis, order.begin() + axis + 1);
  return l->transpose(x, inverse(order));
}

Ref at_least_1d(Lowering& l, Ref x) { return l->rank(x) == 0 && !l->failed() ? l->unsqueeze(x, {0}) : x; }

Ref with_rank(Lowering& l, Ref x, size_t rank) {
  const size_t has = l->rank(x);
  return has < rank ? l->unsqueeze(x, all_axes(rank - has)) : x;
}

Refs of_one_type(Lowering& l, const Refs& parts) {
  std::vector<Arg> args(parts.begin(), parts.end());
  std::vector<const Arg*> all;
  for (const Arg& arg : args) all.push_back(&arg);
  const DType dtype = l.common_type(all);
  Refs out;
  for (Ref x : parts) out.push_back(l->cast(x, dtype));
  return out;
}

Ref stacked(Lowering& l, const Refs& parts, int64_t axis) {
  if (parts.empty()) return {};
  const int64_t count = static_cast<int64_t>(l->rank(parts[0])) + 1;
  if (axis < -count || axis >= count) {
    if (!l->failed()) l->refuse("aten.axis", "a stack along axis {} of tensors with {} axes", axis, count - 1);
    return {};
  }
  if (axis < 0) axis += count;
  Refs rows;
  for (Ref x : parts) rows.push_back(l->unsqueeze(x, {axis}));
  return l->concat(rows, axis);
}

std::span<const AtenOp> join_ops() { return kJoinOps; }

}  // namespace anyshape::lower
