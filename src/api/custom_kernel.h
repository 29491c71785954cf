#pragma once

#include "anyshape/custom.h"
#include "ops/custom.h"

namespace anyshape {

// The user's function as a kernel; null where there is none.
CustomKernel custom_kernel(CustomKernelFunction function);

}  // namespace anyshape
