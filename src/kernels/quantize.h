#pragma once

#include "base/error.h"
#include "tensor/tensor.h"

namespace anyshape::kernels {

// Which scale belongs to which entry: one for all (scale.count() == 1), one per entry of the axis, or one per block of
// `block` entries along it.
struct QuantizeLayout {
  size_t axis = 0;
  int64_t block = 0;  // 0: no blocks
};

struct QuantizeRules {
  DType precision = DType::f32;  // of the quotient
  bool saturate = true;          // of floats of 8 bits
};

// y = x / scale + zero, rounded to nearest even and saturated to the type of y (integers up to 16 bits, floats of 8
// bits and less). `zero` may be absent. Errors "quantize.scale", "quantize.zero_point" where the shapes do not fit,
// kind unknown for other types. REQUIRES: x and y of one shape.
Status quantize(const Tensor& x, const Tensor& scale, const Tensor& zero, const QuantizeLayout& layout,
                const QuantizeRules& rules, Tensor& y);

// y = (x - zero) scale, rounded once. The same errors.
Status dequantize(const Tensor& x, const Tensor& scale, const Tensor& zero, const QuantizeLayout& layout, Tensor& y);

// x in 8 bits with a scale and a zero point of its own.
void quantize_dynamically(const Tensor& x, Tensor& y, Tensor& scale, Tensor& zero);

}  // namespace anyshape::kernels
