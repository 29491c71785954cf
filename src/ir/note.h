#pragma once

#include <string>
#include <string_view>

#include "ir/graph.h"

namespace anyshape {

// The metadata of nodes that fail where a condition does not hold under which the model was captured: its text. Of a
// file that is read nodes keep no other entry.
inline constexpr std::string_view kGuardNote = "guard";

// An entry of the node's metadata; null: there is none.
inline const std::string* note(const Node& node, std::string_view key) {
  if (!node.metadata) return nullptr;
  for (const auto& [name, value] : *node.metadata)
    if (name == key) return &value;
  return nullptr;
}

}  // namespace anyshape
