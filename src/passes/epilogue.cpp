#include "passes/activation.h"

namespace anyshape {
namespace {

// A convolution that has no activation yet.
bool takes_epilogue(const Draft& draft, const Node& node) {
  const bool fused = node.op && node.op->domain == "com.microsoft" && node.op->name == "FusedConv";
  return (is_op(node, "Conv") || (fused && !node.attribute("activation"))) && node.out.size() == 1 &&
         node.in.size() >= 2 && draft.constant(node.in[1]) && draft.facts[node.out[0]].is_tensor() &&
         draft.facts[node.out[0]].dtype == DType::f32;
}

Node fused(const Node& conv, const Node& activation, FoundActivation found) {
  Node out = conv;
  set_op(out, "com.microsoft", "FusedConv", 1);
  out.out = activation.out;
  out.attributes.push_back({"activation", std::move(found.name)});
  if (!found.params.empty()) out.attributes.push_back({"activation_params", std::move(found.params)});
  return out;
}

}  // namespace

Status fuse_activations(Draft& draft) {
  if (!takes_op(draft.target, "com.microsoft", "FusedConv", 1)) return {};
  const Readers readers(draft);
  std::vector<bool> dead(draft.graph.nodes.size(), false);
  for (uint32_t i = 0; i < draft.graph.nodes.size(); ++i) {
    auto found = find_activation(draft, readers, i);
    if (!found || readers.uses[found->in] != found->reads || readers.pinned.contains(found->in)) continue;
    const uint32_t maker = readers.producers[found->in];
    if (maker == kNoValue || dead[maker] || !takes_epilogue(draft, draft.graph.nodes[maker])) continue;
    Node& conv = draft.graph.nodes[maker];
    const std::string label = draft.graph.label(conv);
    for (uint32_t node : found->nodes) dead[node] = node != i;
    dead[maker] = true;
    Node one = fused(conv, draft.graph.nodes[i], *std::move(found));
    one.name = label;
    draft.graph.nodes[i] = std::move(one);
  }
  draft.drop(dead);
  return {};
}

}  // namespace anyshape
