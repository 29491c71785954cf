#include "picture/layered.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace anyshape::picture {
namespace {

constexpr int kSweeps = 12;
constexpr int kSweepsWithoutGain = 3;

using Lists = std::vector<std::vector<uint32_t>>;

// Items in an order in which every edge leads onwards.
std::vector<uint32_t> in_order(uint32_t items, const Lists& below) {
  std::vector<uint32_t> waits(items), order;
  for (const auto& list : below)
    for (uint32_t to : list) ++waits[to];
  for (uint32_t i = 0; i < items; ++i)
    if (waits[i] == 0) order.push_back(i);
  for (size_t at = 0; at < order.size(); ++at)
    for (uint32_t to : below[order[at]])
      if (--waits[to] == 0) order.push_back(to);
  return order;
}

std::vector<uint32_t> longest_paths(uint32_t items, const std::vector<Edge>& edges) {
  Lists below(items);
  std::vector<bool> led_to(items);
  for (const Edge& edge : edges) {
    below[edge.from].push_back(edge.to);
    led_to[edge.to] = true;
  }
  std::vector<uint32_t> layer(items);
  for (uint32_t from : in_order(items, below))
    for (uint32_t to : below[from]) layer[to] = std::max(layer[to], layer[from] + 1);
  for (uint32_t i = 0; i < items; ++i) {
    if (led_to[i] || below[i].empty()) continue;
    uint32_t first = layer[below[i].front()];
    for (uint32_t to : below[i]) first = std::min(first, layer[to]);
    layer[i] = first - 1;
  }
  return layer;
}

// The lines between neighbouring layers: edges, cut at their bends.
struct Lines {
  Lists above, below;

  Lines(const Layered& drawing, const std::vector<Edge>& edges, size_t points) : above(points), below(points) {
    for (size_t e = 0; e < edges.size(); ++e) {
      if (drawing.far[e]) continue;
      uint32_t from = edges[e].from;
      for (uint32_t bend : drawing.bends[e]) add(std::exchange(from, bend), bend);
      add(from, edges[e].to);
    }
  }
  void add(uint32_t from, uint32_t to) {
    below[from].push_back(to);
    above[to].push_back(from);
  }
};

size_t points_of(const Layered& drawing) {
  size_t count = 0;
  for (const auto& layer : drawing.layers) count += layer.size();
  return count;
}

std::vector<uint32_t> places(const Lists& layers, size_t points) {
  std::vector<uint32_t> place(points);
  for (const auto& layer : layers)
    for (size_t i = 0; i < layer.size(); ++i) place[layer[i]] = static_cast<uint32_t>(i);
  return place;
}

// Pairs of numbers the greater of which stands first, counted by a tree of sums.
size_t inversions(const std::vector<uint32_t>& row, size_t width) {
  std::vector<size_t> sums(width + 1);
  size_t out = 0, seen = 0;
  for (uint32_t value : row) {
    size_t not_greater = 0;
    for (size_t i = value + 1; i > 0; i &= i - 1) not_greater += sums[i];
    out += seen++ - not_greater;
    for (size_t i = value + 1; i <= width; i += i & (~i + 1)) ++sums[i];
  }
  return out;
}

size_t count_crossings(const Lists& layers, const Lines& lines, const std::vector<uint32_t>& place) {
  size_t out = 0;
  std::vector<uint32_t> row;
  for (size_t l = 0; l + 1 < layers.size(); ++l) {
    row.clear();
    for (uint32_t from : layers[l]) {
      const size_t start = row.size();
      for (uint32_t to : lines.below[from]) row.push_back(place[to]);
      std::sort(row.begin() + static_cast<std::ptrdiff_t>(start), row.end());
    }
    out += inversions(row, layers[l + 1].size());
  }
  return out;
}

// Sorts a layer by the mean place of the neighbours on one side; who has none there stays where he is.
void sort_layer(std::vector<uint32_t>& layer, const Lists& neighbours, std::vector<uint32_t>& place) {
  std::vector<std::pair<double, uint32_t>> by_mean;
  for (uint32_t point : layer) {
    const auto& near = neighbours[point];
    double mean = place[point];
    if (!near.empty()) {
      const auto sum = std::accumulate(near.begin(), near.end(), uint64_t{0},
                                       [&](uint64_t all, uint32_t one) { return all + place[one]; });
      mean = static_cast<double>(sum) / static_cast<double>(near.size());
    }
    by_mean.emplace_back(mean, point);
  }
  std::stable_sort(by_mean.begin(), by_mean.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < layer.size(); ++i) {
    layer[i] = by_mean[i].second;
    place[layer[i]] = static_cast<uint32_t>(i);
  }
}

void sweep(Layered& drawing, const std::vector<Edge>& edges) {
  const size_t points = points_of(drawing);
  const Lines lines(drawing, edges, points);
  std::vector<uint32_t> place = places(drawing.layers, points);
  Lists now = drawing.layers;
  size_t best = count_crossings(now, lines, place);
  for (int round = 0, idle = 0; round < kSweeps && best > 0 && idle < kSweepsWithoutGain; ++round) {
    if (round % 2 == 0)
      for (auto& layer : now) sort_layer(layer, lines.above, place);
    else
      std::for_each(now.rbegin(), now.rend(), [&](auto& layer) { sort_layer(layer, lines.below, place); });
    const size_t count = count_crossings(now, lines, place);
    ++idle;
    if (count >= best) continue;
    best = count;
    idle = 0;
    drawing.layers = now;
  }
}

}  // namespace

Layered lay_out(uint32_t items, const std::vector<Edge>& edges) {
  const std::vector<uint32_t> layer = longest_paths(items, edges);
  Layered out;
  out.layers.resize(items == 0 ? 0 : *std::max_element(layer.begin(), layer.end()) + 1);
  out.bends.resize(edges.size());
  out.far.resize(edges.size());
  for (uint32_t i = 0; i < items; ++i) out.layers[layer[i]].push_back(i);
  uint32_t next = items;
  for (size_t e = 0; e < edges.size(); ++e) {
    const uint32_t first = layer[edges[e].from] + 1, end = layer[edges[e].to];
    out.far[e] = end - first > kFar;
    if (out.far[e]) continue;
    for (uint32_t l = first; l < end; ++l) {
      out.bends[e].push_back(next);
      out.layers[l].push_back(next++);
    }
  }
  sweep(out, edges);
  return out;
}

size_t crossings(const Layered& drawing, const std::vector<Edge>& edges) {
  const size_t points = points_of(drawing);
  return count_crossings(drawing.layers, Lines(drawing, edges, points), places(drawing.layers, points));
}

}  // namespace anyshape::picture
