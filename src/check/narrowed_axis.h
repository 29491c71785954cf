#pragma once

#include <string>
#include <vector>

#include "anyshape/report.h"
#include "solve/accepted.h"

namespace anyshape {

// A condition that leaves an axis anything but all sizes from some least one on.
struct Narrowed {
  const AxisSymbol* axis = nullptr;
  const AcceptedCondition* condition = nullptr;
  std::string source;  // the line of the program that its first node comes from; empty: the file does not say
  std::string advice;  // what to write there
};

// In the order of the axes; those with one size left are among them.
std::vector<Narrowed> narrowed_axes(const Typed& typed, const AcceptedSet& accepted);

// Does every size from some least one on satisfy it, whatever the other symbols are?
bool only_bounds_below(const Condition& condition, Dim symbol);

// The call in the line with the size of the axis in place of `number`: "x.view(x.shape[0], -1)" for 3 and axis 0 in
// "model.py:12: y = x.view(3, -1)"; empty where the line has no such call.
std::string with_size_of_axis(std::string_view source, int64_t number, size_t axis);

}  // namespace anyshape
