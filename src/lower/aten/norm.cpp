#include <cmath>

#include "lower/aten/families.h"
#include "lower/aten/numeric.h"

namespace anyshape::lower {
namespace {

Ref vector_norm(Lowering& l, Ref x, double order, const std::vector<int64_t>& axes, bool keepdim) {
  if (order == 2) return reduced(l, "ReduceL2", x, axes, keepdim);
  if (order == 1) return reduced(l, "ReduceL1", x, axes, keepdim);
  const Ref size = l.op("Abs", {x});
  if (std::isinf(order)) return reduced(l, order > 0 ? "ReduceMax" : "ReduceMin", size, axes, keepdim);
  if (order == 0) {
    const Ref there = l->cast(l->cast(x, DType::boolean), l->dtype(x));
    return reduced(l, "ReduceSum", there, axes, keepdim);
  }
  const Ref total = reduced(l, "ReduceSum", l.op("Pow", {size, like(l, x, order)}), axes, keepdim);
  return l.op("Pow", {total, like(l, x, 1 / order)});
}

// The axis that is left when the one before it is reduced without being kept.
int64_t after(int64_t axis, int64_t reduced_axis, bool keepdim) {
  return !keepdim && axis > reduced_axis ? axis - 1 : axis;
}

Ref matrix_norm(Lowering& l, Ref x, double order, int64_t rows, int64_t columns, bool keepdim) {
  const bool down = std::abs(order) == 1;
  if (!down && !std::isinf(order)) {
    l->refuse("aten.norm", "the matrix norm of order {} needs singular values, which ONNX cannot compute", order);
    return {};
  }
  const int64_t summed = down ? rows : columns, compared = down ? columns : rows;
  const Ref sums = l.reduce("ReduceL1", x, {summed}, keepdim);
  return l.reduce(order > 0 ? "ReduceMax" : "ReduceMin", sums, {after(compared, summed, keepdim)}, keepdim);
}

Ref typed(Lowering& l, const Args& a, Ref x) {
  const auto wanted = a.dtype("dtype");
  return wanted ? l->cast(x, *wanted) : l.as_float(x);
}

Arg norm(Lowering& l, const Args& a) {
  const Ref x = typed(l, a, a.self());
  return vector_norm(l, x, a.f("p", 2), named_axes(l, a, x), a.flag("keepdim"));
}

Arg frobenius_norm(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.self());
  return vector_norm(l, x, 2, named_axes(l, a, x), a.flag("keepdim"));
}

Arg linalg_vector_norm(Lowering& l, const Args& a) {
  const Ref x = typed(l, a, a.self());
  return vector_norm(l, x, a.f("ord", 2), named_axes(l, a, x), a.flag("keepdim"));
}

// The order may be a text: "fro", or "nuc", which needs singular values.
Arg matrix_or_vector(Lowering& l, const Args& a, bool vector_by_default) {
  const Ref x = typed(l, a, a.self());
  std::vector<int64_t> axes = a.ints("dim");
  const bool keepdim = a.flag("keepdim");
  const auto* text = a.arg("ord").get<std::string>();
  const bool ordered = a.has("ord");
  if (axes.empty() && ordered && l->rank(x) <= 2) axes = l.axes(x, {});
  axes = axes.empty() && vector_by_default ? std::vector<int64_t>{} : l.axes(x, axes);
  if (!ordered || (text && *text == "fro")) return vector_norm(l, x, 2, axes, keepdim);
  if (text) {
    l->refuse("aten.norm", "the norm {:?} needs singular values, which ONNX cannot compute", *text);
    return {};
  }
  if (axes.size() != 2) return vector_norm(l, x, a.f("ord"), axes, keepdim);
  return matrix_norm(l, x, a.f("ord"), axes[0], axes[1], keepdim);
}

Arg linalg_norm(Lowering& l, const Args& a) { return matrix_or_vector(l, a, true); }
Arg linalg_matrix_norm(Lowering& l, const Args& a) { return matrix_or_vector(l, a, false); }

Arg dist(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  return vector_norm(l, l.op("Sub", {x, y}), a.f("p", 2), {}, false);
}

constexpr AtenOp kNormOps[] = {
    {"dist", dist},
    {"frobenius_norm", frobenius_norm},
    {"linalg_matrix_norm", linalg_matrix_norm},
    {"linalg_norm", linalg_norm},
    {"linalg_vector_norm", linalg_vector_norm},
    {"norm", norm},
};

}  // namespace

std::span<const AtenOp> norm_ops() { return kNormOps; }

}  // namespace anyshape::lower
