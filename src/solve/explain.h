#pragma once

#include <string>
#include <vector>

#include "solve/solve.h"

namespace anyshape {

// One step of the way from an axis back to where its size comes from.
struct ExplainStep {
  std::string value;  // whose axis this line is about
  size_t axis = 0;
  std::string size;      // the axis as an expression
  std::string node, op;  // the node that makes the value; empty for inputs and initialisers
  std::string
      reason;  // "conv window 3, stride 2 over axis 2 of x", "input axis, dynamic", "the target's literal 120", ...
};

// The chain from `value` axis `axis` back to inputs and constants, the axis asked for first, the cause last. The
// conclusion is one sentence: why it is static or dynamic. Error (usage) "explain.value", "explain.axis".
struct Explanation {
  std::vector<ExplainStep> steps;
  std::string conclusion;
};
Result<Explanation> explain(const Typed& typed, std::string_view value, int64_t axis);

}  // namespace anyshape
