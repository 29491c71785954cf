#pragma once

#include <string>

#include "tensor/datum.h"

namespace anyshape {

struct Tolerance {
  double relative = 1e-3, absolute = 1e-5;
};

// Empty when the two values are the same: kinds, element types, sizes; entries of floats within
// absolute + relative * |want| (NaN equals NaN), all others equal. Otherwise one sentence with the first difference.
std::string difference(const Datum& got, const Datum& want, const Tolerance& tolerance);

// The largest |got - want| / max(|want|, 1e-6 * max |want| of the tensor) over all entries of floats; 0 for others.
// REQUIRES: difference() found no difference but in entries.
double largest_relative_error(const Datum& got, const Datum& want);

}  // namespace anyshape
