#pragma once

#include "base/temporary.h"
#include "sym/dim.h"
#include "tensor/tensor.h"

// Tensors with blocked channels: [n, c, spatial...] lies as [n, ceil(c / lanes), spatial..., lanes], channel i in lane
// i % lanes of block i / lanes. Lanes past the last channel hold anything.
namespace anyshape::ops {

// The dims of a plain tensor when it is blocked. REQUIRES: rank 2 or more.
Dims blocked_dims(const Dims& plain, int64_t lanes);

// An f32 tensor blocked, with zeros past the last channel, and the opposite. Error "kernel.shape".
Result<Tensor> to_blocked(const Tensor& plain, int64_t lanes);
Result<Tensor> from_blocked(const Tensor& blocked, int64_t channels);

}  // namespace anyshape::ops
