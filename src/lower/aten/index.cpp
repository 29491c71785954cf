#include <algorithm>

#include "lower/aten/families.h"
#include "lower/aten/move.h"

namespace anyshape::lower {
namespace {

// x[i, :, j]: which axes are indexed by what. Masks have become the places where they are true.
struct Index {
  std::vector<int64_t> axes;  // ascending
  Refs by;                    // i64, one per axis, of one shape
  size_t rank = 0;            // of that shape
  bool together = true;       // no free axis stands between indexed ones
};

// ONNX Runtime finds the entries that are not 0 in a few types only.
Ref places(Lowering& l, Ref x) {
  const DType dtype = l->dtype(x);
  const bool direct = dtype == DType::boolean || dtype == DType::f32 || dtype == DType::i32 || dtype == DType::i64;
  return l.op("NonZero", {direct ? x : l->cast(x, DType::boolean)});
}

// Row k of a matrix.
Ref row(Lowering& l, Ref matrix, size_t k) { return l->gather(matrix, l->number(static_cast<int64_t>(k)), 0); }

bool is_mask(Lowering& l, Ref index) { return l->dtype(index) == DType::boolean || l->dtype(index) == DType::u8; }

// Index tensors of one shape. Integers are spread by adding nothing: no sizes are needed.
void broadcast(Lowering& l, Index& index) {
  for (Ref by : index.by) index.rank = std::max(index.rank, l->rank(by));
  if (index.by.size() < 2) return;
  Dims to(index.rank, Dim(1));
  bool numbers = true;
  for (Ref by : index.by) {
    const Dims dims = l->dims(by);
    for (size_t i = 0; i < dims.size(); ++i) {
      Dim& d = to[i + index.rank - dims.size()];
      if (d == Dim(1)) d = dims[i];
      numbers &= dims[i].is_constant();
    }
  }
  const Refs given = index.by;
  for (Ref& by : index.by) {
    if (l->dims(by) == to) continue;
    if (numbers) {
      by = l->expand(by, to);
      continue;
    }
    for (Ref other : given)
      if (l->dims(by) != to && !(other == by)) by = l.op("Add", {by, l.op("Mul", {other, l->number(int64_t{0})})});
  }
}

// REQUIRES: as many entries as axes or fewer.
Index index_of(Lowering& l, Ref x, const Refs& given) {
  Index out;
  int64_t axis = 0;
  bool open = false, closed = false;
  for (Ref by : given) {
    if (!by) {
      closed |= open;
      ++axis;
      continue;
    }
    out.together &= !closed;
    open = true;
    if (!is_mask(l, by)) {
      out.axes.push_back(axis++);
      out.by.push_back(l->cast(by, DType::i64));
      continue;
    }
    const Ref found = places(l, by);
    for (size_t k = 0; k < l->rank(by); ++k) {
      out.axes.push_back(axis++);
      out.by.push_back(row(l, found, k));
    }
  }
  if (axis > static_cast<int64_t>(l->rank(x)) && !l->failed())
    l->refuse("aten.index", "{} indices for a tensor of {} axes", axis, l->rank(x));
  broadcast(l, out);
  return out;
}

std::vector<int64_t> indexed_first(const Index& index, size_t rank) {
  std::vector<int64_t> order = index.axes;
  for (int64_t i : all_axes(rank))
    if (std::find(index.axes.begin(), index.axes.end(), i) == index.axes.end()) order.push_back(i);
  return order;
}

// From [index..., free...] to where PyTorch puts the index's axes: in place of the first indexed one, or in front.
std::vector<int64_t> result_order(const Index& index, size_t rank) {
  const size_t free = rank - index.axes.size();
  std::vector<int64_t> order = all_axes(index.rank + free);
  if (!index.together || index.axes.empty()) return order;
  const auto in_front = static_cast<std::ptrdiff_t>(index.axes[0]);
  const auto block = order.begin() + static_cast<std::ptrdiff_t>(index.rank);
  std::rotate(order.begin(), block, block + in_front);
  return order;
}

Ref tuples(Lowering& l, const Index& index) {
  Refs columns;
  for (Ref by : index.by) columns.push_back(l->unsqueeze(by, {static_cast<int64_t>(l->rank(by))}));
  return l->concat(columns, static_cast<int64_t>(index.rank));
}

// One mask over neighbouring axes and nothing else.
struct Mask {
  Ref mask;
  int64_t axis = 0;
};
std::optional<Mask> lone_mask(Lowering& l, const Refs& given) {
  std::optional<Mask> out;
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) continue;
    if (out || !is_mask(l, given[i]) || l->rank(given[i]) == 0) return std::nullopt;
    out = Mask{l->cast(given[i], DType::boolean), static_cast<int64_t>(i)};
  }
  return out;
}

Ref masked(Lowering& l, Ref x, const Mask& m) {
  if (l->rank(m.mask) == 1) return l.op("Compress", {x, m.mask}, {attr("axis", m.axis)});
  if (l->rank(m.mask) == l->rank(x)) return l.op("Compress", {x, l->reshape(m.mask, {product(l->dims(m.mask))})});
  return {};
}

bool has_scalar_mask(Lowering& l, const Refs& given) {
  return std::any_of(given.begin(), given.end(), [&](Ref by) { return by && is_mask(l, by) && l->rank(by) == 0; });
}

Arg index(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Refs given = a.tensors("indices");
  if (!l.need_rank(x, 0, 64)) return {};
  if (has_scalar_mask(l, given)) {
    l->refuse("aten.index", "an index that is a single truth value");
    return {};
  }
  if (const auto mask = lone_mask(l, given))
    if (const Ref out = masked(l, x, *mask)) return out;
  const Index index = index_of(l, x, given);
  if (l->failed() || index.axes.empty()) return x;
  if (index.axes.size() == 1) return l->gather(x, index.by[0], index.axes[0]);
  const Ref turned = l->transpose(x, indexed_first(index, l->rank(x)));
  return l->transpose(l.op("GatherND", {turned, tuples(l, index)}), result_order(index, l->rank(x)));
}

// Every place of a mask gets the same value, so it is a choice. Absent: the values differ from place to place.
Ref put_masked(Lowering& l, Ref x, const Mask& m, Ref values) {
  const size_t behind = l->rank(x) - std::min(l->rank(x), static_cast<size_t>(m.axis) + l->rank(m.mask));
  Dims dims = l->dims(values);
  if (dims.size() > behind + static_cast<size_t>(m.axis) + 1) return {};
  // Of the values' axes the one that counts places must not be there, or be of size 1.
  if (dims.size() > behind && dims[dims.size() - behind - 1] != Dim(1)) return {};
  if (dims.size() > behind && l->rank(m.mask) > 1) {
    std::vector<int64_t> ones;
    for (size_t k = 1; k < l->rank(m.mask); ++k) ones.push_back(static_cast<int64_t>(dims.size() - behind));
    for (size_t k = 0; k < ones.size(); ++k) ones[k] += static_cast<int64_t>(k);
    values = l->unsqueeze(values, ones);
  }
  std::vector<int64_t> added;
  for (size_t k = 0; k < behind; ++k) added.push_back(static_cast<int64_t>(l->rank(m.mask) + k));
  return l.op("Where", {l->unsqueeze(m.mask, added), values, x});
}

Ref scattered(Lowering& l, Ref x, const Index& index, Ref values, bool accumulate) {
  const std::vector<int64_t> order = indexed_first(index, l->rank(x)), placed = result_order(index, l->rank(x));
  const Ref turned = l->transpose(x, order), where = tuples(l, index);
  if (l->failed()) return {};
  Dims result(index.rank + l->rank(x) - index.axes.size());
  for (size_t i = 0; i < result.size(); ++i) {
    const auto from = static_cast<size_t>(placed[i]);
    result[i] = from < index.rank ? l->dim(where, from) : l->dim(turned, index.axes.size() + from - index.rank);
  }
  while (l->rank(values) > result.size() && l->dim(values, 0) == Dim(1)) values = l->squeeze(values, {0});
  const Ref updates = l->transpose(l->expand(values, result), inverse(placed));
  std::vector<Attribute> attributes;
  if (accumulate) attributes.push_back(attr("reduction", "add"));
  return l->transpose(l.op("ScatterND", {turned, where, updates}, std::move(attributes)), inverse(order));
}

Arg index_put(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Refs given = a.tensors("indices");
  const Ref values = l->cast(a.tensor("values"), l->dtype(x));
  const bool accumulate = a.flag("accumulate");
  if (!l.need_rank(x, 0, 64)) return {};
  if (given.size() == 1 && given[0] && is_mask(l, given[0]) && l->rank(given[0]) == 0)
    return l.op("Where", {l->cast(given[0], DType::boolean), values, x});
  const auto mask = lone_mask(l, given);
  if (mask && !accumulate)
    if (const Ref out = put_masked(l, x, *mask, values)) return out;
  if (accumulate && l->opset() < 16) {
    l->refuse(kOpsetCode, "index_put with accumulate needs opset 16 or later");
    return {};
  }
  const Index index = index_of(l, x, given);
  if (l->failed()) return {};
  if (index.axes.empty()) return accumulate ? l.op("Add", {x, values}) : l->expand(values, l->dims(x));
  return scattered(l, x, index, values, accumulate);
}

Arg nonzero(Lowering& l, const Args& a) { return l->transpose(places(l, a.self()), {1, 0}); }

Arg nonzero_numpy(Lowering& l, const Args& a) {
  const Ref x = at_least_1d(l, a.arg("condition").is_none() ? a.self() : a.tensor("condition"));
  const Ref found = places(l, x);
  Refs out;
  for (size_t k = 0; k < l->rank(x); ++k) out.push_back(row(l, found, k));
  return out;
}

Arg masked_select(Lowering& l, const Args& a) {
  Ref x = a.self(), mask = l->cast(a.tensor("mask"), DType::boolean);
  const size_t rank = std::max(l->rank(x), l->rank(mask));
  Dims to(rank, Dim(1));
  for (const Dims& dims : {l->dims(x), l->dims(mask)})
    for (size_t i = 0; i < dims.size(); ++i) {
      Dim& d = to[rank - dims.size() + i];
      d = d == Dim(1) ? dims[i] : d;
    }
  x = l->expand(x, to);
  mask = l->expand(mask, to);
  return l.op("Compress", {at_least_1d(l, x), l->reshape(mask, {product(to)})});
}

// The n-th true place gets source entry n.
Arg masked_scatter(Lowering& l, const Args& a) {
  const Ref x = a.self(), source = l->cast(a.tensor("source"), l->dtype(x));
  const Ref mask = l->expand(l->cast(a.tensor("mask"), DType::boolean), l->dims(x));
  const Ref found = l->transpose(places(l, mask), {1, 0});
  const Ref flat = l->reshape(source, {product(l->dims(source))});
  if (l->failed()) return {};
  return l.op("ScatterND", {x, found, l->slice(flat, 0, 0, l->dim(found, 0))});
}

constexpr AtenOp kIndexOps[] = {
    {"_index_put_impl", index_put},
    {"_unsafe_index", index},
    {"_unsafe_index_put", index_put},
    {"argwhere", nonzero},
    {"index", index},
    {"index_put", index_put},
    {"masked_scatter", masked_scatter},
    {"masked_select", masked_select},
    {"nonzero", nonzero},
    {"nonzero_numpy", nonzero_numpy},
};

}  // namespace

std::span<const AtenOp> index_ops() { return kIndexOps; }

}  // namespace anyshape::lower
