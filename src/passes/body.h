#pragma once

#include <memory>

#include "ir/graph.h"
#include "ir/infer.h"

namespace anyshape {

// The same graph with every call of a local function replaced by the nodes of its body.
std::shared_ptr<const Graph> inline_functions(std::shared_ptr<const Graph> graph);

// A body as a graph of its own: what it captures comes after its inputs. Types of inputs are those all runs of the body
// have in common, as far as the walk over the outer graph revealed them in `known`, which may be null. Sizes that it
// gives by one expression get one name.
std::shared_ptr<const Graph> closed_body(const Graph& body, const Facts& outer, const Facts* known);

}  // namespace anyshape
