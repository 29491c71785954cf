#include <algorithm>

#include "passes/draft.h"

namespace anyshape {
namespace {

// The branch that is always taken; null: sizes or data decide.
const Graph* taken_branch(const Draft& draft, const Node& node) {
  if (!is_op(node, "If") || node.in.empty() || node.in[0] == kNoValue) return nullptr;
  const auto entry = draft.facts[node.in[0]].single();
  const auto number = entry ? entry->constant() : std::nullopt;
  if (!number) return nullptr;
  const Attribute* branch = node.attribute(*number != 0 ? "then_branch" : "else_branch");
  const auto* graph = branch ? std::get_if<std::shared_ptr<Graph>>(&branch->value) : nullptr;
  return graph ? graph->get() : nullptr;
}

// What is known of the inputs of other bodies is found by the bodies themselves, which are copied here; calls of local
// functions are expanded before there are facts.
bool stays(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const Node& node) { return node.body || (node.has_graph_attribute() && !is_op(node, "If")); });
}

// Puts the nodes of branches in the place of their If.
class Branches {
 public:
  explicit Branches(Draft& draft) : draft_(draft) {}

  void run() {
    std::vector<Node> nodes = std::move(draft_.graph.nodes);
    draft_.graph.nodes.clear();
    for (Node& node : nodes) add(std::move(node));
  }

 private:
  void add(Node node) {
    const Graph* branch = draft_.is_demanding(node) ? nullptr : taken_branch(draft_, node);
    const auto facts = branch ? draft_.typed.bodies().find(draft_.source_of(branch)) : draft_.typed.bodies().end();
    if (facts == draft_.typed.bodies().end() || stays(*branch) || branch->outputs.size() != node.out.size()) {
      draft_.graph.nodes.push_back(std::move(node));
      return;
    }
    const std::vector<ValueId> ids = new_ids(node, *branch, facts->second);
    for (const Node& inner : branch->nodes) add(moved(inner, *branch, ids));
    for (size_t i = 0; i < node.out.size(); ++i)
      if (node.out[i] != kNoValue && ids[branch->outputs[i]] != node.out[i])
        draft_.graph.nodes.push_back(identity(ids[branch->outputs[i]], node.out[i], node.name));
  }

  // Values of the branch in the graph: outputs are those of the node, captured ones are there.
  std::vector<ValueId> new_ids(const Node& node, const Graph& branch, const Facts& facts) {
    std::vector<ValueId> ids(branch.values.size(), kNoValue);
    std::vector<bool> made(branch.values.size(), false);
    for (const Node& inner : branch.nodes)
      for (ValueId id : inner.out)
        if (id != kNoValue) made[id] = true;
    for (const auto& capture : branch.captures) ids[capture.inner] = capture.outer;
    for (size_t i = 0; i < node.out.size(); ++i) {
      const ValueId inner = branch.outputs[i];
      if (node.out[i] != kNoValue && made[inner] && ids[inner] == kNoValue) ids[inner] = node.out[i];
    }
    for (ValueId id = 0; id < ids.size(); ++id) {
      if (ids[id] != kNoValue) continue;
      ids[id] = static_cast<ValueId>(draft_.graph.values.size());
      draft_.graph.values.push_back(branch.values[id]);
      draft_.facts.push_back(facts[id]);
    }
    return ids;
  }

  Node moved(const Node& node, const Graph& branch, const std::vector<ValueId>& ids) {
    Node copy = node;
    copy.name = branch.label(node);
    for (std::vector<ValueId>* list : {&copy.in, &copy.out})
      for (ValueId& id : *list)
        if (id != kNoValue) id = ids[id];
    replace_bodies(copy, [&](const Graph& body) {
      auto closed = std::make_shared<Graph>(body);
      for (auto& capture : closed->captures) capture.outer = ids[capture.outer];
      draft_.sources[closed.get()] = draft_.source_of(&body);
      return closed;
    });
    return copy;
  }

  Draft& draft_;
};

}  // namespace

Status take_known_branches(Draft& draft) {
  const auto& nodes = draft.graph.nodes;
  const auto branches = [](const Node& node) { return is_op(node, "If"); };
  if (std::any_of(nodes.begin(), nodes.end(), branches)) Branches(draft).run();
  return {};
}

}  // namespace anyshape
