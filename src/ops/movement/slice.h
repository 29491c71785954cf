#pragma once

#include <cstdint>

#include "ir/infer.h"

namespace anyshape::ops {

// Positions start, start + step, ... (count of them) of one axis.
struct SliceRange {
  int64_t start = 0, step = 1, count = 0;
};
// The operator's clamping for one axis of known size. REQUIRES: size >= 0, step != 0.
SliceRange slice_range(int64_t size, int64_t start, int64_t end, int64_t step);

// How many positions are left, as an expression. REQUIRES: step != 0.
Dim slice_size(InferContext& context, Dim size, Dim start, Dim end, int64_t step);

}  // namespace anyshape::ops
