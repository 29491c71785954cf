#pragma once

#include "tensor/tensor.h"

namespace anyshape::kernels {

// to[to_start + i] = from[from_start + i] for i < count, any dtype (equal in both). REQUIRES: ranges inside the
// tensors.
void copy_elements(Tensor& to, int64_t to_start, const Tensor& from, int64_t from_start, int64_t count);

}  // namespace anyshape::kernels
