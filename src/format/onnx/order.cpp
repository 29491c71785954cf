#include "format/onnx/order.h"

#include <algorithm>
#include <numeric>

#include "format/onnx/names.h"

namespace anyshape::onnx {
namespace {

// The nodes that make what `node` and its bodies read. A body's own names may be among them by accident; files that are
// valid use each name once.
void collect(const NodeProto& node, const Names& producers, std::vector<size_t>& found) {
  const auto add = [&](std::string_view name) {
    if (const uint32_t* producer = producers.find(name)) found.push_back(*producer);
  };
  const auto add_graph = [&](const GraphProto& graph) {
    for (const auto& inner : graph.node) collect(inner, producers, found);
    for (const auto& output : graph.output) add(output.name);
  };
  for (std::string_view name : node.input) add(name);
  for (const auto& attribute : node.attribute) {
    if (attribute.g) add_graph(*attribute.g);
    for (const auto& graph : attribute.graphs) add_graph(graph);
  }
}

Names producers_of(const std::vector<NodeProto>& nodes) {
  Names producers;
  producers.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i)
    for (std::string_view name : nodes[i].output)
      if (!name.empty()) producers.add(name, static_cast<uint32_t>(i));
  return producers;
}

bool in_order(const std::vector<NodeProto>& nodes, const Names& producers) {
  std::vector<size_t> needs;
  for (size_t i = 0; i < nodes.size(); ++i) {
    needs.clear();
    collect(nodes[i], producers, needs);
    if (std::any_of(needs.begin(), needs.end(), [&](size_t n) { return n >= i; })) return false;
  }
  return true;
}

}  // namespace

Result<std::vector<size_t>> topological_order(const std::vector<NodeProto>& nodes) {
  const Names producers = producers_of(nodes);
  std::vector<size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (in_order(nodes, producers)) return order;

  std::vector<std::vector<size_t>> users(nodes.size());
  std::vector<size_t> waiting(nodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::vector<size_t> needs;
    collect(nodes[i], producers, needs);
    for (size_t n : needs) users[n].push_back(i);
    waiting[i] = needs.size();
  }
  order.clear();
  std::vector<size_t> ready;
  for (size_t i = nodes.size(); i-- > 0;)
    if (waiting[i] == 0) ready.push_back(i);
  while (!ready.empty()) {
    const size_t next = ready.back();
    ready.pop_back();
    order.push_back(next);
    for (auto it = users[next].rbegin(); it != users[next].rend(); ++it)
      if (--waiting[*it] == 0) ready.push_back(*it);
  }
  if (order.size() == nodes.size()) return order;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (waiting[i] != 0)
      return refuse("graph.cycle", "node {:?} needs its own output",
                    nodes[i].name.empty() ? nodes[i].op_type : nodes[i].name);
  return order;
}

}  // namespace anyshape::onnx
