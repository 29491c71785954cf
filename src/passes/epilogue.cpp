#include <algorithm>
#include <limits>

#include "passes/draft.h"

namespace anyshape {
namespace {

struct Epilogue {
  std::string name;
  std::vector<float> params;
};

// A bound of Clip: an attribute up to opset 10, then an input. Nothing where it is known only when the model runs.
std::optional<float> bound_of(const Draft& draft, const Node& node, size_t input, std::string_view name,
                              float no_bound) {
  if (node.version < 11) return node.real(name);
  if (input >= node.in.size() || node.in[input] == kNoValue) return no_bound;
  const Tensor* bound = draft.constant(node.in[input]);
  if (!bound || bound->dtype() != DType::f32 || bound->count() != 1) return std::nullopt;
  const auto aligned = bound->aligned();
  return aligned ? std::optional(aligned->at<float>(0)) : std::nullopt;
}

std::optional<Epilogue> epilogue_of(const Draft& draft, const Node& node) {
  for (const char* name : {"Relu", "Sigmoid", "Tanh"})
    if (is_op(node, name)) return Epilogue{name, {}};
  if (is_op(node, "LeakyRelu")) return Epilogue{"LeakyRelu", {node.real("alpha")}};
  if (!is_op(node, "Clip")) return std::nullopt;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto least = bound_of(draft, node, 1, "min", -infinity), most = bound_of(draft, node, 2, "max", infinity);
  // With bounds that cross or are no numbers the order of the two comparisons shows.
  if (!least || !most || !(*least <= *most)) return std::nullopt;
  return Epilogue{"Clip", {*least, *most}};
}

bool takes_epilogue(const Draft& draft, const Node& node) {
  return is_op(node, "Conv") && node.out.size() == 1 && node.in.size() >= 2 && draft.constant(node.in[1]) &&
         draft.facts[node.out[0]].is_tensor() && draft.facts[node.out[0]].dtype == DType::f32;
}

Node fused(const Node& conv, const Node& activation, Epilogue epilogue) {
  Node out = conv;
  set_op(out, "com.microsoft", "FusedConv", 1);
  out.out = activation.out;
  out.attributes.push_back({"activation", std::move(epilogue.name)});
  if (!epilogue.params.empty()) out.attributes.push_back({"activation_params", std::move(epilogue.params)});
  return out;
}

}  // namespace

Status fuse_activations(Draft& draft) {
  if (!takes_op(draft.target, "com.microsoft", "FusedConv", 1)) return {};
  const auto uses = draft.uses();
  const auto pinned = draft.pinned();
  const auto producers = draft.producers();
  std::vector<bool> dead(draft.graph.nodes.size(), false);
  for (Node& node : draft.graph.nodes) {
    if (node.in.empty() || node.in[0] == kNoValue || draft.is_demanding(node)) continue;
    if (uses[node.in[0]] != 1 || pinned.contains(node.in[0])) continue;
    const uint32_t maker = producers[node.in[0]];
    if (maker == kNoValue || dead[maker] || !takes_epilogue(draft, draft.graph.nodes[maker])) continue;
    auto epilogue = epilogue_of(draft, node);
    if (!epilogue) continue;
    Node& conv = draft.graph.nodes[maker];
    const std::string label = draft.graph.label(conv);
    Node one = fused(conv, node, *std::move(epilogue));
    one.name = label;
    node = std::move(one);
    dead[maker] = true;
  }
  draft.drop(dead);
  return {};
}

}  // namespace anyshape
