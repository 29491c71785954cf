#pragma once

#include "solve/solve.h"

namespace anyshape {

// The symbols of the input axes, and the facts of the required inputs in those symbols. Equal usable names share a
// symbol.
struct InputAxes {
  std::vector<AxisSymbol> symbols;
  Facts facts;
};
InputAxes input_axes(const Graph& graph, Symbols& symbols);

// What the file declares for one axis: a number a shape must equal, or nullopt (dim_value <= 0 means "any" in real
// files).
std::optional<int64_t> fixed_size(const DeclaredDim& dim);

}  // namespace anyshape
