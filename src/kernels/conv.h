#pragma once

#include <vector>

#include "base/error.h"
#include "base/temporary.h"
#include "tensor/tensor.h"

// Convolutions over [batch, channels, spatial axes...] of f32 or f64, summed in double. An absent bias is 0. Errors
// "dtype", "kernel.shape".
namespace anyshape::kernels {

// One entry per spatial axis; `pads` are the cells of padding before the first one of the input.
struct Conv {
  Temporary<int64_t> strides, dilations, pads;
  int64_t group = 1;
};

// w is [out channels, channels of a group, kernel...].
Status conv(const Conv& conv, const Tensor& x, const Tensor& w, const Tensor& bias, Tensor& out);

// w is [channels, out channels of a group, kernel...]; `pads` cells are cut off before the result, what lies beyond
// its end too.
Status conv_transpose(const Conv& conv, const Tensor& x, const Tensor& w, const Tensor& bias, Tensor& out);

// conv() with cell k of the window moved by offset[n, (group, k, axis), position] and multiplied by mask[n, (group, k),
// position]; between cells it interpolates linearly, outside of the input it reads 0.
struct DeformConv {
  Conv conv;
  int64_t offset_group = 1;
};
Status deform_conv(const DeformConv& deform, const Tensor& x, const Tensor& w, const Tensor& offset, const Tensor& bias,
                   const Tensor& mask, Tensor& out);

// One filter per channel over the past: x is [batch, channels, steps], w [channels, 1, k]; `past` holds the k - 1
// steps before x (absent: 0), `present` gets the last k - 1. `silu`: x * sigmoid(x) of the result.
Status causal_conv(const Tensor& x, const Tensor& w, const Tensor& bias, const Tensor& past, bool silu, Tensor& out,
                   Tensor& present);

}  // namespace anyshape::kernels
