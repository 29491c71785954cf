#pragma once

#include "ir/graph.h"

namespace anyshape {

// Calls visit with every graph that the node has as an attribute.
template <class Visit>
void for_each_body(const Node& node, Visit visit) {
  for (const Attribute& attribute : node.attributes) {
    if (const auto* one = std::get_if<std::shared_ptr<Graph>>(&attribute.value)) visit(**one);
    if (const auto* many = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute.value))
      for (const auto& body : *many) visit(*body);
  }
}

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
