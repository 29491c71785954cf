#include "ir/relevance.h"

namespace anyshape {
namespace {

void mark(Graph& graph);

// A branch takes nothing and gives what the node gives; what other bodies give may come back to them as their input.
void mark_body(const Graph& graph, const Node& node, Graph& body) {
  const bool branch = node.op && body.inputs.empty() && body.outputs.size() == node.out.size();
  for (Value& value : body.values) value.shape_relevant = false;
  for (size_t i = 0; i < body.outputs.size(); ++i) {
    const ValueId given = branch ? node.out[i] : kNoValue;
    const bool wanted = given != kNoValue && graph.values[given].shape_relevant;
    if (wanted || !branch) body.values[body.outputs[i]].shape_relevant = true;
  }
  mark(body);
}

// Given the marks on the graph's outputs.
void mark(Graph& graph) {
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    for (Attribute& attribute : node->attributes) {
      if (auto* one = std::get_if<std::shared_ptr<Graph>>(&attribute.value)) mark_body(graph, *node, **one);
      if (auto* many = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute.value))
        for (const auto& body : *many) mark_body(graph, *node, *body);
    }
    mark_needed(graph, *node);
  }
}

}  // namespace

void narrow_relevance(Graph& graph) {
  for (Value& value : graph.values) value.shape_relevant = false;
  mark(graph);
}

}  // namespace anyshape
