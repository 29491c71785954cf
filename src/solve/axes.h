#pragma once

#include "solve/solve.h"

namespace anyshape {

// The symbols of the input axes, and the facts of the required inputs in those symbols. Equal usable names share a
// symbol if `tied`.
struct InputAxes {
  std::vector<AxisSymbol> symbols;
  Facts facts;
  bool tied = true;
};
InputAxes input_axes(const Graph& graph, Symbols& symbols, bool tied = true);

// What the file declares for one axis: a number a shape must equal, or nullopt (dim_value <= 0 means "any" in real
// files).
std::optional<int64_t> fixed_size(const DeclaredDim& dim);

}  // namespace anyshape
