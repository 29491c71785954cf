#pragma once

#include <string>

#include "ir/graph.h"

namespace anyshape {

// Inputs, constants that are read, and nodes, a line each: values with their facts, attributes, the node's label. Long
// lists are cut.
std::string print_graph(const Graph& graph, const Facts& facts);

}  // namespace anyshape
