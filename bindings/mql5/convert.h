#pragma once

#include <cstddef>
#include <cstdint>

#include "anyshape/dtype.h"

namespace anyshape::mql5 {

// Does MQL5 convert between a container and a tensor of these types? Equal ones are.
bool convertible(DType container, DType tensor);
// `count` entries of convertible types. Fractions are cut off; what does not fit loses its upper bits, and a float
// beyond 64 bits, or none at all, becomes the lower bits of -2^63, as the processors MetaTrader runs on do it.
void convert(DType from, const void* source, DType to, void* target, size_t count);

uint16_t half_of(double value);
double from_half(uint16_t bits);
uint16_t bfloat_of(double value);
double from_bfloat(uint16_t bits);

}  // namespace anyshape::mql5
