#pragma once

#include "ir/fact.h"
#include "ir/graph.h"

namespace anyshape {

// Nodes that broadcast read what an Expand reads where that changes no size of theirs; an Expand that nobody reads any
// more is left for dead. `facts` by value id.
void skip_expands(Graph& graph, const Facts& facts);

// Drops the nodes whose outputs nobody reads, and what bodies captured for them.
void drop_dead(Graph& graph);

// The graph as if it had been read from a file: no values that nobody makes or reads, here and in the bodies; captured
// values have the names of what they capture; what rules read is marked anew. `facts` get the new ids.
void settle(Graph& graph, Facts& facts);

// Nodes here and in bodies point at the records of this table from now on, which the graph keeps.
void resolve(Graph& graph, const std::shared_ptr<const OpTable>& ops);

// Inputs and outputs are declared as what is known of them; a size that is no number is named by its expression.
// `facts` by value id.
void declare_ends(Graph& graph, const Facts& facts);

}  // namespace anyshape
