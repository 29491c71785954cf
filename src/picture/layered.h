#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// A drawing of a graph in layers: every edge leads downwards, few of them cross.
namespace anyshape::picture {

struct Edge {
  uint32_t from = 0, to = 0;
};

struct Layered {
  // What is drawn, layer by layer, from left to right. Numbers past the items are bends of edges.
  std::vector<std::vector<uint32_t>> layers;
  // Of each edge from top to bottom, one for every layer it passes.
  std::vector<std::vector<uint32_t>> bends;
  // Of each edge: it passes more layers than a line can be followed through, and has no bends.
  std::vector<bool> far;
};

// Edges that pass more layers than these are far.
inline constexpr uint32_t kFar = 12;

// Layers by the longest path, those without an edge that leads to them just above the first they lead to; then sweeps
// that sort each layer by the mean place of its neighbours. The same graph gives the same drawing. REQUIRES: no cycle.
Layered lay_out(uint32_t items, const std::vector<Edge>& edges);

// Pairs of lines between neighbouring layers that cross.
size_t crossings(const Layered& drawing, const std::vector<Edge>& edges);

}  // namespace anyshape::picture
