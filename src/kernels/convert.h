#pragma once

#include "base/error.h"
#include "tensor/tensor.h"

namespace anyshape::kernels {

// to[i] = from[i] as another element type: bool, integers (also under 8 bits), f16 bf16 f32 f64. Integers keep their
// low bits; floats are cut towards zero, those out of range become the smallest value of the integer type as x86 does;
// anything but zero is true. Error kind unknown for other types. REQUIRES: equal count.
Status convert(const Tensor& from, Tensor& to);

// A float as int64, cut towards zero; INT64_MIN when it is out of range or no number.
int64_t truncate_to_int64(double value);

}  // namespace anyshape::kernels
