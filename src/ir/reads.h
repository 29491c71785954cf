#pragma once

#include "ir/graph.h"

namespace anyshape {

// Calls visit with every value that the node reads, or its bodies capture.
template <class Visit>
void for_each_read(const Node& node, Visit visit) {
  for (ValueId id : node.in)
    if (id != kNoValue) visit(id);
  for_each_body(node, [&](const Graph& body) {
    for (const auto& capture : body.captures) visit(capture.outer);
  });
}

}  // namespace anyshape
