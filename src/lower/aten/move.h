#pragma once

#include "lower/lowering.h"

namespace anyshape::lower {

// 0, 1, ..., n - 1 as i64[n].
Ref iota(Lowering& l, Dim n);
// x with `axis` in front, and the order that takes it back.
Ref axis_to_front(Lowering& l, Ref x, int64_t axis);
Ref axis_from_front(Lowering& l, Ref x, int64_t axis);
std::vector<int64_t> inverse(const std::vector<int64_t>& order);
// 0, 1, ..., rank - 1.
std::vector<int64_t> all_axes(size_t rank);
// x[start:end:step] along `axis` replaced by `part`; start and end as Python reads them.
Ref put_range(Lowering& l, Ref self, Ref part, int64_t axis, Dim start, Dim end, int64_t step);
// x[index] along `axis` (which `part` lacks) replaced.
Ref put_entry(Lowering& l, Ref self, Ref part, int64_t axis, Dim index);
Ref take_entry(Lowering& l, Ref x, int64_t axis, Dim index);
// The diagonals of two axes, last; and the same with them replaced by `part`.
Ref take_diagonal(Lowering& l, Ref x, int64_t offset, int64_t dim1, int64_t dim2);
Ref put_diagonal(Lowering& l, Ref self, Ref part, int64_t offset, int64_t dim1, int64_t dim2);
// Tensors of rank 0 become rank 1.
Ref at_least_1d(Lowering& l, Ref x);
// The tensors stacked along a new axis.
Ref stacked(Lowering& l, const Refs& parts, int64_t axis);
// All of them cast to the type PyTorch gives their mixture.
Refs of_one_type(Lowering& l, const Refs& parts);
// Axes whose count is given: x of `rank` axes, ones put in front.
Ref with_rank(Lowering& l, Ref x, size_t rank);
// windows of `size` entries, `step` apart, `dilation` between entries: the axis becomes their count, a new axis behind
// `axis` the place within one.
Ref windows(Lowering& l, Ref x, int64_t axis, int64_t size, int64_t step, int64_t dilation);

}  // namespace anyshape::lower
