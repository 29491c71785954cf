#include "picture/layered.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

namespace anyshape::picture {
namespace {

// "0>1 1>2" as edges.
std::vector<Edge> edges_of(const std::string& text) {
  std::vector<Edge> out;
  std::istringstream words(text);
  Edge edge;
  for (char arrow = 0; words >> edge.from >> arrow >> edge.to;) out.push_back(edge);
  return out;
}

// "0 1|2|3": the layers, items in the order they are drawn, bends as `.`.
std::string layers_text(const Layered& drawing, uint32_t items) {
  std::string out;
  for (const auto& layer : drawing.layers) {
    out += out.empty() ? "" : "|";
    for (size_t i = 0; i < layer.size(); ++i)
      out += (i > 0 ? " " : "") + (layer[i] < items ? fmt::format("{}", layer[i]) : ".");
  }
  return out;
}

struct LayeredRow {
  uint32_t items;
  const char* edges;
  const char* layers;
  size_t crossings;
};

TEST(Layered, Rows) {
  const LayeredRow rows[] = {
      {0, "", "", 0},
      {1, "", "0", 0},
      {3, "", "0 1 2", 0},
      {3, "0>1 1>2", "0|1|2", 0},
      {3, "2>1 1>0", "2|1|0", 0},            // numbers say nothing of the order
      {3, "0>1 1>2 0>2", "0|1 .|2", 0},      // a bend where an edge passes a layer
      {4, "0>1 1>2 3>2", "0|1 3|2", 0},      // a source stands just above what it leads to
      {4, "0>3 1>2", "0 1|3 2", 0},          // sorted: nothing crosses
      {6, "0>5 1>4 2>3", "0 1 2|5 4 3", 0},  // the same of three
      {4, "0>2 0>3 1>2 1>3", "0 1|2 3", 1},  // one crossing no order removes
      {3, "0>1 0>1 1>2 1>2", "0|1|2", 0},    // two edges between the same two
      {7, "0>2 0>3 1>2 1>4 2>5 3>6 4>5", "0 1|3 2 4|6 5", 0},
  };
  for (const LayeredRow& row : rows) {
    const auto edges = edges_of(row.edges);
    const Layered drawing = lay_out(row.items, edges);
    EXPECT_EQ(layers_text(drawing, row.items), row.layers) << row.edges;
    EXPECT_EQ(crossings(drawing, edges), row.crossings) << row.edges;
  }
}

TEST(Layered, AnEdgePastManyLayersHasNoBends) {
  std::vector<Edge> edges;
  const uint32_t items = kFar + 3;
  for (uint32_t i = 0; i + 1 < items; ++i) edges.push_back({i, i + 1});
  edges.push_back({0, items - 1});
  edges.push_back({0, items - 2});
  const Layered drawing = lay_out(items, edges);
  EXPECT_TRUE(drawing.far[items - 1]);
  EXPECT_TRUE(drawing.bends[items - 1].empty());
  EXPECT_FALSE(drawing.far[items]);
  EXPECT_EQ(drawing.bends[items].size(), kFar);
}

// Every edge leads downwards, everything is drawn once, twice the same is the same, and no order is worse than the
// one the items came in.
TEST(Layered, RandomGraphs) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 50; ++round) {
    const auto items = static_cast<uint32_t>(2 + random() % 40);
    std::vector<Edge> edges;
    for (uint32_t e = static_cast<uint32_t>(random() % 80); e > 0; --e) {
      const auto a = static_cast<uint32_t>(random() % items), b = static_cast<uint32_t>(random() % items);
      if (a != b) edges.push_back({std::min(a, b), std::max(a, b)});
    }
    const Layered drawing = lay_out(items, edges);
    std::vector<size_t> at(items, SIZE_MAX);
    for (size_t l = 0; l < drawing.layers.size(); ++l) {
      for (uint32_t point : drawing.layers[l]) {
        if (point >= items) continue;
        EXPECT_EQ(at[point], SIZE_MAX);
        at[point] = l;
      }
    }
    for (const Edge& edge : edges) EXPECT_LT(at[edge.from], at[edge.to]);
    Layered unsorted = drawing;
    for (auto& layer : unsorted.layers) std::sort(layer.begin(), layer.end());
    EXPECT_LE(crossings(drawing, edges), crossings(unsorted, edges));
    EXPECT_EQ(lay_out(items, edges).layers, drawing.layers);
  }
}

}  // namespace
}  // namespace anyshape::picture
