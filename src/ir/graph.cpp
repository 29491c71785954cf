#include "ir/graph.h"

#include <algorithm>

#include "ir/relevance.h"

namespace anyshape {
namespace {

bool reads_entries(const Node& node, size_t input) {
  if (!node.op || node.body || node.has_graph_attribute()) return true;
  const auto ports = node.op->sig.in;
  if (ports.empty()) return false;
  return (ports[std::min(input, ports.size() - 1)].flags & Port::value) != 0;
}

void mark_captures(Graph& graph, const Node& node) {
  for_each_body(node, [&](const Graph& body) {
    for (const auto& capture : body.captures)
      if (body.values[capture.inner].shape_relevant) graph.values[capture.outer].shape_relevant = true;
  });
}

template <class T>
T value_or_default(const Node& node, std::string_view name) {
  const Attribute* attribute = node.attribute(name);
  if (const T* value = attribute ? std::get_if<T>(&attribute->value) : nullptr) return *value;
  const AttributeDef* listed = node.op ? find_attribute(node.op->sig.attributes, name, node.version) : nullptr;
  return listed ? default_of<T>(*listed) : T();
}

}  // namespace

ANYSHAPE_DEFINE_SPECIAL_MEMBERS(Node)

const Attribute* Node::attribute(std::string_view attribute_name) const {
  const auto it =
      std::find_if(attributes.begin(), attributes.end(), [&](const Attribute& a) { return a.name == attribute_name; });
  return it == attributes.end() ? nullptr : &*it;
}

int64_t Node::integer(std::string_view attribute_name) const {
  return value_or_default<int64_t>(*this, attribute_name);
}
float Node::real(std::string_view attribute_name) const { return value_or_default<float>(*this, attribute_name); }

ValueId Node::first_output() const {
  const auto it = std::find_if(out.begin(), out.end(), [](ValueId id) { return id != kNoValue; });
  return it == out.end() ? kNoValue : *it;
}

bool Node::has_graph_attribute() const {
  bool any = false;
  for_each_body(*this, [&](const Graph&) { any = true; });
  return any;
}

void mark_needed(Graph& graph, const Node& node) {
  auto& values = graph.values;
  mark_captures(graph, node);
  const bool needed = std::any_of(node.out.begin(), node.out.end(),
                                  [&](ValueId id) { return id != kNoValue && values[id].shape_relevant; });
  const bool needs_entries = needed && !(node.op && node.op->reads_shapes_only);
  for (size_t i = 0; i < node.in.size(); ++i)
    if (node.in[i] != kNoValue && (needs_entries || reads_entries(node, i))) values[node.in[i]].shape_relevant = true;
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
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) mark_needed(*this, *node);
}

}  // namespace anyshape
