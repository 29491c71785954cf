#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "picture/levels.h"
#include "solve/solve.h"

// What a page shows of a model: its graphs in levels, without the nodes that compute nothing but sizes.
namespace anyshape::picture {

// The graph of the model or a body; its values and nodes have numbers over all graphs, from these on.
struct Part {
  const Graph* graph = nullptr;
  const Facts* facts = nullptr;
  uint32_t first_value = 0, first_node = 0;
};

struct Scene {
  std::vector<Part> parts;                             // that of the model first
  std::unordered_map<const Graph*, uint32_t> numbers;  // of parts
  std::vector<bool> folded;                            // by node
  std::vector<Level> levels;                           // that of the model is `top`
  uint32_t top = 0;
  uint32_t values = 0;

  // The part a body is, or null where nothing is known of it.
  const Part* part_of(const Graph& graph) const;
};

Scene make_scene(const Typed& typed);

}  // namespace anyshape::picture
