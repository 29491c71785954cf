#include <algorithm>
#include <numeric>

#include "lower/aten/nn.h"

namespace anyshape::lower {
namespace {

// Bin i of n over an axis of `in` entries holds floor(i * in / n) .. ceil((i + 1) * in / n) - 1.
struct Bins {
  Ref first, behind;  // i64[n]
};

Bins bins(Lowering& l, Dim in, Dim n) {
  const Ref i = counted(l, n, DType::i64), size = l->scalar(in), count = l->scalar(n);
  const Ref scaled = l.op("Mul", {i, size});
  const Ref behind = l.op("Add", {l.op("Add", {scaled, size}), l->scalar(n - 1)});
  return {l.op("Div", {scaled, count}), l.op("Div", {behind, count})};
}

struct Axis {
  size_t at = 0;  // in the tensor
  Dim in, out;
};

std::vector<Axis> axes_of(Lowering& l, const Args& a, Ref x, size_t spatial) {
  std::vector<Axis> axes;
  const Dims wanted = a.dims("output_size");
  for (size_t i = 0; i < spatial; ++i) {
    const size_t at = l->rank(x) - spatial + i;
    const Dim out = wanted.empty() ? l->dim(x, at) : wanted[std::min(i, wanted.size() - 1)];
    axes.push_back({at, l->dim(x, at), l->assumptions().simplify(out)});
  }
  return axes;
}

// in / out as a number for every axis: equal windows.
std::optional<std::vector<int64_t>> equal_windows(Lowering& l, const std::vector<Axis>& axes) {
  std::vector<int64_t> kernel;
  for (const Axis& axis : axes) {
    const auto quotient = l->same(axis.in, axis.out) ? Dim(1) : l->assumptions().exact_div(axis.in, axis.out);
    if (!quotient || !quotient->is_constant() || *quotient->constant() < 1) return std::nullopt;
    kernel.push_back(*quotient->constant());
  }
  return kernel;
}

bool all_one(const std::vector<Axis>& axes) {
  return std::all_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.out == Dim(1); });
}

std::vector<int64_t> places_adaptive_pool(const std::vector<Axis>& axes) {
  std::vector<int64_t> out;
  for (const Axis& axis : axes) out.push_back(static_cast<int64_t>(axis.at));
  return out;
}

// f32[n, in]: what entry j counts in the mean of bin i.
Ref mean_matrix(Lowering& l, const Axis& axis, DType dtype) {
  const Bins b = bins(l, axis.in, axis.out);
  const Ref first = l->unsqueeze(b.first, {1}), behind = l->unsqueeze(b.behind, {1});
  const Ref j = counted(l, axis.in, DType::i64);
  const Ref inside = l.op("And", {l.op("Not", {l.op("Less", {j, first})}), l.op("Less", {j, behind})});
  return l.op("Div", {l->cast(inside, dtype), l->cast(l.op("Sub", {behind, first}), dtype)});
}

Ref mean_along(Lowering& l, Ref x, const Axis& axis) {
  if (axis.out == Dim(1)) return l.reduce("ReduceMean", x, {static_cast<int64_t>(axis.at)}, true);
  const Ref matrix = mean_matrix(l, axis, l->dtype(x));
  const size_t rank = l->rank(x);
  if (axis.at + 1 == rank) return l.op("MatMul", {x, swap_last(l, matrix)});
  if (axis.at + 2 == rank) return l.op("MatMul", {matrix, x});
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[axis.at], order[rank - 2]);
  return l->transpose(l.op("MatMul", {matrix, l->transpose(x, order)}), order);
}

template <size_t Spatial>
Arg adaptive_avg(Lowering& l, const Args& a) {
  Ref x = a.self();
  if (!l.need_rank(x, Spatial + 1, Spatial + 2)) return {};
  const auto axes = axes_of(l, a, x, Spatial);
  const bool plain = l->rank(x) == Spatial + 2 && l->dtype(x) != DType::f64;
  if (all_one(axes))
    return plain ? l.op("GlobalAveragePool", {x}) : l.reduce("ReduceMean", x, places_adaptive_pool(axes), true);
  if (const auto kernel = equal_windows(l, axes); kernel && plain) {
    if (std::all_of(kernel->begin(), kernel->end(), [](int64_t k) { return k == 1; })) return x;
    return l.op("AveragePool", {x}, {attr("kernel_shape", *kernel), attr("strides", *kernel)});
  }
  for (const Axis& axis : axes)
    if (!l->same(axis.in, axis.out)) x = mean_along(l, x, axis);
  return x;
}

// i64[n, k]: the entries of every bin; short bins repeat their last one, which changes no maximum.
Ref members(Lowering& l, const Axis& axis) {
  const Bins b = bins(l, axis.in, axis.out);
  const Ref offsets = counted(l, ceildiv(axis.in, axis.out) + 1, DType::i64);
  const Ref all = l.op("Add", {l->unsqueeze(b.first, {1}), offsets});
  const Ref last = l.op("Sub", {l->unsqueeze(b.behind, {1}), l->number(int64_t{1})});
  return l.op("Where", {l.op("Less", {all, last}), all, last});
}

Ref max_along(Lowering& l, Ref x, const Axis& axis) {
  const int64_t at = static_cast<int64_t>(axis.at);
  if (axis.out == Dim(1)) return l.reduce("ReduceMax", x, {at}, true);
  return l.reduce("ReduceMax", l->gather(x, members(l, axis), at), {at + 1}, false);
}

// The place of every maximum within its plane.
Ref max_places(Lowering& l, Ref x, const std::vector<Axis>& axes) {
  const size_t spatial = axes.size(), front = l->rank(x) - spatial;
  Ref planes;
  for (size_t i = 0; i < spatial; ++i) {
    const Ref inside = members(l, axes[i]);  // [n, k] at [.., n_i, .., k_i, ..] of [n..., k...]
    std::vector<int64_t> ones;
    for (size_t k = 0; k < 2 * spatial; ++k)
      if (k != i && k != spatial + i) ones.push_back(static_cast<int64_t>(k));
    const Ref placed = l->unsqueeze(inside, ones);
    planes = planes ? l.op("Add", {l.op("Mul", {planes, l->scalar(axes[i].in)}), placed}) : placed;
  }
  const Dims sizes = l->dims(x);
  Dims flat(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(front));
  Dim plane = 1, width = 1;
  Dims out;
  for (const Axis& axis : axes) {
    plane = plane * axis.in;
    width = width * (ceildiv(axis.in, axis.out) + 1);
    out.push_back(axis.out);
  }
  flat.push_back(plane);
  Dims joined = out;
  joined.push_back(width);
  const Ref candidates = l->reshape(planes, joined);
  const int64_t last = static_cast<int64_t>(front);
  const Ref entries = l->gather(l->reshape(x, flat), candidates, last);
  const Ref best = l.op("ArgMax", {entries}, {attr("axis", last + static_cast<int64_t>(spatial)), attr("keepdims", 1)});
  const Ref all = l->expand(candidates, l->dims(entries));
  return l->squeeze(l.op("GatherElements", {all, best}, {attr("axis", last + static_cast<int64_t>(spatial))}),
                    {last + static_cast<int64_t>(spatial)});
}

template <size_t Spatial>
Arg adaptive_max(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!l.need_rank(x, Spatial + 1, Spatial + 2)) return {};
  const auto axes = axes_of(l, a, x, Spatial);
  const bool plain = l->rank(x) == Spatial + 2;
  const auto kernel = equal_windows(l, axes);
  const Ref indices = max_places(l, x, axes);
  if (plain && all_one(axes)) return Arguments{l.op("GlobalMaxPool", {x}), indices};
  if (plain && kernel)
    return Arguments{l.op("MaxPool", {x}, {attr("kernel_shape", *kernel), attr("strides", *kernel)}), indices};
  Ref y = x;
  for (const Axis& axis : axes)
    if (!l->same(axis.in, axis.out)) y = max_along(l, y, axis);
  return Arguments{y, indices};
}

constexpr AtenOp kAdaptivePoolOps[] = {
    {"_adaptive_avg_pool2d", adaptive_avg<2>}, {"_adaptive_avg_pool3d", adaptive_avg<3>},
    {"adaptive_avg_pool1d", adaptive_avg<1>},  {"adaptive_avg_pool2d", adaptive_avg<2>},
    {"adaptive_avg_pool3d", adaptive_avg<3>},  {"adaptive_max_pool1d", adaptive_max<1>},
    {"adaptive_max_pool2d", adaptive_max<2>},  {"adaptive_max_pool3d", adaptive_max<3>},
};

}  // namespace

std::span<const AtenOp> adaptive_pool_ops() { return kAdaptivePoolOps; }

}  // namespace anyshape::lower
