#pragma once

#include "ops/elementwise/elementwise.h"

namespace anyshape::ops {

// The shape of a matrix product as NumPy's matmul has it: vectors get an axis that goes again, leading axes broadcast.
// Codes "matmul.rank", "matmul.inner", "broadcast".
Result<Dims> matmul_dims(InferContext& context, const Dims& a, const Dims& b);

}  // namespace anyshape::ops
