#include <algorithm>

#include "base/work.h"
#include "ir/call.h"
#include "passes/draft.h"

namespace anyshape {
namespace {

// All folded values together.
constexpr int64_t kTotal = int64_t{256} << 20;
// A value that only others that are folded read.
constexpr int64_t kTrial = int64_t{8} << 20;

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

bool takes_weights(const Node& node) {
  return is_op(node, "Conv") || is_op(node, "ConvTranspose") || is_op(node, "Gemm") || is_op(node, "MatMul");
}

// What products and convolutions only read, as their weights, and nodes make: dequantised or filled in.
std::unordered_set<ValueId> made_weights(const Draft& draft) {
  std::unordered_set<ValueId> out;
  if (!draft.fold_weights) return out;
  for (const Node& node : draft.graph.nodes)
    if (takes_weights(node) && has_input(node, 1)) out.insert(node.in[1]);
  for (ValueId id : draft.pinned()) out.erase(id);
  for (const Node& node : draft.graph.nodes)
    for (size_t i = 0; i < node.in.size(); ++i)
      if (i != 1 || !takes_weights(node)) out.erase(node.in[i]);
  return out;
}

// Computes nodes that depend on constants only, in the order of the graph.
class Folder {
 public:
  explicit Folder(Draft& draft) : draft_(draft), weights_(made_weights(draft)) {}

  Status run() {
    for (const Node& node : draft_.graph.nodes) TRY_OK(fold(node));
    take_back();
    return {};
  }

 private:
  // Large, and perhaps of no use but to what is folded, too.
  struct OnTrial {
    const Node* node;
    Facts before;
  };

  bool is_known(ValueId id) const { return id == kNoValue || draft_.constant(id); }
  bool is_folded(const Node& node) const {
    return std::all_of(node.out.begin(), node.out.end(), [&](ValueId id) { return is_known(id); });
  }

  bool is_computable(const Node& node) const {
    if (!node.op || !node.op->pure || node.op->kernels.empty() || node.has_graph_attribute()) return false;
    if (!draft_.fold_weights && is_op(node, "DequantizeLinear")) return false;
    // Sizes that are numbers are as good as constants.
    const auto computed = [&](ValueId id) { return is_known(id) || draft_.facts[id].as_tensor(); };
    return !is_folded(node) && std::all_of(node.in.begin(), node.in.end(), computed);
  }

  struct Inputs {
    std::vector<Datum> data;
    std::vector<const Fact*> facts;
    int64_t bytes = 0;
  };

  Result<Inputs> inputs_of(const Node& node) const {
    Inputs out;
    for (ValueId id : node.in) {
      Datum datum;
      if (id != kNoValue) {
        TRY(Tensor tensor, draft_.facts[id].as_tensor().aligned());
        out.bytes += bytes_of(tensor);
        datum = std::move(tensor);
      }
      out.data.push_back(std::move(datum));
      out.facts.push_back(id == kNoValue ? nullptr : &draft_.facts[id]);
    }
    return out;
  }

  Status fold(const Node& node) {
    if (!is_computable(node)) return {};
    TRY(const Inputs in, inputs_of(node));
    const auto bytes = output_bytes(draft_, node);
    if (!bytes || spent_ + *bytes > kTotal) return {};
    const bool large = *bytes > in.bytes + draft_.fold_growth && !weights_.contains(node.out[0]);
    if (large && (!draft_.fold_weights || *bytes > kTrial)) return {};
    Facts before;
    for (ValueId id : node.out) before.push_back(id == kNoValue ? Fact() : draft_.facts[id]);
    const std::string label = draft_.graph.label(node);
    TRY_OK(Work::check());
    const auto out = run_reference(Call(node, label, in.facts), in.data, before);
    // A kernel that refuses these entries does so when the model runs.
    if (!out) return {};
    spent_ += *bytes;
    for (size_t i = 0; i < node.out.size(); ++i)
      if (node.out[i] != kNoValue && (*out)[i].is_tensor())
        draft_.facts[node.out[i]] = Fact::of_constant((*out)[i].tensor());
    if (large) trials_.push_back({&node, std::move(before)});
    return {};
  }

  // What others than folded nodes read of the large values is computed in each run, as before.
  void take_back() {
    auto read = draft_.pinned();
    for (const Node& node : draft_.graph.nodes)
      if (!is_folded(node)) read.insert(node.in.begin(), node.in.end());
    while (!trials_.empty()) {
      const OnTrial trial = std::move(trials_.back());
      trials_.pop_back();
      const auto& out = trial.node->out;
      if (std::none_of(out.begin(), out.end(), [&](ValueId id) { return id != kNoValue && read.contains(id); }))
        continue;
      for (size_t i = 0; i < out.size(); ++i)
        if (out[i] != kNoValue) draft_.facts[out[i]] = trial.before[i];
      read.insert(trial.node->in.begin(), trial.node->in.end());
    }
  }

  Draft& draft_;
  std::unordered_set<ValueId> weights_;
  std::vector<OnTrial> trials_;
  int64_t spent_ = 0;
};

}  // namespace

Status fold_constants(Draft& draft) { return Folder(draft).run(); }

// Pow gives the type of its base whatever the exponent's is.
Status retype_exponents(Draft& draft) {
  constexpr int64_t kMost = int64_t{1} << 24;  // whole numbers that f32 holds
  for (Node& node : draft.graph.nodes) {
    if (!is_op(node, "Pow") || !draft.facts[node.in[0]].is_tensor() || draft.facts[node.in[0]].dtype != DType::f32)
      continue;
    const Tensor* given = draft.constant(node.in[1]);
    if (!given || !is_integer(given->dtype())) continue;
    TRY(const Tensor exponents, given->aligned());
    TRY(Tensor floats, Tensor::allocate(DType::f32, exponents.dims()));
    bool exact = true;
    for (int64_t i = 0; i < exponents.count(); ++i) {
      const int64_t n = exponents.int_at(i);
      exact = exact && -kMost <= n && n <= kMost;
      floats.as_mutable<float>()[static_cast<size_t>(i)] = static_cast<float>(n);
    }
    if (exact) node.in[1] = draft.add_constant(draft.graph.values[node.in[1]].name + ".f32", std::move(floats));
  }
  return {};
}

}  // namespace anyshape
