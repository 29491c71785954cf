#include <algorithm>
#include <numeric>

#include "lower/aten/families.h"
#include "lower/aten/move.h"

namespace anyshape::lower {
namespace {

Arg view(Lowering& l, const Args& a) { return l->reshape(a.self(), a.dims(a.has("size") ? "size" : "shape")); }

// Same width only: what the bits mean changes, nothing moves.
Arg view_dtype(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const auto wanted = a.dtype("dtype");
  if (wanted && *wanted == l->dtype(x)) return x;
  l->refuse("aten.view.dtype", "a view of a tensor under another type has no ONNX form; convert it with .to(dtype)");
  return {};
}

Arg view_like(Lowering& l, const Args& a) { return l->reshape(a.self(), l->dims(a.tensor("other"))); }

Arg flatten(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Dims from = l->dims(x);
  if (from.empty()) return l->reshape(x, {1});
  const auto first = static_cast<size_t>(l.axis(x, a.i("start_dim", 0)));
  const auto last = static_cast<size_t>(l.axis(x, a.i("end_dim", -1)));
  if (first > last) {
    l->refuse("aten.axis", "flatten from axis {} to axis {}", first, last);
    return {};
  }
  Dims to(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(first));
  Dim merged = 1;
  for (size_t i = first; i <= last; ++i) merged = merged * from[i];
  to.push_back(merged);
  to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(last) + 1, from.end());
  return l->reshape(x, std::move(to));
}

Arg ravel(Lowering& l, const Args& a) { return l->reshape(a.self(), {product(l->dims(a.self()))}); }

Arg unflatten(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!l.need_rank(x, 1, 64)) return {};
  Dims to = l->dims(x);
  const Dims sizes = a.dims("sizes");
  const auto place = to.erase(to.begin() + l.axis(x, a.i("dim")));
  to.insert(place, sizes.begin(), sizes.end());
  return l->reshape(x, std::move(to));
}

Arg unsqueeze(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const int64_t count = static_cast<int64_t>(l->rank(x)) + 1, axis = a.i("dim");
  if (axis < -count || axis >= count) {
    l->refuse("aten.axis", "a new axis at {} of a tensor with {} axes", axis, l->rank(x));
    return {};
  }
  return l->unsqueeze(x, {axis});
}

// An axis stays when it may be longer than 1: then it has to be longer.
Arg squeeze(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const bool all = !a.has("dim");
  std::vector<int64_t> gone;
  std::vector<int64_t> asked = a.ints("dim");
  if (!all && asked.empty()) return x;
  for (int64_t axis : l.axes(x, std::move(asked))) {
    const Dim size = l->dim(x, static_cast<size_t>(axis));
    const bool short_axis = l->proves(Condition::le(size, 1));
    if (l->same(size, 1) || short_axis) gone.push_back(axis);
    if (short_axis && !l->same(size, 1))
      l.assume(Condition::eq(size, 1), "squeeze is given an axis that is not empty");
    else if (!short_axis && !l->proves(Condition::ne(size, 1)))
      l.assume(Condition::ge(size, 2), "squeeze removes an axis of size 1");
  }
  return l->squeeze(x, gone);
}

Arg reordered(Lowering& l, Ref x, std::vector<int64_t> order) { return l->transpose(x, std::move(order)); }

Arg transpose(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const bool axes = a.has("axis0");
  std::vector<int64_t> order = all_axes(l->rank(x));
  if (order.empty()) return x;
  std::swap(order[static_cast<size_t>(l.axis(x, a.i(axes ? "axis0" : "dim0")))],
            order[static_cast<size_t>(l.axis(x, a.i(axes ? "axis1" : "dim1")))]);
  return reordered(l, x, std::move(order));
}

// Its own inverse.
template <Arg (*Turn)(Lowering&, const Args&)>
Ref put_turned(Lowering& l, const Args& a, Ref, Ref part, size_t) {
  const Arg back = Turn(l, a.with_self(part));
  return l.ref(back);
}

Arg reverse_axes(Lowering& l, const Args& a) {
  std::vector<int64_t> order = all_axes(l->rank(a.self()));
  std::reverse(order.begin(), order.end());
  return reordered(l, a.self(), std::move(order));
}

Arg turn_last(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!l.need_rank(x, 2, 64)) return {};
  std::vector<int64_t> order = all_axes(l->rank(x));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return reordered(l, x, std::move(order));
}

bool is_permutation_of_axes(const std::vector<int64_t>& order, size_t rank) {
  const std::vector<int64_t> all = all_axes(rank);
  return order.size() == rank && std::is_permutation(order.begin(), order.end(), all.begin());
}

std::vector<int64_t> permute_order(Lowering& l, const Args& a) {
  const Ref x = a.self();
  std::vector<int64_t> order = a.ints("dims");
  for (int64_t& axis : order) axis = l.axis(x, axis);
  if (is_permutation_of_axes(order, l->rank(x))) return order;
  if (!l->failed()) l->refuse("aten.axis", "permute of {} axes names {}", l->rank(x), order.size());
  return all_axes(l->rank(x));
}

std::vector<int64_t> movedim_order(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const std::vector<int64_t> source = a.ints("source"), destination = a.ints("destination");
  std::vector<int64_t> order(l->rank(x), -1);
  if (order.empty()) return order;
  if (source.size() != destination.size()) {
    l->refuse("aten.axis", "movedim from {} axes to {}", source.size(), destination.size());
    return all_axes(l->rank(x));
  }
  std::vector<bool> moved(order.size());
  for (size_t i = 0; i < source.size(); ++i) {
    const int64_t from = l.axis(x, source[i]);
    order[static_cast<size_t>(l.axis(x, destination[i]))] = from;
    moved[static_cast<size_t>(from)] = true;
  }
  int64_t next = 0;
  for (int64_t& axis : order) {
    if (axis >= 0) continue;
    while (next < static_cast<int64_t>(moved.size()) && moved[static_cast<size_t>(next)]) ++next;
    axis = next++;
  }
  if (is_permutation_of_axes(order, order.size())) return order;
  if (!l->failed()) l->refuse("aten.axis", "movedim names an axis twice");
  return all_axes(l->rank(x));
}

template <std::vector<int64_t> (*Order)(Lowering&, const Args&)>
Arg ordered(Lowering& l, const Args& a) {
  return reordered(l, a.self(), Order(l, a));
}

template <std::vector<int64_t> (*Order)(Lowering&, const Args&)>
Ref put_ordered(Lowering& l, const Args& a, Ref self, Ref part, size_t) {
  return l->transpose(part, inverse(Order(l, a.with_self(self))));
}

Arg expand(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Dims from = l->dims(x);
  Dims to = a.dims("size");
  const size_t added = to.size() - std::min(to.size(), from.size());
  if (to.size() < from.size()) {
    l->refuse("aten.expand", "a tensor of {} axes cannot be expanded to {}", from.size(), to.size());
    return {};
  }
  for (size_t i = added; i < to.size(); ++i)
    if (to[i] == Dim(-1)) to[i] = from[i - added];
  return l->expand(x, std::move(to));
}

Arg expand_as(Lowering& l, const Args& a) { return l->expand(a.self(), l->dims(a.tensor("other"))); }

// Several entries of the result are one entry of the memory.
Ref put_expanded(Lowering& l, const Args&, Ref self, Ref part, size_t) {
  if (l->dims(self) == l->dims(part)) return part;
  l->refuse("aten.expanded", "an expanded tensor is written in place; PyTorch asks for .clone() before");
  return {};
}

Arg same_view(Lowering&, const Args& a) { return a.self(); }

constexpr AtenOp kViewOps[] = {
    {.name = "_reshape_alias", .lower = view, .put = put_reshaped},
    {.name = "_reshape_copy", .lower = view},
    {.name = "_unsafe_view", .lower = view, .put = put_reshaped},
    {.name = "adjoint", .lower = turn_last, .put = put_turned<turn_last>, .reorders = true},
    {.name = "alias", .lower = same_view, .put = put_whole},
    {.name = "broadcast_to", .lower = expand, .put = put_expanded, .reorders = true},
    {.name = "clone", .lower = same_view},
    {.name = "contiguous", .lower = same_view, .put = put_whole, .copies_reordered = true},
    {.name = "detach", .lower = same_view, .put = put_whole},
    {.name = "expand", .lower = expand, .put = put_expanded, .reorders = true},
    {.name = "expand_as", .lower = expand_as, .put = put_expanded, .reorders = true},
    {.name = "expand_copy", .lower = expand},
    {.name = "flatten", .lower = flatten, .put = put_reshaped, .copies_reordered = true},
    {.name = "mH", .lower = turn_last, .put = put_turned<turn_last>, .reorders = true},
    {.name = "mT", .lower = turn_last, .put = put_turned<turn_last>, .reorders = true},
    {.name = "matrix_H", .lower = turn_last, .put = put_turned<turn_last>, .reorders = true},
    {.name = "moveaxis", .lower = ordered<movedim_order>, .put = put_ordered<movedim_order>, .reorders = true},
    {.name = "movedim", .lower = ordered<movedim_order>, .put = put_ordered<movedim_order>, .reorders = true},
    {.name = "numpy_T", .lower = reverse_axes, .put = put_turned<reverse_axes>, .reorders = true},
    {.name = "permute", .lower = ordered<permute_order>, .put = put_ordered<permute_order>, .reorders = true},
    {.name = "ravel", .lower = ravel, .put = put_reshaped, .copies_reordered = true},
    {.name = "reshape", .lower = view, .put = put_reshaped, .copies_reordered = true},
    {.name = "reshape_as", .lower = view_like, .put = put_reshaped, .copies_reordered = true},
    {.name = "squeeze", .lower = squeeze, .put = put_reshaped},
    {.name = "squeeze_copy", .lower = squeeze},
    {.name = "swapaxes", .lower = transpose, .put = put_turned<transpose>, .reorders = true},
    {.name = "swapdims", .lower = transpose, .put = put_turned<transpose>, .reorders = true},
    {.name = "t", .lower = reverse_axes, .put = put_turned<reverse_axes>, .reorders = true},
    {.name = "transpose", .lower = transpose, .put = put_turned<transpose>, .reorders = true},
    {.name = "unflatten", .lower = unflatten, .put = put_reshaped, .copies_reordered = true},
    {.name = "unsqueeze", .lower = unsqueeze, .put = put_reshaped},
    {.name = "view", .lower = view, .put = put_reshaped},
    {.name = "view.dtype", .lower = view_dtype, .put = put_whole},
    {.name = "view_as", .lower = view_like, .put = put_reshaped},
    {.name = "view_copy", .lower = view},
};

}  // namespace

std::vector<int64_t> all_axes(size_t rank) {
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

std::vector<int64_t> inverse(const std::vector<int64_t>& order) {
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return back;
}

Ref put_whole(Lowering&, const Args&, Ref, Ref part, size_t) { return part; }

Ref put_reshaped(Lowering& l, const Args&, Ref self, Ref part, size_t) { return l->reshape(part, l->dims(self)); }

std::span<const AtenOp> view_ops() { return kViewOps; }

}  // namespace anyshape::lower
