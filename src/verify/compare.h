#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "anyshape/tolerance.h"
#include "tensor/datum.h"

namespace anyshape {

// Empty when the two values are the same: kinds, element types, sizes; entries of floats within the tolerance (NaN
// equals NaN), all others equal. Otherwise one sentence with the first difference.
std::string difference(const Datum& got, const Datum& want, const Tolerance& tolerance);

// The largest |got - want| / max(|want|, 1e-6 * max |want| of the tensor) over all entries of floats; 0 for others.
// REQUIRES: difference() found no difference but in entries.
double largest_relative_error(const Datum& got, const Datum& want);

// No entry of an f32 tensor is infinite or NaN.
bool all_finite(const Datum& value);

// For each of `names` its place among `others`: by name where all are there, else by order. nullopt: there are more of
// the ones than of the others.
std::optional<std::vector<size_t>> matched(const std::vector<std::string>& names,
                                           const std::vector<std::string>& others);

}  // namespace anyshape
