#include <algorithm>

#include "lower/aten/families.h"
#include "lower/aten/move.h"

namespace anyshape::lower {
namespace {

constexpr int64_t kEnd = INT64_MAX;

struct Range {
  int64_t axis = 0;
  Dim start = 0, end = kEnd;
  int64_t step = 1;
};

Range slice_range(Lowering& l, const Args& a, Ref x) {
  Range range{l.axis(x, a.i("dim", 0)), a.dim("start", 0), a.dim("end", kEnd), a.i("step", 1)};
  if (range.step < 1) {
    l->refuse("aten.slice", "a slice with the step {}; PyTorch allows positive ones only", range.step);
    range.step = 1;
  }
  return range;
}

// A negative start counts from the end.
Range narrow_range(Lowering& l, const Args& a, Ref x) {
  const int64_t axis = l.axis(x, a.i("dim", 0));
  const Dim start = a.is_tensor("start") ? l.item(a.tensor("start")) : a.dim("start", 0);
  const Dim stop = start + a.dim("length");
  const bool from_end = start.is_constant() && *start.constant() < 0;
  return {axis, start, from_end && stop == Dim(0) ? Dim(kEnd) : stop, 1};
}

template <Range (*Of)(Lowering&, const Args&, Ref)>
Arg take(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!l.need_rank(x, 1, 64)) return {};
  const Range range = Of(l, a, x);
  return l->slice(x, range.axis, range.start, range.end, range.step);
}

template <Range (*Of)(Lowering&, const Args&, Ref)>
Ref put(Lowering& l, const Args& a, Ref self, Ref part, size_t) {
  const Range range = Of(l, a, self);
  return put_range(l, self, part, range.axis, range.start, range.end, range.step);
}

Arg slice_scatter(Lowering& l, const Args& a) {
  const Ref x = a.self(), src = l->cast(a.tensor("src"), l->dtype(x));
  return put<slice_range>(l, a, x, src, 0);
}

Arg select(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!l.need_rank(x, 1, 64)) return {};
  return take_entry(l, x, l.axis(x, a.i("dim")), a.dim("index"));
}

Ref put_select(Lowering& l, const Args& a, Ref self, Ref part, size_t) {
  return put_entry(l, self, part, l.axis(self, a.i("dim")), a.dim("index"));
}

Arg select_scatter(Lowering& l, const Args& a) {
  const Ref x = a.self();
  return put_select(l, a, x, l->cast(a.tensor("src"), l->dtype(x)), 0);
}

Arg unbind(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!l.need_rank(x, 1, 64)) return {};
  const int64_t axis = l.axis(x, a.i("dim", 0));
  const Dim size = l->assumptions().simplify(l->dim(x, static_cast<size_t>(axis)));
  if (!size.is_constant()) {
    l->refuse("aten.symbolic", "unbind along an axis of {} entries: how many tensors that makes must be a number",
              print(size));
    return {};
  }
  Refs parts;
  for (int64_t i = 0; i < *size.constant(); ++i) parts.push_back(take_entry(l, x, axis, i));
  return parts;
}

Ref put_unbound(Lowering& l, const Args& a, Ref self, Ref part, size_t index) {
  return put_entry(l, self, part, l.axis(self, a.i("dim", 0)), Dim(index));
}

// How an axis is cut: positions 0 = first, ..., last = size.
struct Cut {
  int64_t axis = 0;
  Dims sizes;
};

// Parts of `size` entries, the last one with what is left. The count must be a number.
void cut_evenly(Lowering& l, Cut& cut, Dim whole, Dim size) {
  if (size == Dim(0)) {
    cut.sizes = {whole};
    return;
  }
  Dim count = l->assumptions().simplify(ceildiv(whole, size));
  if (!count.is_constant()) {
    l->refuse("aten.symbolic", "split of {} entries into parts of {}: how many parts that makes must be a number",
              print(whole), print(size));
    return;
  }
  if (count == Dim(0)) count = 1;
  cut.sizes.assign(static_cast<size_t>(*count.constant()), size);
  cut.sizes.back() = l->assumptions().simplify(whole - size * (count - 1));
}

Cut split_cut(Lowering& l, const Args& a, Ref x) {
  Cut cut{l.axis(x, a.i("dim", 0)), {}};
  const Arg& given = a.has("split_size") ? a.arg("split_size") : a.arg("split_sizes");
  if (given.get<Arguments>())
    cut.sizes = a.dims(a.has("split_size") ? "split_size" : "split_sizes");
  else
    cut_evenly(l, cut, l->dim(x, static_cast<size_t>(cut.axis)), a.dim("split_size"));
  return cut;
}

// chunk gives fewer parts than asked for where the axis is short. On a symbolic axis that is left out, and said.
Cut chunk_cut(Lowering& l, const Args& a, Ref x) {
  Cut cut{l.axis(x, a.i("dim", 0)), {}};
  const int64_t count = std::max<int64_t>(1, a.i("chunks", 1));
  const Dim whole = l->dim(x, static_cast<size_t>(cut.axis));
  const auto exact = l->assumptions().exact_div(whole, count);
  const Dim size = exact ? *exact : l->assumptions().simplify(ceildiv(whole, count));
  if (size.is_constant()) {
    if (size == Dim(0))
      cut.sizes.assign(static_cast<size_t>(count), 0);
    else
      cut_evenly(l, cut, whole, size);
    return cut;
  }
  cut.sizes.assign(static_cast<size_t>(count), size);
  if (exact) return cut;
  cut.sizes.back() = count == 2 ? floordiv(whole, 2) : l->assumptions().simplify(whole - size * Dim(count - 1));
  l.assume(Condition::ge(cut.sizes.back(), 1), "chunk gives fewer parts of a shorter axis");
  return cut;
}

// The first size % sections parts have one entry more.
void cut_in_sections(Lowering& l, Cut& cut, Dim whole, int64_t sections) {
  if (sections < 1) return l->refuse("aten.arguments", "a tensor split into {} sections", sections);
  const Dim least = floordiv(whole, sections), longer = mod(whole, sections);
  for (int64_t i = 0; i < sections; ++i) {
    const Dim extra =
        longer.is_constant() ? Dim(i < *longer.constant() ? 1 : 0) : anyshape::select(Condition::gt(longer, i), 1, 0);
    cut.sizes.push_back(l->assumptions().simplify(least + extra));
  }
}

// Positions as Python reads them. A part whose end lies before its start is empty.
void cut_at(Lowering& l, Cut& cut, Dim whole, const Dims& positions) {
  Dim at = 0;
  const auto place = [&](Dim p) {
    if (p.is_constant() && *p.constant() < 0) p = max(whole + p, 0);
    return l->assumptions().simplify(min(p, whole));
  };
  for (size_t i = 0; i <= positions.size(); ++i) {
    const Dim next = i < positions.size() ? place(positions[i]) : whole;
    if (!l->proves(Condition::ge(next, at)))
      return l->refuse("aten.split", "tensor_split at positions that are not in order");
    cut.sizes.push_back(l->assumptions().simplify(next - at));
    at = next;
  }
}

Dims whole_numbers_part(Lowering& l, const Args& a, std::string_view name) {
  if (!a.is_tensor(name)) return a.dims(name);
  const Ref x = a.tensor(name);
  const auto& elements = l->fact(x).elements;
  if (elements) return *elements;
  if (!l->failed()) l->refuse("aten.symbolic", "tensor_split at positions that depend on data");
  return {};
}

Cut tensor_split_cut(Lowering& l, const Args& a, Ref x) {
  Cut cut{l.axis(x, a.i("dim", 0)), {}};
  const Dim whole = l->dim(x, static_cast<size_t>(cut.axis));
  constexpr std::string_view kEither = "tensor_indices_or_sections";
  if (a.has("sections")) {
    cut_in_sections(l, cut, whole, a.i("sections"));
  } else if (a.has(kEither) && l->rank(a.tensor(kEither)) == 0) {
    const Dims one = whole_numbers_part(l, a, kEither);
    if (!one.empty() && one[0].is_constant()) cut_in_sections(l, cut, whole, *one[0].constant());
  } else {
    cut_at(l, cut, whole, whole_numbers_part(l, a, a.has(kEither) ? kEither : "indices"));
  }
  return cut;
}

template <int64_t Axis>
Cut split_along(Lowering& l, const Args& a, Ref x) {
  Cut cut{Axis == 1 && l->rank(x) == 1 ? 0 : Axis, {}};
  const Dim whole = l->dim(x, static_cast<size_t>(cut.axis));
  if (a.has("sections"))
    cut_in_sections(l, cut, whole, a.i("sections"));
  else
    cut_at(l, cut, whole, a.dims("indices"));
  return cut;
}

template <Cut (*Of)(Lowering&, const Args&, Ref)>
Arg cut_up(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!l.need_rank(x, 1, 64)) return {};
  const Cut cut = Of(l, a, x);
  if (l->failed()) return {};
  return l->split(x, cut.axis, cut.sizes);
}

template <Cut (*Of)(Lowering&, const Args&, Ref)>
Ref put_cut(Lowering& l, const Args& a, Ref self, Ref part, size_t index) {
  const Cut cut = Of(l, a, self);
  if (l->failed() || index >= cut.sizes.size()) return {};
  if (cut.sizes.size() == 1) return part;
  Refs parts = l->split(self, cut.axis, cut.sizes);
  parts[index] = part;
  return l->concat(parts, cut.axis);
}

constexpr AtenOp kPartOps[] = {
    {.name = "chunk", .lower = cut_up<chunk_cut>, .put = put_cut<chunk_cut>, .reorders = true, .cuts = "dim"},
    {.name = "dsplit", .lower = cut_up<split_along<2>>, .put = put_cut<split_along<2>>, .reorders = true},
    {.name = "hsplit", .lower = cut_up<split_along<1>>, .put = put_cut<split_along<1>>, .reorders = true},
    {.name = "narrow", .lower = take<narrow_range>, .put = put<narrow_range>, .reorders = true, .cuts = "dim"},
    {.name = "narrow_copy", .lower = take<narrow_range>},
    {.name = "select", .lower = select, .put = put_select, .reorders = true, .cuts = "dim"},
    {.name = "select_scatter", .lower = select_scatter},
    {.name = "slice", .lower = take<slice_range>, .put = put<slice_range>, .reorders = true, .cuts = "dim"},
    {.name = "slice_copy", .lower = take<slice_range>},
    {.name = "slice_scatter", .lower = slice_scatter},
    {.name = "split", .lower = cut_up<split_cut>, .put = put_cut<split_cut>, .reorders = true, .cuts = "dim"},
    {.name = "split_with_sizes",
     .lower = cut_up<split_cut>,
     .put = put_cut<split_cut>,
     .reorders = true,
     .cuts = "dim"},
    {.name = "tensor_split",
     .lower = cut_up<tensor_split_cut>,
     .put = put_cut<tensor_split_cut>,
     .reorders = true,
     .cuts = "dim"},
    {.name = "unbind", .lower = unbind, .put = put_unbound, .reorders = true, .cuts = "dim"},
    {.name = "unsafe_chunk", .lower = cut_up<chunk_cut>},
    {.name = "unsafe_split", .lower = cut_up<split_cut>},
    {.name = "unsafe_split_with_sizes", .lower = cut_up<split_cut>},
    {.name = "vsplit", .lower = cut_up<split_along<0>>, .put = put_cut<split_along<0>>, .reorders = true},
};

// The position counted from the front and held within 0..size; unknown() where its sign is open.
Dim placed(Lowering& l, Dim at, Dim size) {
  if (at == Dim(kEnd)) return size;
  if (l->proves(Condition::lt(at, 0)))
    at = max(at + size, 0);
  else if (!l->proves(Condition::ge(at, 0)))
    at = anyshape::select(Condition::ge(at, 0), at, max(at + size, 0));
  return l->assumptions().simplify(min(at, size));
}

Ref put_strided(Lowering& l, Ref self, Ref part, int64_t axis, Dim first, int64_t step) {
  const Dim count = l->dim(part, static_cast<size_t>(axis));
  Ref places = l.op("Mul", {iota(l, count), l->number(step)});
  if (first != Dim(0)) places = l.op("Add", {places, l->scalar(first)});
  const Ref whole =
      l.op("ScatterND", {axis_to_front(l, self, axis), l->unsqueeze(places, {-1}), axis_to_front(l, part, axis)});
  return axis_from_front(l, whole, axis);
}

}  // namespace

Ref put_range(Lowering& l, Ref self, Ref part, int64_t axis, Dim start, Dim end, int64_t step) {
  if (l->failed()) return {};
  const auto at = static_cast<size_t>(axis);
  const Dim size = l->dim(self, at);
  const Dim first = placed(l, start, size), last = placed(l, end, size);
  if (step != 1) return put_strided(l, self, part, axis, first, step);
  if (l->same(l->dim(part, at), size)) return part;
  Refs parts;
  if (first != Dim(0)) parts.push_back(l->slice(self, axis, 0, start));
  parts.push_back(part);
  const bool ordered = l->proves(Condition::ge(last, first));
  if (!ordered) end = first + l->dim(part, at);
  if (last != size || !ordered) parts.push_back(l->slice(self, axis, end, kEnd));
  return l->concat(parts, axis);
}

Ref take_entry(Lowering& l, Ref x, int64_t axis, Dim index) {
  return l->gather(x, l->scalar(l->position(index, l->dim(x, static_cast<size_t>(axis)))), axis);
}

Ref put_entry(Lowering& l, Ref self, Ref part, int64_t axis, Dim index) {
  index = l->position(index, l->dim(self, static_cast<size_t>(axis)));
  const Dim next = index == Dim(-1) ? Dim(kEnd) : index + 1;
  const bool known = index.is_constant() || l->proves(Condition::ge(index, 0)) || l->proves(Condition::lt(index, -1));
  if (!known) {
    l->refuse("aten.symbolic", "a place {} that may count from either end is written", print(index));
    return {};
  }
  return put_range(l, self, l->unsqueeze(part, {axis}), axis, index, next, 1);
}

std::span<const AtenOp> part_ops() { return kPartOps; }

}  // namespace anyshape::lower
