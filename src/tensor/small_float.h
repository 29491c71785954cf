#pragma once

#include <optional>

#include "tensor/dtype.h"

namespace anyshape {

// Floats of at most 8 bits: f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f8e8m0, f4e2m1. A code is an element's bits.
bool is_small_float(DType dtype);

// The value of a code; every one is exact as a float. REQUIRES: is_small_float(dtype).
float small_float_value(DType dtype, unsigned code);

// The code of the nearest value, ties to the even code (of f8e8m0 to the larger value); beyond the largest it is the
// largest, infinity where the type has it. nullopt for what the type has nothing like: a NaN for f4e2m1, anything not
// above zero for f8e8m0. REQUIRES: is_small_float(dtype).
std::optional<unsigned> nearest_small_float(DType dtype, double value);

}  // namespace anyshape
