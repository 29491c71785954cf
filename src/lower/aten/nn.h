#pragma once

#include <initializer_list>

#include "lower/aten/families.h"

namespace anyshape::lower {

// Small parts that the neural-network families share. Like the Builder they do nothing after a failure.

// The last two axes change places. A Transpose that made x is taken into the same node.
Ref swap_last(Lowering& l, Ref x);
// The axes of x in this order, joined with a Transpose that made x.
Ref permuted(Lowering& l, Ref x, std::vector<int64_t> order);
// Axis `from` moves to place `to`, the others keep their order.
Ref move_axis(Lowering& l, Ref x, size_t from, size_t to);
// dims as numbers, where they are.
std::optional<std::vector<int64_t>> numbers_of(const Dims& dims);
// A tensor of these sizes with one value everywhere: an initializer where the sizes are numbers.
Ref filled(Lowering& l, const Dims& dims, double value, DType dtype);
// x as a tensor with `count` more axes of size 1 at the end.
Ref with_trailing_ones(Lowering& l, Ref x, size_t count);
// The numbers 0 .. n-1 in that type.
Ref counted(Lowering& l, Dim n, DType dtype);
// True when every entry of x is known to be 0.
bool is_zero(Lowering& l, Ref x);
// The type PyTorch computes in: f32 for f16 and bf16.
DType compute_type(DType dtype);
// a * number, left out where the number is 1.
Ref times(Lowering& l, Ref a, double number);

// What batch, layer and group normalization share: (x - mean) / sqrt(var + eps) over these axes.
struct Normalized {
  Ref value, mean, variance, inverse_deviation;
};
Normalized normalized(Lowering& l, Ref x, const std::vector<int64_t>& axes, double eps);

// Entries left out at random, as in training. Refused unless that is to be kept, and where the opset has no form of it;
// `what` is who does it.
Ref dropped(Lowering& l, Ref x, double ratio, std::string_view what);

}  // namespace anyshape::lower
