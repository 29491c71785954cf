#include "format/onnx/order.h"

#include <numeric>
#include <unordered_map>

namespace anyshape::onnx {
namespace {

using Producers = std::unordered_map<std::string_view, size_t>;

// The nodes that make what `node` and its bodies read. A body's own names may be among them by accident; files that are
// valid use each name once.
void collect(const NodeProto& node, const Producers& producers, std::vector<size_t>& found) {
  const auto add = [&](std::string_view name) {
    if (const auto it = producers.find(name); it != producers.end()) found.push_back(it->second);
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

}  // namespace

Result<std::vector<size_t>> topological_order(const std::vector<NodeProto>& nodes) {
  Producers producers;
  for (size_t i = 0; i < nodes.size(); ++i)
    for (std::string_view name : nodes[i].output)
      if (!name.empty()) producers.emplace(name, i);

  std::vector<size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<std::vector<size_t>> users(nodes.size());
  std::vector<size_t> waiting(nodes.size(), 0);
  bool sorted = true;
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::vector<size_t> needs;
    collect(nodes[i], producers, needs);
    for (size_t n : needs) {
      sorted &= n < i;
      users[n].push_back(i);
      ++waiting[i];
    }
  }
  if (sorted) return order;

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
