#pragma once

#include "run/cpu/simd/pool_f32.h"

// Maxima of bytes over windows of one or two axes.
namespace anyshape::kernels {

// to = max(to, from), entry by entry.
void max_into(const uint8_t* from, int64_t n, uint8_t* to);
void max_into(const int8_t* from, int64_t n, int8_t* to);

// `row`: room for one row of the input.
void max_pool_plane(const PlanePool& pool, const uint8_t* in, uint8_t* row, uint8_t* out);
void max_pool_plane(const PlanePool& pool, const int8_t* in, int8_t* row, int8_t* out);

}  // namespace anyshape::kernels
