#pragma once

#include "lower/lowering.h"

namespace anyshape::lower {

// How PyTorch quantises a tensor whose range it sees only now.
struct DynamicRange {
  Ref scale, zero_point;  // f32, and of the type asked for
  Ref exact_scale;        // f64
};

// The integers are lo..hi. `least`: the smallest scale; 0: as PyTorch's kernels have it.
DynamicRange dynamic_range(Lowering& l, Ref x, int64_t lo, int64_t hi, DType dtype, double least = 0);

}  // namespace anyshape::lower
