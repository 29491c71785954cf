#pragma once

#include <memory>
#include <vector>

#include "ir/graph.h"

namespace anyshape {

// The nodes that make these values and all they are made of, as a graph that gives these values; ids of values stay.
std::shared_ptr<const Graph> backward_slice(const Graph& graph, const std::vector<ValueId>& wanted);

}  // namespace anyshape
