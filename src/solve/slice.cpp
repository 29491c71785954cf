#include "solve/slice.h"

#include "ir/reads.h"

namespace anyshape {
std::shared_ptr<const Graph> backward_slice(const Graph& graph, const std::vector<ValueId>& wanted) {
  std::vector<bool> needed(graph.values.size(), false), kept(graph.nodes.size(), false);
  for (ValueId id : wanted) needed[id] = true;
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    for (ValueId id : node.out) kept[i] = kept[i] || (id != kNoValue && needed[id]);
    if (kept[i]) for_each_read(node, [&](ValueId id) { needed[id] = true; });
  }
  auto slice = std::make_shared<Graph>();
  slice->name = graph.name;
  slice->strict = graph.strict;
  slice->values = graph.values;
  slice->inputs = graph.inputs;
  slice->outputs = wanted;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (kept[i]) slice->nodes.push_back(graph.nodes[i]);
  slice->finish();
  return slice;
}

}  // namespace anyshape
