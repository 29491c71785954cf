#pragma once

#include "kernels/regex.h"

namespace anyshape::kernels {

// A pattern as a tree. Nodes are named by their index.
struct RegexTree {
  struct Node {
    enum class Kind : uint8_t { empty, set, place, sequence, either, repeat };
    Kind kind = Kind::empty;
    Regex::Place place = Regex::Place::text_start;
    uint32_t set = 0;         // index into sets
    int least = 0, most = 0;  // of a repeat; most < 0: no end
    std::vector<uint32_t> children = {};
  };
  std::vector<Node> nodes;
  std::vector<Regex::Set> sets;  // ranges in order, apart from each other
  uint32_t root = 0;
};

// Errors: "regex.syntax", "regex.size"; kind unknown for what Regex does not know.
Result<RegexTree> parse_regex(std::string_view pattern);

}  // namespace anyshape::kernels
