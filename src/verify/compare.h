#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "anyshape/tolerance.h"
#include "base/error.h"
#include "tensor/datum.h"

namespace anyshape {

// Empty when the two values are the same: kinds, element types, sizes; entries of floats within the tolerance (NaN
// equals NaN), all others equal. Otherwise one sentence with the first difference.
std::string difference(const Datum& got, const Datum& want, const Tolerance& tolerance);

// Two right computations of one value.
struct Computed {
  Datum one, other;
};

// The same, where right computations of the value are known to lie apart: entries beyond the tolerance may differ as
// much as those do, none of them more than the furthest times kNoise, and all together (the root of the mean square)
// no more than all of those times kNoise.
std::string difference(const Datum& got, const Datum& want, const Tolerance& tolerance,
                       const std::vector<Computed>& right);
inline constexpr double kNoise = 4;

// Two values that differ by more, and what plain loops make of the same: do both lie about as far from that as from
// each other (kNoise times, at most)? Then none of the two is the better one: it is the sums they are made of that
// cancel. Of a wrong one and a right one the right one lies nearer.
bool equally_right(const Datum& one, const Datum& other, const Datum& plain);

// A copy of a tensor of f32 or f64, or of what holds such, with each entry the next number above or below, as drawn.
// Others are given back as they are. Error "tensor.memory".
Result<Datum> nudged(const Datum& value, uint64_t seed);

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
