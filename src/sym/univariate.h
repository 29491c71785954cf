#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "sym/condition.h"

// The exact decision procedure for conditions of one symbol; private to sym/.
namespace anyshape {

// Runs of values where a conjunction holds: first, first + period, ... up to last (missing: without end).
struct Run {
  int64_t first = 0;
  std::optional<int64_t> last;
};
struct Solution {
  int64_t period = 1;
  std::vector<std::vector<Run>> runs;  // per residue, in order
};

// All of the conditions (negated where the flag is set) over lo..hi. nullopt past the limits, when another symbol
// occurs, or when one is not defined everywhere. `stop_at_first` ends with the first member found.
using Goals = std::vector<std::pair<const Condition*, bool>>;
std::optional<Solution> solve_univariate(const Goals& goals, Dim symbol, int64_t lo, std::optional<int64_t> hi,
                                         bool stop_at_first = false);
// Whether any value at all satisfies them; a missing end is unbounded. unknown past the limits.
Tri satisfiable_univariate(const Goals& goals, Dim symbol, std::optional<int64_t> lo, std::optional<int64_t> hi);

}  // namespace anyshape
