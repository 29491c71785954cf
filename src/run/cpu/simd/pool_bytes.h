#pragma once

#include "run/cpu/simd/pool_f32.h"

// Maxima of bytes over windows of one or two axes.
namespace anyshape::kernels {

// `row`: room for one row of the input.
void max_pool_plane(const PlanePool& pool, const uint8_t* in, uint8_t* row, uint8_t* out);
void max_pool_plane(const PlanePool& pool, const int8_t* in, int8_t* row, int8_t* out);

}  // namespace anyshape::kernels
