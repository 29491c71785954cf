#pragma once

#include "engine/target/target.h"

namespace anyshape::cpu {

// The processor: kernels of run/cpu/kernels in host memory.
const Target& target();

}  // namespace anyshape::cpu
