#pragma once

#include <compare>
#include <string>

namespace anyshape {

// The node that demands something, and what it says.
struct Reason {
  std::string node, op, code, sentence;

  friend auto operator<=>(const Reason&, const Reason&) = default;
};

}  // namespace anyshape
