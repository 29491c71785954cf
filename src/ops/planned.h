#pragma once

#include "ir/op.h"

// The optimised kernels of the operators, each list best first. They come on top of the reference kernels.
namespace anyshape::ops {

extern const PlannedKernel kMatMulPlanned[1];
extern const PlannedKernel kGemmPlanned[1];

}  // namespace anyshape::ops
