#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace anyshape {

// Floats of 8 bits and less: f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f8e8m0, f6e2m3, f6e3m2, f4e2m1.
bool is_small_float(DType dtype);

// False for those of 6 and 4 bits, which have no infinity either.
bool has_nan(DType dtype);

// The value of a code of such a type.
double small_float_value(DType dtype, uint8_t code);

// Of f8e8m0 only, which holds powers of two: the next one up or down, or the nearest (half way: up).
enum class PowerRounding : uint8_t { up, down, nearest };

// The nearest value, ties to even. Beyond the largest value (also infinities): the largest value where `saturate` is
// set, else infinity or, in types without one, NaN; types that have neither always saturate and turn NaN into -0.
// f8e8m0 has no sign: the sign of `value` is dropped; below its smallest value (also 0): the smallest one where
// `saturate` is set, else NaN.
uint8_t small_float_code(DType dtype, double value, bool saturate = true, PowerRounding rounding = PowerRounding::up);

}  // namespace anyshape
