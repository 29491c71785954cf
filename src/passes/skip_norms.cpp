#include <algorithm>
#include <utility>

#include "passes/draft.h"

namespace anyshape {
namespace {

bool is_ms(const Node& node, std::string_view name) {
  return node.op && node.op->domain == "com.microsoft" && node.op->name == name;
}

// Which inputs of a skip normalisation are what.
struct Skip {
  size_t beta, bias;  // past the last one: there is none
  std::string_view norm;
  int64_t version;
};

const Skip* skip_of(const Node& node) {
  static constexpr Skip kLayer{3, 4, "LayerNormalization", 17};
  static constexpr Skip kSimple{9, 3, "RMSNormalization", 23};
  if (is_ms(node, "SkipLayerNormalization")) return &kLayer;
  return is_ms(node, "SkipSimplifiedLayerNormalization") ? &kSimple : nullptr;
}

// Somebody wants the statistics, which are not made.
bool wants_statistics(const Node& node, const std::vector<uint32_t>& uses) {
  for (size_t i = 1; i < std::min<size_t>(node.out.size(), 3); ++i)
    if (node.out[i] != kNoValue && uses[node.out[i]] > 0) return true;
  return false;
}

class Speller {
 public:
  explicit Speller(Draft& draft) : draft_(draft), uses_(draft.uses()) {}

  Status run() {
    const auto spelled = [&](const Node& node) { return is_spelled(node); };
    if (std::none_of(draft_.graph.nodes.begin(), draft_.graph.nodes.end(), spelled)) return {};
    for (Node& node : std::exchange(draft_.graph.nodes, {})) {
      if (is_spelled(node))
        spell_out(node, *skip_of(node));
      else
        draft_.graph.nodes.push_back(std::move(node));
    }
    return {};
  }

 private:
  bool is_spelled(const Node& node) const {
    return skip_of(node) && !draft_.is_demanding(node) && !wants_statistics(node, uses_);
  }

  ValueId add(const Node& of, ValueId a, ValueId b, ValueId to) {
    Node node;
    set_op(node, "", "Add", 14);
    node.name = of.name;
    node.in = {a, b};
    node.out = {to};
    draft_.graph.nodes.push_back(std::move(node));
    return to;
  }
  ValueId new_sum(const Node& of) {
    return draft_.add_value(draft_.graph.values[of.out[0]].name + ".sum", draft_.facts[of.out[0]].type_only());
  }

  void spell_out(const Node& node, const Skip& skip) {
    const bool biased = has_input(node, skip.bias), kept = node.out.size() > 3 && node.out[3] != kNoValue;
    ValueId sum = add(node, node.in[0], node.in[1], kept && !biased ? node.out[3] : new_sum(node));
    if (biased) sum = add(node, sum, node.in[skip.bias], kept ? node.out[3] : new_sum(node));
    Node norm;
    set_op(norm, "", skip.norm, skip.version);
    norm.name = node.name;
    norm.in = {sum, node.in[2]};
    if (has_input(node, skip.beta)) norm.in.push_back(node.in[skip.beta]);
    norm.out = {node.out[0]};
    norm.attributes.push_back({"axis", int64_t{-1}});
    norm.attributes.push_back({"epsilon", node.real("epsilon")});
    draft_.graph.nodes.push_back(std::move(norm));
  }

  Draft& draft_;
  std::vector<uint32_t> uses_;
};

}  // namespace

Status spell_out_skip_norms(Draft& draft) { return Speller(draft).run(); }

}  // namespace anyshape
