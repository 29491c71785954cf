#pragma once

#include "lower/lowering.h"

namespace anyshape::lower {

// The strides of a tensor of these sizes that lies in memory in the order of its axes.
Dims row_major(const Dims& sizes);

}  // namespace anyshape::lower
