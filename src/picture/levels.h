#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "picture/layered.h"

// The nodes of a graph in levels, by the parts of their names: a group is one item of the level it stands in, and a
// level of its own.
namespace anyshape::picture {

inline constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

// What is to be drawn. Nodes stand in an order in which every value is made before it is read.
struct Drawn {
  struct Node {
    uint32_t id = 0;
    std::vector<std::string> groups;  // it stands in, the outermost first
    std::vector<uint32_t> in, out;    // values that lines are drawn for
    uint32_t level = kNone;           // of its bodies, which exists already
  };
  std::vector<Node> nodes;
  std::vector<uint32_t> inputs, outputs;  // values of the whole graph
};

struct Item {
  enum class Kind : uint8_t {
    node,    // id: of the node; level: of its bodies, or kNone
    group,   // level
    input,   // id: a value that is made outside of the level
    output,  // id: a value that is read outside of the level
  };
  Kind kind = Kind::node;
  uint32_t id = kNone, level = kNone;
};

// All values that one item reads of another.
struct Wire {
  Edge ends;
  std::vector<uint32_t> values;
};

struct Level {
  std::string title;  // the part of the name, "layers.0/attention" where nothing else stands between
  uint32_t parent = kNone;
  uint32_t nodes = 0;  // in it and in its groups
  std::vector<Item> items;
  std::vector<Wire> wires;
  Layered drawing;
};

// Appends the levels of the graph and gives the number of its own. A group that values leave and come back to is cut
// in parts, "attention", "attention (2)": no level has a cycle. One that would hold a single node is not made.
uint32_t add_levels(const Drawn& drawn, std::string title, uint32_t parent, std::vector<Level>& levels);

}  // namespace anyshape::picture
