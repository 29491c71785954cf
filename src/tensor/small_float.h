#pragma once

<<<<<<< HEAD
#include <optional>
=======
#include <cstdint>
>>>>>>> k2

#include "tensor/dtype.h"

namespace anyshape {

<<<<<<< HEAD
// Floats of at most 8 bits: f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f8e8m0, f4e2m1. A code is an element's bits.
bool is_small_float(DType dtype);

// The value of a code; every one is exact as a float. REQUIRES: is_small_float(dtype).
float small_float_value(DType dtype, unsigned code);

// The code of the nearest value, ties to the even code (of f8e8m0 to the larger value); beyond the largest it is the
// largest, infinity where the type has it. nullopt for what the type has nothing like: a NaN for f4e2m1, anything not
// above zero for f8e8m0. REQUIRES: is_small_float(dtype).
std::optional<unsigned> nearest_small_float(DType dtype, double value);
=======
// Floats of 8 bits and less: f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f8e8m0, f4e2m1.
bool is_small_float(DType dtype);

// The value of a code of such a type.
double small_float_value(DType dtype, uint8_t code);

// Of f8e8m0 only, which holds powers of two: the next one up or down, or the nearest (half way: up).
enum class PowerRounding : uint8_t { up, down, nearest };

// The nearest value, ties to even. Beyond the largest value (also infinities): the largest value where `saturate` is
// set, else infinity or, in types without one, NaN; f4e2m1 always saturates and turns NaN into -0. f8e8m0 has no sign:
// the sign of `value` is dropped; below its smallest value (also 0): the smallest one where `saturate` is set, else
// NaN.
uint8_t small_float_code(DType dtype, double value, bool saturate = true, PowerRounding rounding = PowerRounding::up);
>>>>>>> k2

}  // namespace anyshape
