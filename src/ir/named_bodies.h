#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "ir/graph.h"

namespace anyshape {

// Calls visit with the name of the attribute and each graph that the node has in it, alone or in a list.
template <class Visit>
void for_each_named_body(const Node& node, Visit visit) {
  for (const Attribute& attribute : node.attributes) {
    if (const auto* one = std::get_if<std::shared_ptr<Graph>>(&attribute.value))
      visit(attribute.name, std::as_const(**one));
    if (const auto* many = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute.value))
      for (const auto& body : *many) visit(attribute.name, std::as_const(*body));
  }
}

}  // namespace anyshape
