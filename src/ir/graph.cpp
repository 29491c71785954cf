#include "ir/graph.h"

#include <algorithm>

namespace anyshape {
namespace {

bool reads_entries(const Node& node, size_t input) {
  if (!node.op || node.body || node.has_graph_attribute()) return true;
  const auto ports = node.op->sig.in;
  if (ports.empty()) return false;
  return (ports[std::min(input, ports.size() - 1)].flags & Port::value) != 0;
}

void mark_captures(Graph& graph, const Graph& body) {
  for (const auto& capture : body.captures) graph.values[capture.outer].shape_relevant = true;
}

void mark_bodies(Graph& graph, const Node& node) {
  for (const auto& attribute : node.attributes) {
    if (const auto* one = std::get_if<std::shared_ptr<Graph>>(&attribute.value)) mark_captures(graph, **one);
    if (const auto* many = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute.value))
      for (const auto& body : *many) mark_captures(graph, *body);
  }
}

}  // namespace

ANYSHAPE_DEFINE_SPECIAL_MEMBERS(Node)

const Attribute* Node::attribute(std::string_view attribute_name) const {
  const auto it =
      std::find_if(attributes.begin(), attributes.end(), [&](const Attribute& a) { return a.name == attribute_name; });
  return it == attributes.end() ? nullptr : &*it;
}

ValueId Node::first_output() const {
  const auto it = std::find_if(out.begin(), out.end(), [](ValueId id) { return id != kNoValue; });
  return it == out.end() ? kNoValue : *it;
}

bool Node::has_graph_attribute() const {
  return std::any_of(attributes.begin(), attributes.end(), [](const Attribute& a) {
    return std::holds_alternative<std::shared_ptr<Graph>>(a.value) ||
           std::holds_alternative<std::vector<std::shared_ptr<Graph>>>(a.value);
  });
}

std::vector<ValueId> Graph::required_inputs() const {
  std::vector<ValueId> out;
  std::copy_if(inputs.begin(), inputs.end(), std::back_inserter(out),
               [&](ValueId id) { return !values[id].is_initializer; });
  return out;
}

std::optional<ValueId> Graph::find(std::string_view value_name) const {
  for (ValueId id = 0; id < values.size(); ++id)
    if (values[id].name == value_name) return id;
  return std::nullopt;
}

std::string Graph::label(const Node& node) const {
  if (!node.name.empty()) return node.name;
  return node.type + "_" + std::to_string(&node - nodes.data());
}

void Graph::finish() {
  for (uint32_t n = 0; n < nodes.size(); ++n)
    for (ValueId id : nodes[n].out)
      if (id != kNoValue) values[id].producer = n;
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    const Node& node = *it;
    mark_bodies(*this, node);
    const bool needed = std::any_of(node.out.begin(), node.out.end(),
                                    [&](ValueId id) { return id != kNoValue && values[id].shape_relevant; });
    const bool needs_entries = needed && !(node.op && node.op->reads_shapes_only);
    for (size_t i = 0; i < node.in.size(); ++i)
      if (node.in[i] != kNoValue && (needs_entries || reads_entries(node, i))) values[node.in[i]].shape_relevant = true;
  }
}

}  // namespace anyshape
