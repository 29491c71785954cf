#pragma once

#include <memory>
#include <vector>

#include "ir/graph.h"

namespace anyshape {

// The inputs that have a default value (an initializer): a caller may feed them.
std::vector<ValueId> optional_inputs(const Graph& graph);

// The same graph in which these optional inputs have no default: they must be fed.
std::shared_ptr<const Graph> without_defaults(const Graph& graph, const std::vector<ValueId>& inputs);

}  // namespace anyshape
