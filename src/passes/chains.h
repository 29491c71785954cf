#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "ir/call.h"
#include "passes/draft.h"

namespace anyshape {

// A graph with what a rewrite asks of it again and again.
struct Chains {
  explicit Chains(Draft& of)
      : draft(of),
        uses(of.uses()),
        pinned(of.pinned()),
        producers(of.producers()),
        dead(of.graph.nodes.size(), false) {}

  Draft& draft;
  const std::vector<uint32_t> uses;
  const std::unordered_set<ValueId> pinned;
  const std::vector<uint32_t> producers;
  std::vector<bool> dead;

  // The node that makes a value which nobody else reads; null: there is none that may go.
  Node* only_for_this(ValueId id) {
    const uint32_t maker = id == kNoValue ? kNoValue : producers[id];
    if (maker == kNoValue || dead[maker] || uses[id] != 1 || pinned.contains(id)) return nullptr;
    Node& node = draft.graph.nodes[maker];
    return draft.is_demanding(node) || node.out.size() != 1 ? nullptr : &node;
  }
  void drop(ValueId id) { dead[producers[id]] = true; }
  bool takes(const Node& node) const {
    std::vector<const Fact*> facts;
    for (ValueId id : node.in) facts.push_back(id == kNoValue ? nullptr : &draft.facts[id]);
    return draft.target.choose(Call(node, node.name, facts)).kernel != nullptr;
  }
};

}  // namespace anyshape
