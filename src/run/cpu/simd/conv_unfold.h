#pragma once

#include "run/cpu/simd/conv_f32.h"

namespace anyshape::simd {

// The most panels of columns that are unfolded at once.
inline constexpr int64_t kMostPanels = 6;

// Rows k0..k1 - 1 of the matrix a convolution multiplies its filters with, columns (places of the output) j0..j1 - 1,
// as panels for gemm_tile. `in`: the channels of one image and group.
void conv_unfold(const Conv& c, const float* in, int64_t k0, int64_t k1, int64_t j0, int64_t j1, float* to);

}  // namespace anyshape::simd
