#pragma once

#include "ir/fact.h"
#include "ir/graph.h"

namespace anyshape {

// Nodes that broadcast read what an Expand reads where that changes no size of theirs; an Expand that nobody reads any
// more is left for dead. `facts` by value id.
void skip_expands(Graph& graph, const Facts& facts);

}  // namespace anyshape
