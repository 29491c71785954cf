#include <algorithm>

#include "base/work.h"
#include "ir/call.h"
#include "passes/draft.h"

namespace anyshape {
namespace {

// All folded values together.
constexpr int64_t kTotal = int64_t{256} << 20;

int64_t bytes_of(const Tensor& tensor) {
  return tensor.dtype() == DType::string ? tensor.count() * int64_t{32} : static_cast<int64_t>(tensor.bytes().size());
}

// The outputs' sizes in bytes, if all are numbers.
std::optional<int64_t> output_bytes(const Draft& draft, const Node& node) {
  int64_t total = 0;
  for (ValueId id : node.out) {
    if (id == kNoValue) continue;
    const auto dims = draft.facts[id].is_tensor() ? draft.facts[id].numeric_dims() : std::nullopt;
    const auto count = dims ? element_count(*dims) : std::nullopt;
    if (!count || *count > kTotal) return std::nullopt;
    total += *count * std::max(bits(draft.facts[id].dtype), 8) / 8;
  }
  return total;
}

// What DequantizeLinear makes for products and convolutions only.
std::unordered_set<ValueId> dequantized_weights(const Draft& draft) {
  std::unordered_set<ValueId> out;
  if (!draft.fold_weights) return out;
  for (const Node& node : draft.graph.nodes)
    if (is_op(node, "DequantizeLinear")) out.insert(node.out[0]);
  for (const Node& node : draft.graph.nodes)
    for (size_t i = 0; i < node.in.size(); ++i)
      if (i != 1 ||
          !(is_op(node, "Conv") || is_op(node, "ConvTranspose") || is_op(node, "Gemm") || is_op(node, "MatMul")))
        out.erase(node.in[i]);
  return out;
}

}  // namespace

Status fold_constants(Draft& draft) {
  int64_t spent = 0;
  const auto weights = dequantized_weights(draft);
  for (const Node& node : draft.graph.nodes) {
    if (!node.op || !node.op->pure || node.op->kernels.empty() || node.has_graph_attribute()) continue;
    const auto known = [&](ValueId id) { return id == kNoValue || draft.constant(id); };
    if (std::all_of(node.out.begin(), node.out.end(), known)) continue;
    // Sizes that are numbers are as good as constants.
    const auto computed = [&](ValueId id) { return known(id) || draft.facts[id].as_tensor(); };
    if (!std::all_of(node.in.begin(), node.in.end(), computed)) continue;
    std::vector<Datum> in;
    std::vector<const Fact*> in_facts;
    int64_t in_bytes = 0;
    for (ValueId id : node.in) {
      Datum datum;
      if (id != kNoValue) {
        TRY(Tensor tensor, draft.facts[id].as_tensor().aligned());
        in_bytes += bytes_of(tensor);
        datum = std::move(tensor);
      }
      in.push_back(std::move(datum));
      in_facts.push_back(id == kNoValue ? nullptr : &draft.facts[id]);
    }
    const auto out_bytes = output_bytes(draft, node);
    if (!out_bytes || spent + *out_bytes > kTotal) continue;
    if (*out_bytes > in_bytes + draft.fold_growth && !weights.contains(node.out[0])) continue;
    Facts out_facts;
    for (ValueId id : node.out) out_facts.push_back(id == kNoValue ? Fact() : draft.facts[id]);
    const std::string label = draft.graph.label(node);
    TRY_OK(Work::check());
    auto out = run_reference(Call(node, label, in_facts), in, out_facts);
    // A kernel that refuses these entries does so when the model runs.
    if (!out) continue;
    spent += *out_bytes;
    for (size_t i = 0; i < node.out.size(); ++i)
      if (node.out[i] != kNoValue && (*out)[i].is_tensor())
        draft.facts[node.out[i]] = Fact::of_constant((*out)[i].tensor());
  }
  return {};
}

}  // namespace anyshape
