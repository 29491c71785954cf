#pragma once

#include "base/error.h"
#include "base/temporary.h"
#include "tensor/tensor.h"

// Products of quantized tensors are computed on f64: sums of 8-bit products are exact there.
namespace anyshape::kernels {

// A scale or zero point with the dims under which it broadcasts; an absent zero point is 0.
struct Parameter {
  Tensor tensor;
  Temporary<int64_t> dims;
};

// values - zero as f64. i8, u8 and 8-bit floats. Errors "dtype", "kernel.shape".
Result<Tensor> centered(const Tensor& values, const Parameter& zero);

// out = round(sums * (left * right / y_scale)) + y_zero, saturated to an integer type, or rounded to a float type. In
// f32 as ONNX Runtime does it: ties are decided by the last bit.
// REQUIRES: sums is f64 and as large as out. Errors "dtype", "kernel.shape".
Status requantize(const Tensor& sums, const Parameter& left, const Parameter& right, const Tensor& y_scale,
                  const Tensor& y_zero, Tensor& out);

// out = sums modulo 2^32. REQUIRES: sums is f64 with integer entries, out is i32 and as large.
void sums_to_i32(const Tensor& sums, Tensor& out);

}  // namespace anyshape::kernels
