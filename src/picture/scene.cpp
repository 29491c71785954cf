#include "picture/scene.h"

#include <algorithm>
#include <string_view>

#include "ir/named_bodies.h"

namespace anyshape::picture {
namespace {

// Names with more parts than these, and bodies in bodies, are no structure anyone wrote.
constexpr size_t kMostGroups = 16;

// "/encoder/layer.0/MatMul" as encoder, layer.0.
std::vector<std::string> groups_of(std::string_view name) {
  std::vector<std::string> out;
  for (size_t slash = name.find('/'); slash != std::string_view::npos && out.size() < kMostGroups;
       slash = name.find('/')) {
    if (slash > 0) out.emplace_back(name.substr(0, slash));
    name.remove_prefix(slash + 1);
  }
  return out;
}

class Maker {
 public:
  Maker(const Typed& typed, Scene& scene) : typed_(typed), scene_(scene) {}

  void collect(const Graph& graph, const Facts& facts, size_t depth);
  uint32_t draw(const Part& part, std::string title, uint32_t parent);

 private:
  bool folds(const Part& part, const Node& node) const;
  bool has_line(const Part& part, ValueId id) const;
  std::vector<uint32_t> lines(const Part& part, const std::vector<ValueId>& ids) const;
  uint32_t draw_bodies(const Node& node, std::string title);

  const Typed& typed_;
  Scene& scene_;
};

// Each body with what it is to the node: "then_branch".
template <class Visit>
void for_all_bodies(const Node& node, Visit visit) {
  if (node.body) visit("function", *node.body);
  for_each_named_body(node, visit);
}

void Maker::collect(const Graph& graph, const Facts& facts, size_t depth) {
  uint32_t nodes = 0;
  if (!scene_.parts.empty()) {
    const Part& last = scene_.parts.back();
    nodes = last.first_node + static_cast<uint32_t>(last.graph->nodes.size());
  }
  scene_.numbers.emplace(&graph, static_cast<uint32_t>(scene_.parts.size()));
  scene_.parts.push_back({&graph, &facts, scene_.values, nodes});
  scene_.values += static_cast<uint32_t>(graph.values.size());
  if (depth == kMostGroups) return;
  for (const Node& node : graph.nodes)
    for_all_bodies(node, [&](std::string_view, const Graph& body) {
      const auto known = typed_.bodies().find(&body);
      if (known != typed_.bodies().end() && !scene_.part_of(body)) collect(body, known->second, depth + 1);
    });
}

// What a node computes from shapes and constants alone is no part of the picture, unless it is asked for as a result.
bool Maker::folds(const Part& part, const Node& node) const {
  const auto& outputs = part.graph->outputs;
  return std::all_of(node.out.begin(), node.out.end(), [&](ValueId id) {
    if (id == kNoValue) return true;
    return (*part.facts)[id].from_shapes && std::find(outputs.begin(), outputs.end(), id) == outputs.end();
  });
}

bool Maker::has_line(const Part& part, ValueId id) const {
  if (id == kNoValue || part.graph->values[id].is_initializer) return false;
  const uint32_t producer = part.graph->values[id].producer;
  return producer == kNoValue || !scene_.folded[part.first_node + producer];
}

std::vector<uint32_t> Maker::lines(const Part& part, const std::vector<ValueId>& ids) const {
  std::vector<uint32_t> out;
  for (ValueId id : ids)
    if (has_line(part, id)) out.push_back(part.first_value + id);
  return out;
}

uint32_t Maker::draw_bodies(const Node& node, std::string title) {
  std::vector<std::pair<std::string, const Part*>> all;
  for_all_bodies(node, [&](std::string_view role, const Graph& body) {
    if (const Part* part = scene_.part_of(body)) all.emplace_back(role, part);
  });
  if (all.empty()) return kNone;
  if (all.size() == 1) return draw(*all.front().second, std::move(title), kNone);
  const auto holder = static_cast<uint32_t>(scene_.levels.size());
  scene_.levels.push_back({std::move(title), kNone, 0, {}, {}, {}});
  for (const auto& [role, body] : all) {
    const uint32_t level = draw(*body, role, holder);
    Level& holds = scene_.levels[holder];
    holds.items.push_back({Item::Kind::group, kNone, level});
    holds.nodes += scene_.levels[level].nodes;
  }
  Level& holds = scene_.levels[holder];
  holds.drawing = lay_out(static_cast<uint32_t>(holds.items.size()), {});
  return holder;
}

uint32_t Maker::draw(const Part& part, std::string title, uint32_t parent) {
  const Graph& graph = *part.graph;
  for (uint32_t n = 0; n < graph.nodes.size(); ++n) scene_.folded[part.first_node + n] = folds(part, graph.nodes[n]);
  Drawn drawn;
  for (uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (scene_.folded[part.first_node + n]) continue;
    const ValueId first = node.first_output();
    const std::string& name = node.name.empty() && first != kNoValue ? graph.values[first].name : node.name;
    drawn.nodes.push_back({part.first_node + n, groups_of(name), lines(part, node.in), lines(part, node.out),
                           draw_bodies(node, graph.label(node))});
  }
  for (ValueId id : graph.required_inputs()) drawn.inputs.push_back(part.first_value + id);
  drawn.outputs = lines(part, graph.outputs);
  const uint32_t made = add_levels(drawn, std::move(title), parent, scene_.levels);
  for (uint32_t level = made; level < scene_.levels.size(); ++level)
    for (const Item& item : scene_.levels[level].items)
      if (item.kind == Item::Kind::node && item.level != kNone) scene_.levels[item.level].parent = level;
  return made;
}

}  // namespace

const Part* Scene::part_of(const Graph& graph) const {
  const auto found = numbers.find(&graph);
  return found == numbers.end() ? nullptr : &parts[found->second];
}

Scene make_scene(const Typed& typed) {
  Scene out;
  Maker maker(typed, out);
  maker.collect(typed.graph(), typed.facts(), 0);
  out.folded.resize(out.parts.back().first_node + out.parts.back().graph->nodes.size());
  out.top = maker.draw(out.parts.front(), "", kNone);
  return out;
}

}  // namespace anyshape::picture
