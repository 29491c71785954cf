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

}  // namespace anyshape
