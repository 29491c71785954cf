#pragma once

#include <vector>

#include "ir/fact.h"
#include "ir/graph.h"

namespace anyshape {

// Some of these tensors, or of the items of these sequences, have no known rank; `in` as for infer_node().
bool lacks_rank(const std::vector<const Fact*>& in);

// The rule of the node refuses some rank of such an input. Found by asking it at each small rank, with numbers for all
// sizes; two sizes that need not be equal are not. REQUIRES: the node has a rule and no body.
bool refuses_some_rank(const Graph& graph, const Node& node, const std::vector<const Fact*>& in);

}  // namespace anyshape
