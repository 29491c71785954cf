#pragma once

#include <span>

#include "base/error.h"
#include "tensor/tensor.h"

namespace anyshape::kernels {

// Entries start..start + count - 1 along an axis, any dtype. REQUIRES: they are there.
Result<Tensor> part(const Tensor& whole, size_t axis, int64_t start, int64_t count);

// The parts one after the other along an axis, any dtype. Errors "join.type", "join.shape" when they differ in more
// than that axis, "axis.range". REQUIRES: at least one part.
Result<Tensor> join(std::span<const Tensor> parts, size_t axis);

// The parts side by side on a new axis. The same errors. REQUIRES: at least one part.
Result<Tensor> stack(std::span<const Tensor> parts, size_t axis);

}  // namespace anyshape::kernels
