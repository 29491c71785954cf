#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "solve/solve.h"

namespace anyshape {

// One step of the way from an axis back to where its size comes from.
struct ExplainStep {
  std::string value;  // whose axis this line is about
  size_t axis = 0;
  bool entry = false;    // `axis` is the index of an entry of a shape tensor, `size` that entry
  std::string size;      // the axis as an expression
  std::string node, op;  // the node that makes the value; empty for inputs and initialisers
  std::string reason;    // "input axis, dynamic", "the target's literal 120", ...
};

// The chain from `value` axis `axis` back to inputs and constants, the axis asked for first, the cause last. The
// conclusion is one sentence: why it is static or dynamic. Error (usage) "explain.value", "explain.axis".
struct Explanation {
  std::vector<ExplainStep> steps;
  std::string conclusion;
};
Result<Explanation> explain(const Typed& typed, std::string_view value, int64_t axis);

// The number of axes of a value, of the main graph or of a body. Error (usage) "explain.value" with the nearest name.
Result<size_t> rank_of(const Typed& typed, std::string_view value);
// "NAME:AXIS" split from the right; no axis when what follows the last colon is no number.
std::pair<std::string_view, std::optional<int64_t>> split_axis(std::string_view text);

}  // namespace anyshape
