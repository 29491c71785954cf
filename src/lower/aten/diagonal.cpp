#include <algorithm>

#include "lower/aten/families.h"
#include "lower/aten/move.h"

namespace anyshape::lower {
namespace {

struct Diagonal {
  int64_t offset = 0, dim1 = 0, dim2 = 1;
};

Diagonal diagonal_of(Lowering& l, const Args& a, Ref x, int64_t dim1, int64_t dim2) {
  const Diagonal out{a.i("offset", 0), l.axis(x, a.i("dim1", dim1)), l.axis(x, a.i("dim2", dim2))};
  if (out.dim1 == out.dim2 && !l->failed()) l->refuse("aten.axis", "a diagonal of axis {} with itself", out.dim1);
  return out;
}

// The two axes in front, the others behind in their order.
std::vector<int64_t> two_in_front(size_t rank, int64_t dim1, int64_t dim2) {
  std::vector<int64_t> order{dim1, dim2};
  for (int64_t i : all_axes(rank))
    if (i != dim1 && i != dim2) order.push_back(i);
  return order;
}

// i64[n, 2]: the places of the diagonal.
Ref places_diagonal(Lowering& l, Dim rows, Dim columns, int64_t offset) {
  const Dim down = std::max<int64_t>(-offset, 0), right = std::max<int64_t>(offset, 0);
  const Dim count = l->assumptions().simplify(max(min(rows - down, columns - right), 0));
  const Ref i = l->unsqueeze(iota(l, count), {1});
  const Ref row = down == Dim(0) ? i : l.op("Add", {i, l->scalar(down)});
  const Ref column = right == Dim(0) ? i : l.op("Add", {i, l->scalar(right)});
  return l->concat({row, column}, 1);
}

Arg diagonal(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!l.need_rank(x, 2, 64)) return {};
  const Diagonal d = diagonal_of(l, a, x, 0, 1);
  return take_diagonal(l, x, d.offset, d.dim1, d.dim2);
}

Ref put_back(Lowering& l, const Args& a, Ref self, Ref part, size_t) {
  const Diagonal d = diagonal_of(l, a, self, 0, 1);
  return put_diagonal(l, self, part, d.offset, d.dim1, d.dim2);
}

Arg diagonal_scatter(Lowering& l, const Args& a) {
  const Ref x = a.self();
  return put_back(l, a, x, l->cast(a.tensor("src"), l->dtype(x)), 0);
}

Arg trace(Lowering& l, const Args& a) {
  Ref x = a.self();
  if (!l.need_rank(x, 2, 2)) return {};
  if (!is_float(l->dtype(x))) x = l->cast(x, DType::i64);
  return l.reduce("ReduceSum", take_diagonal(l, x, 0, 0, 1), {0}, false);
}

Ref zero_diagonal(Lowering& l, DType dtype) { return l->integer(0, dtype); }

// The last axis on a diagonal of two new ones at the end.
Ref embedded(Lowering& l, Ref x, int64_t offset) {
  const Dim size = l->dim(x, l->rank(x) - 1);
  const Ref i = iota(l, size);
  const Ref on_diagonal = l.op("Equal", {l->unsqueeze(i, {1}), i});
  const Ref square = l.op("Where", {on_diagonal, l->unsqueeze(x, {-2}), zero_diagonal(l, l->dtype(x))});
  if (offset == 0) return square;
  const size_t rank = l->rank(square);
  Dims pads(2 * rank, Dim(0));
  const bool right = offset > 0;
  pads[right ? rank - 1 : rank - 2] = std::abs(offset);
  pads[right ? 2 * rank - 2 : 2 * rank - 1] = std::abs(offset);
  return l->pad(square, pads, {});
}

Arg diag_embed(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!l.need_rank(x, 1, 63)) return {};
  const auto rank = static_cast<int64_t>(l->rank(x)) + 1;
  const int64_t offset = a.i("offset", 0);
  int64_t dim1 = a.i("dim1", -2), dim2 = a.i("dim2", -1);
  dim1 += dim1 < 0 ? rank : 0;
  dim2 += dim2 < 0 ? rank : 0;
  if (dim1 < 0 || dim2 < 0 || dim1 >= rank || dim2 >= rank || dim1 == dim2) {
    l->refuse("aten.axis", "a diagonal in the axes {} and {} of {}", dim1, dim2, rank);
    return {};
  }
  const Ref matrix = embedded(l, x, offset);
  std::vector<int64_t> order(static_cast<size_t>(rank));
  int64_t next = 0;
  for (int64_t i = 0; i < rank; ++i)
    order[static_cast<size_t>(i)] = i == dim1 ? rank - 2 : i == dim2 ? rank - 1 : next++;
  return l->transpose(matrix, std::move(order));
}

Arg diag(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!l.need_rank(x, 1, 2)) return {};
  const int64_t offset = a.i("diagonal", 0);
  return l->rank(x) == 1 ? embedded(l, x, offset) : take_diagonal(l, x, offset, 0, 1);
}

Arg diagflat(Lowering& l, const Args& a) {
  const Ref x = a.self();
  return embedded(l, l->reshape(x, {product(l->dims(x))}), a.i("offset", 0));
}

// Types that ONNX Runtime has a triangle for.
bool has_triangle(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::i64 || dtype == DType::boolean;
}

template <bool Upper>
Arg triangle(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!l.need_rank(x, 2, 64)) return {};
  const Dim k = a.dim("diagonal", 0);
  if (l->opset() >= 14 && has_triangle(l->dtype(x))) {
    Refs in{x};
    if (k != Dim(0)) in.push_back(l->scalar(k));
    return l.op("Trilu", in, {attr("upper", Upper)});
  }
  const Ref row = l->unsqueeze(iota(l, l->dim(x, l->rank(x) - 2)), {1}), column = iota(l, l->dim(x, l->rank(x) - 1));
  const Ref border = k == Dim(0) ? row : l.op("Add", {row, l->scalar(k)});
  const Ref gone = Upper ? l.op("Less", {column, border}) : l.op("Less", {border, column});
  return l.op("Where", {gone, zero_diagonal(l, l->dtype(x)), x});
}

Arg one_hot(Lowering& l, const Args& a) {
  const Ref x = a.self();
  int64_t classes = a.i("num_classes", -1);
  if (classes < 0) {
    const Tensor* known = l->tensor(x);
    if (!known) {
      l->refuse("aten.one_hot", "one_hot without num_classes: how many there are depends on data");
      return {};
    }
    for (int64_t i = 0; i < known->count(); ++i) classes = std::max(classes, known->int_at(i) + 1);
  }
  const Ref index = at_least_1d(l, l->cast(x, DType::i64));
  const Ref out = l.op("OneHot", {index, l->number(classes), l->ints({0, 1})}, {attr("axis", -1)});
  return l->rank(x) == 0 ? l->squeeze(out, {0}) : out;
}

constexpr AtenOp kDiagonalOps[] = {
    {.name = "diag", .lower = diag},
    {.name = "diag_embed", .lower = diag_embed},
    {.name = "diagflat", .lower = diagflat},
    {.name = "diagonal", .lower = diagonal, .put = put_back, .reorders = true},
    {.name = "diagonal_scatter", .lower = diagonal_scatter},
    {.name = "linalg_diagonal", .lower = diagonal, .put = put_back, .reorders = true},
    {.name = "one_hot", .lower = one_hot},
    {.name = "trace", .lower = trace},
    {.name = "tril", .lower = triangle<false>},
    {.name = "triu", .lower = triangle<true>},
};

}  // namespace

Ref take_diagonal(Lowering& l, Ref x, int64_t offset, int64_t dim1, int64_t dim2) {
  if (l->failed()) return {};
  const Ref turned = l->transpose(x, two_in_front(l->rank(x), dim1, dim2));
  const Ref line = l.op("GatherND", {turned, places_diagonal(l, l->dim(turned, 0), l->dim(turned, 1), offset)});
  std::vector<int64_t> order = all_axes(l->rank(line));
  if (!order.empty()) std::rotate(order.begin(), order.begin() + 1, order.end());
  return l->transpose(line, std::move(order));
}

Ref put_diagonal(Lowering& l, Ref self, Ref part, int64_t offset, int64_t dim1, int64_t dim2) {
  if (l->failed()) return {};
  const std::vector<int64_t> order = two_in_front(l->rank(self), dim1, dim2);
  const Ref turned = l->transpose(self, order);
  const Ref line = axis_to_front(l, part, static_cast<int64_t>(l->rank(part)) - 1);
  const Ref whole = l.op("ScatterND", {turned, places_diagonal(l, l->dim(turned, 0), l->dim(turned, 1), offset), line});
  return l->transpose(whole, inverse(order));
}

std::span<const AtenOp> diagonal_ops() { return kDiagonalOps; }

}  // namespace anyshape::lower
