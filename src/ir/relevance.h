#pragma once

#include "ir/graph.h"

namespace anyshape {

// Marks as shape_relevant what the node needs the entries of, given the marks on its outputs and in its bodies.
void mark_needed(Graph& graph, const Node& node);

// While a body is made nobody knows yet who wants the entries of what it gives: all is marked as shape_relevant. With
// the whole graph at hand, only what is wanted stays so: weights that a branch works out are none of it. REQUIRES: the
// bodies are nobody else's.
void narrow_relevance(Graph& graph);

}  // namespace anyshape
