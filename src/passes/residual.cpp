#include <algorithm>

#include "passes/activation.h"

namespace anyshape {
namespace {

// A convolution of f32 with constant weights that adds nothing and has no activation yet.
bool takes_addend(const Draft& draft, const Node& node) {
  if (!is_op(node, "Conv") || node.out.size() != 1 || node.in.size() < 2) return false;
  const Fact& out = draft.facts[node.out[0]];
  return draft.constant(node.in[1]) && out.is_tensor() && out.dtype == DType::f32 && out.dims;
}

// The input of the sum that is such a convolution for nobody else, while the other one has the same sizes. Of two the
// later one: the first is there when it runs.
std::optional<size_t> convolution_of(const Draft& draft, const Readers& readers, const std::vector<bool>& dead,
                                     const Node& sum) {
  std::optional<size_t> best;
  for (size_t i : {0u, 1u}) {
    const ValueId id = sum.in[i], other = sum.in[1 - i];
    if (id == kNoValue || other == kNoValue || id == other || !readers.is_private(id)) continue;
    const uint32_t maker = readers.producers[id];
    if (maker == kNoValue || dead[maker] || !takes_addend(draft, draft.graph.nodes[maker])) continue;
    const Fact &mine = draft.facts[id], &theirs = draft.facts[other];
    if (!theirs.is_tensor() || theirs.dtype != DType::f32 || !theirs.dims || *theirs.dims != *mine.dims) continue;
    if (!best || maker > readers.producers[sum.in[*best]]) best = i;
  }
  return best;
}

}  // namespace

Status fuse_residuals(Draft& draft) {
  if (!takes_op(draft.target, "com.microsoft", "FusedConv", 1)) return {};
  const Readers readers(draft);
  std::vector<bool> dead(draft.graph.nodes.size(), false);
  for (Node& sum : draft.graph.nodes) {
    if (!(is_op(sum, "Add") && sum.version >= 7) && !(is_op(sum, "Sum") && sum.version >= 8)) continue;
    if (sum.in.size() != 2 || draft.is_demanding(sum)) continue;
    const auto at = convolution_of(draft, readers, dead, sum);
    if (!at) continue;
    const uint32_t maker = readers.producers[sum.in[*at]];
    Node one = draft.graph.nodes[maker];
    set_op(one, "com.microsoft", "FusedConv", 1);
    one.in.resize(4, kNoValue);
    one.in[3] = sum.in[1 - *at];
    one.out = sum.out;
    dead[maker] = true;
    sum = std::move(one);
  }
  draft.drop(dead);
  return {};
}

}  // namespace anyshape
