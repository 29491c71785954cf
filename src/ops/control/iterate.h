#pragma once

#include <functional>

#include "ops/control/bodies.h"

namespace anyshape::ops {

// A body that runs again and again: what Loop and Scan have in common.
struct Iteration {
  const Graph* body = nullptr;
  // The body's inputs at that iteration, given the carried values.
  std::function<Facts(Dim number, const Facts& carried)> inputs;
  size_t carried_at = 0;  // index of the first carried value among the body's outputs
  size_t carried = 0;
  bool fixed_dims = false;        // carried values keep their dims (Scan); otherwise they may grow
  std::string_view code;          // of requirements: "loop", "scan"
  std::optional<size_t> ends_by;  // the output of the body that says whether another iteration follows
  // Whether another iteration follows: nullopt when the body's outputs do not tell.
  std::function<Tri(const Facts& outputs)> goes_on;
};

struct Iterated {
  Facts carried;
  Facts scans;  // of one iteration where `stacked` is false
  bool stacked = false;
  Dim count = 0;      // of iterations
  bool exact = true;  // the count and every size are what they are, not just any that may be
};

// Where sizes are symbols, loops of a known number of iterations up to this are walked one by one.
inline constexpr int64_t kUnrolled = 32;

// How many iterations there may be.
struct Trips {
  std::optional<Dim> limit;  // >= 0; absent: only the body ends it
  Condition starts;          // what besides the limit the first iteration needs
  bool from_shapes = true;   // what decides the count is a function of shapes
  bool from_sizes = false;   // sizes have a part in it, be it beside data

  Condition at_least(int64_t count) const { return limit ? starts && Condition::ge(*limit, count) : starts; }
};

// One after the other, while it is known that another follows, at most `budget` of them. nullopt: it is not known, or
// there are more.
Result<std::optional<Iterated>> iterate_known(InferContext& context, const Iteration& iteration, Facts carried,
                                              std::optional<int64_t> limit, int64_t budget);

// Any number of iterations at once: carried values are generalised to what holds at the start of every one of them.
Result<Iterated> iterate_any(InferContext& context, Iteration iteration, const Facts& initial, Trips trips);

}  // namespace anyshape::ops
