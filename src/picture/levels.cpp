#include "picture/levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace anyshape::picture {
namespace {

// Items that only grow by edges from those that are there: finds out whether one more edge would close a cycle.
class Ranks {
 public:
  uint32_t add() {
    below_.emplace_back();
    rank_.push_back(0);
    return static_cast<uint32_t>(rank_.size() - 1);
  }
  // False, and nothing is changed, when some item of `above` can be reached from `item`, or it takes too long to tell.
  bool join(const std::set<uint32_t>& above, uint32_t item);

 private:
  static constexpr size_t kMostWork = 4'000'000;  // of all calls

  bool reaches(uint32_t from, const std::set<uint32_t>& wanted);
  void lift(uint32_t item, uint32_t least);

  std::vector<std::vector<uint32_t>> below_;
  std::vector<uint32_t> rank_;  // greater than that of every item above
  size_t work_ = 0;
};

bool Ranks::reaches(uint32_t from, const std::set<uint32_t>& wanted) {
  uint32_t highest = 0;
  for (uint32_t item : wanted) highest = std::max(highest, rank_[item]);
  std::vector<uint32_t> todo = {from};
  std::set<uint32_t> seen = {from};
  while (!todo.empty()) {
    const uint32_t at = todo.back();
    todo.pop_back();
    for (uint32_t to : below_[at]) {
      if (++work_ > kMostWork || wanted.contains(to)) return true;
      if (rank_[to] < highest && seen.insert(to).second) todo.push_back(to);
    }
  }
  return false;
}

void Ranks::lift(uint32_t item, uint32_t least) {
  std::vector<std::pair<uint32_t, uint32_t>> todo = {{item, least}};
  while (!todo.empty()) {
    const auto [at, rank] = todo.back();
    todo.pop_back();
    ++work_;
    if (rank_[at] >= rank) continue;
    rank_[at] = rank;
    for (uint32_t to : below_[at]) todo.emplace_back(to, rank + 1);
  }
}

bool Ranks::join(const std::set<uint32_t>& above, uint32_t item) {
  const bool higher = std::any_of(above.begin(), above.end(), [&](uint32_t one) { return rank_[one] >= rank_[item]; });
  if (higher && !below_[item].empty() && (work_ > kMostWork || reaches(item, above))) return false;
  for (uint32_t one : above) {
    if (std::find(below_[one].begin(), below_[one].end(), item) == below_[one].end()) below_[one].push_back(item);
    lift(item, rank_[one] + 1);
  }
  return true;
}

class Builder {
 public:
  Builder(const Drawn& drawn, std::vector<Level>& levels)
      : drawn_(drawn), levels_(levels), outputs_(drawn.outputs.begin(), drawn.outputs.end()) {
    for (uint32_t n = 0; n < drawn.nodes.size(); ++n) {
      for (uint32_t value : drawn.nodes[n].out) maker_[value] = n;
      for (uint32_t value : drawn.nodes[n].in) readers_[value].push_back(n);
    }
    at_.resize(drawn.nodes.size());
  }

  uint32_t build(std::string title, uint32_t parent, const std::vector<uint32_t>& nodes, size_t depth);

 private:
  struct Part {
    std::string group;
    std::vector<uint32_t> nodes;
  };
  // Where a node stands: meant for the level that is being built.
  struct At {
    uint32_t level = kNone, item = kNone;
  };

  std::vector<Part> parts(const std::vector<uint32_t>& nodes, size_t depth) const;
  void place(uint32_t level, const std::vector<Part>& parts);
  void connect(uint32_t level, const std::vector<uint32_t>& nodes, bool whole);
  uint32_t port(Level& level, std::map<uint32_t, uint32_t>& ports, Item::Kind kind, uint32_t value) const;
  bool leaves(uint32_t level, uint32_t value) const;
  void descend(uint32_t level, std::vector<Part> parts, size_t depth);
  const std::string* group(uint32_t node, size_t depth) const {
    const auto& groups = drawn_.nodes[node].groups;
    return depth < groups.size() ? &groups[depth] : nullptr;
  }

  const Drawn& drawn_;
  std::vector<Level>& levels_;
  std::unordered_map<uint32_t, uint32_t> maker_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> readers_;
  std::set<uint32_t> outputs_;
  std::vector<At> at_;
};

std::vector<Builder::Part> Builder::parts(const std::vector<uint32_t>& nodes, size_t depth) const {
  std::vector<Part> out;
  std::map<std::string, uint32_t> open;
  std::map<uint32_t, uint32_t> part_of;
  Ranks ranks;
  for (uint32_t node : nodes) {
    std::set<uint32_t> above;
    for (uint32_t value : drawn_.nodes[node].in)
      if (const auto maker = maker_.find(value); maker != maker_.end())
        if (const auto part = part_of.find(maker->second); part != part_of.end()) above.insert(part->second);
    const std::string* name = group(node, depth);
    auto is_open = name ? open.find(*name) : open.end();
    if (is_open != open.end()) {
      std::set<uint32_t> others = above;
      others.erase(is_open->second);
      if (!ranks.join(others, is_open->second)) is_open = open.end();
    }
    const uint32_t part = is_open != open.end() ? is_open->second : ranks.add();
    if (part == out.size()) {
      ranks.join(above, part);
      out.push_back({name ? *name : "", {}});
      if (name) open[*name] = part;
    }
    out[part].nodes.push_back(node);
    part_of[node] = part;
  }
  return out;
}

void Builder::place(uint32_t level, const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    const auto item = static_cast<uint32_t>(levels_[level].items.size());
    for (uint32_t node : part.nodes) at_[node] = {level, item};
    const Drawn::Node& first = drawn_.nodes[part.nodes.front()];
    const bool alone = part.nodes.size() == 1;
    levels_[level].items.push_back(alone ? Item{Item::Kind::node, first.id, first.level} : Item{Item::Kind::group});
  }
}

uint32_t Builder::port(Level& level, std::map<uint32_t, uint32_t>& ports, Item::Kind kind, uint32_t value) const {
  const auto [it, made] = ports.try_emplace(value, static_cast<uint32_t>(level.items.size()));
  if (made) level.items.push_back({kind, value});
  return it->second;
}

bool Builder::leaves(uint32_t level, uint32_t value) const {
  if (outputs_.contains(value)) return true;
  const auto readers = readers_.find(value);
  return readers != readers_.end() && std::any_of(readers->second.begin(), readers->second.end(),
                                                  [&](uint32_t node) { return at_[node].level != level; });
}

void Builder::connect(uint32_t level, const std::vector<uint32_t>& nodes, bool whole) {
  Level& to = levels_[level];
  std::map<uint32_t, uint32_t> in, out;
  std::map<std::pair<uint32_t, uint32_t>, std::set<uint32_t>> wires;
  for (uint32_t node : nodes) {
    const uint32_t item = at_[node].item;
    for (uint32_t value : drawn_.nodes[node].in) {
      const auto maker = maker_.find(value);
      const bool here = maker != maker_.end() && at_[maker->second].level == level;
      const uint32_t from = here ? at_[maker->second].item : port(to, in, Item::Kind::input, value);
      if (from != item) wires[{from, item}].insert(value);
    }
    for (uint32_t value : drawn_.nodes[node].out)
      if (leaves(level, value)) wires[{item, port(to, out, Item::Kind::output, value)}].insert(value);
  }
  if (whole) {
    for (uint32_t value : drawn_.inputs) port(to, in, Item::Kind::input, value);
    for (uint32_t value : drawn_.outputs)
      if (!maker_.contains(value))
        wires[{port(to, in, Item::Kind::input, value), port(to, out, Item::Kind::output, value)}].insert(value);
  }
  for (const auto& [ends, values] : wires)
    to.wires.push_back({{ends.first, ends.second}, {values.begin(), values.end()}});
  std::vector<Edge> edges;
  for (const Wire& wire : to.wires) edges.push_back(wire.ends);
  to.drawing = lay_out(static_cast<uint32_t>(to.items.size()), edges);
}

void Builder::descend(uint32_t level, std::vector<Part> parts, size_t depth) {
  std::map<std::string, int> count;
  for (size_t i = 0; i < parts.size(); ++i) {
    Part& part = parts[i];
    if (part.nodes.size() == 1) continue;
    const int number = ++count[part.group];
    std::string title = number == 1 ? part.group : fmt::format("{} ({})", part.group, number);
    size_t below = depth + 1;
    const auto same = [&](uint32_t node) {
      const std::string *first = group(part.nodes.front(), below), *here = group(node, below);
      return first && here && *first == *here;
    };
    for (; std::all_of(part.nodes.begin(), part.nodes.end(), same); ++below)
      title += '/' + *group(part.nodes.front(), below);
    const uint32_t made = build(std::move(title), level, part.nodes, below);
    levels_[level].items[i].level = made;
  }
}

uint32_t Builder::build(std::string title, uint32_t parent, const std::vector<uint32_t>& nodes, size_t depth) {
  const auto level = static_cast<uint32_t>(levels_.size());
  levels_.push_back({std::move(title), parent, static_cast<uint32_t>(nodes.size()), {}, {}, {}});
  std::vector<Part> made = parts(nodes, depth);
  place(level, made);
  connect(level, nodes, depth == 0);
  descend(level, std::move(made), depth);
  return level;
}

}  // namespace

uint32_t add_levels(const Drawn& drawn, std::string title, uint32_t parent, std::vector<Level>& levels) {
  std::vector<uint32_t> all(drawn.nodes.size());
  for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  return Builder(drawn, levels).build(std::move(title), parent, all, 0);
}

}  // namespace anyshape::picture
