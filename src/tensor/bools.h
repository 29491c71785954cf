#pragma once

#include "tensor/tensor.h"

namespace anyshape {

// A bool tensor whose bytes are 0 and 1: the same tensor where they are, else a copy with 1 for every other byte.
// Kernels rely on it, files and callers do not keep to it. Tensors of other types are given back as they are.
Result<Tensor> clean_bools(Tensor tensor);

}  // namespace anyshape
