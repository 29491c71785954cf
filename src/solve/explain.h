#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "anyshape/report.h"
#include "solve/solve.h"

namespace anyshape {

// An axis of a value or, in a chain of shape arithmetic, one of its entries.
struct Spot {
  // A graph or a body, and what is known of its values.
  struct Scope {
    const Graph* graph = nullptr;
    const Facts* facts = nullptr;
  };
  Scope scope;
  ValueId value = kNoValue;
  size_t index = 0;
  bool entry = false;
};

// Why a size is what it is: `before`, and where it names the spot the size comes from, its words and `after`.
struct SizeCause {
  std::string before, after;
  bool names_next = false;
  std::optional<Spot> next;  // absent: the chain ends here

  std::string reason() const;
};

// One link of a chain. REQUIRES: the graph is that of `typed` or one of its bodies(), the spot is there.
SizeCause cause_of(const Typed& typed, const Spot& spot);

// The chain from `value` axis `axis` back to inputs and constants. Usage errors explain.value, explain.axis.
Result<AxisStory> explain_axis(const Typed& typed, std::string_view value, int64_t axis);

// Of the axis `text` names as "VALUE:AXIS", or of every axis of the value it names.
Result<std::vector<AxisStory>> explain_axes(const Typed& typed, std::string_view text);

// The number of axes of a value, of the main graph or of a body. Error (usage) "explain.value" with the nearest name.
Result<size_t> rank_of(const Typed& typed, std::string_view value);
// "NAME:AXIS" split from the right; no axis when what follows the last colon is no number.
std::pair<std::string_view, std::optional<int64_t>> split_axis(std::string_view text);

}  // namespace anyshape
