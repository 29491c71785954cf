#include <algorithm>

#include "passes/draft.h"

namespace anyshape {
namespace {

// What a Loop carries: where it is among the inputs of the node, and among inputs and outputs of the body. The outputs
// of the node begin with it.
constexpr size_t kCarriedIn = 2, kBodyIn = 2, kBodyOut = 1;

ValueId without_identities(const Graph& body, ValueId id) {
  for (uint32_t at = body.values[id].producer; at != kNoValue; at = body.values[id].producer) {
    const Node& node = body.nodes[at];
    if (!is_op(node, "Identity") || !has_input(node, 0)) break;
    id = node.in[0];
  }
  return id;
}

class Invariants {
 public:
  explicit Invariants(Draft& draft) : draft_(draft), uses_(draft.uses()) {}

  void run() {
    std::vector<Node> nodes = std::move(draft_.graph.nodes);
    draft_.graph.nodes.clear();
    for (Node& node : nodes) {
      const std::vector<size_t> kept = is_op(node, "Loop") ? invariants_of(node) : std::vector<size_t>();
      std::vector<Node> copies;
      if (!kept.empty()) copies = capture(node, kept);
      draft_.graph.nodes.push_back(std::move(node));
      for (Node& copy : copies) draft_.graph.nodes.push_back(std::move(copy));
    }
  }

 private:
  static const Graph* body_of(const Node& node) {
    const Attribute* body = node.attribute("body");
    const auto* graph = body ? std::get_if<std::shared_ptr<Graph>>(&body->value) : nullptr;
    return graph ? graph->get() : nullptr;
  }

  // Carried values that every iteration hands on as it gets them.
  std::vector<size_t> invariants_of(const Node& node) const {
    std::vector<size_t> out;
    const Graph* body = body_of(node);
    if (!body) return out;
    const auto inputs = body->required_inputs();
    if (inputs.size() != node.in.size() || body->outputs.size() + 1 < node.in.size()) return out;
    for (size_t i = 0; i + kCarriedIn < node.in.size(); ++i) {
      const ValueId start = node.in[i + kCarriedIn], in = inputs[i + kBodyIn];
      const bool asked = i < node.out.size() && draft_.is_demanding(node) && node.out[i] == node.first_output();
      const bool same = without_identities(*body, body->outputs[i + kBodyOut]) == in;
      if (same && !asked && start != kNoValue && draft_.facts[start].is_tensor()) out.push_back(i);
    }
    return is_read_without(node, out) ? out : std::vector<size_t>();
  }

  // Somebody reads more of the Loop than what it hands on: else it would be dropped, even if it never ends.
  bool is_read_without(const Node& node, const std::vector<size_t>& kept) const {
    for (size_t i = 0; i < node.out.size(); ++i) {
      const bool read = node.out[i] != kNoValue && uses_[node.out[i]] != 0;
      if (read && std::find(kept.begin(), kept.end(), i) == kept.end()) return true;
    }
    return false;
  }

  // The body takes the values from outside; what the Loop gave of them is copied.
  std::vector<Node> capture(Node& node, const std::vector<size_t>& kept) {
    replace_bodies(node, [&](const Graph& body) {
      auto copy = std::make_shared<Graph>(body);
      const auto inputs = body.required_inputs();
      for (size_t i = kept.size(); i-- > 0;) {
        const ValueId in = inputs[kept[i] + kBodyIn];
        copy->captures.push_back({node.in[kept[i] + kCarriedIn], in});
        std::erase(copy->inputs, in);
        copy->outputs.erase(copy->outputs.begin() + static_cast<ptrdiff_t>(kept[i] + kBodyOut));
      }
      copy->finish();
      draft_.sources[copy.get()] = draft_.source_of(&body);
      return copy;
    });
    std::vector<Node> copies;
    for (size_t i = kept.size(); i-- > 0;) {
      const auto in = node.in.begin() + static_cast<ptrdiff_t>(kept[i] + kCarriedIn);
      if (kept[i] < node.out.size()) {
        const auto out = node.out.begin() + static_cast<ptrdiff_t>(kept[i]);
        if (*out != kNoValue) copies.push_back(identity(*in, *out, node.name));
        node.out.erase(out);
      }
      node.in.erase(in);
    }
    return copies;
  }

  Draft& draft_;
  std::vector<uint32_t> uses_;
};

}  // namespace

Status capture_invariants(Draft& draft) {
  const auto& nodes = draft.graph.nodes;
  const auto repeats = [](const Node& node) { return is_op(node, "Loop"); };
  if (std::any_of(nodes.begin(), nodes.end(), repeats)) Invariants(draft).run();
  return {};
}

}  // namespace anyshape
