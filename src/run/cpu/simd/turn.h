#pragma once

#include <cstdint>

namespace anyshape::simd {

// to[c * to_row + r] = from[r * from_row + c]. Any bits are kept.
void turn(const float* from, int64_t from_row, int64_t rows, int64_t columns, float* to, int64_t to_row);

}  // namespace anyshape::simd
