#pragma once

#include <vector>

#include "engine/executable/limits.h"
#include "ir/graph.h"

namespace anyshape {

// Runs a graph node by node with reference kernels, the rules giving the sizes from the values at hand. Slow and
// obviously right: what plans are compared with. `inputs` in order of graph.required_inputs(). Errors: those of rules
// and kernels, their place the node; "run.missing" for an operator without a rule or kernel.
Result<std::vector<Datum>> run_reference(const Graph& graph, std::vector<Datum> inputs, uint64_t seed = 0,
                                         const RunLimits& limits = {});

}  // namespace anyshape
