#include <algorithm>
#include <cmath>

#include "passes/chains.h"

// Bytes that are dequantised, moved and scaled by channel, bounded and quantised again: one step on bytes.
namespace anyshape {
namespace {

// What is found walking up from a QuantizeLinear: y = (x - shift) * factor + bias, within least..most.
struct RequantizeSteps {
  Tensor shift, factor, bias;
  float least = -INFINITY, most = INFINITY;
  const Node* dequantize = nullptr;
};

bool is_single(const Fact& fact) {
  return fact.is_tensor() && fact.dims &&
         std::all_of(fact.dims->begin(), fact.dims->end(), [](Dim d) { return d == Dim(1); });
}

Result<Tensor> negated(const Tensor& tensor) {
  TRY(Tensor out, Tensor::allocate(DType::f32, tensor.dims()));
  for (int64_t i = 0; i < out.count(); ++i) out.as_mutable<float>()[static_cast<size_t>(i)] = -tensor.at<float>(i);
  return out;
}

struct Rewrite : Chains {
  using Chains::Chains;

  bool changed = false;

  // One constant scale, and none or one constant zero point.
  bool is_linear(const Node& node, std::string_view op) const {
    if (!is_op(node, op) || draft.is_demanding(node) || node.integer("block_size") != 0) return false;
    if (node.integer("precision") > 1 || !is_single(draft.facts[node.in[1]])) return false;
    return draft.constant(node.in[1]) && (!has_input(node, 2) || draft.constant(node.in[2]));
  }

  // A constant with one entry, or one for each channel of those sizes.
  const Tensor* by_channel(ValueId id, const Dims& whole) const {
    const Tensor* t = draft.constant(id);
    if (!t || t->dtype() != DType::f32 || t->rank() > whole.size()) return nullptr;
    if (t->count() == 1) return t;
    const size_t missing = whole.size() - t->rank();
    return missing <= 1 && t->dims()[1 - missing] == t->count() && whole[1] == Dim(t->count()) ? t : nullptr;
  }

  // The other operand, which has the sizes of the output, of a node with such a constant on the right, or on either
  // side; kNoValue: it is none.
  ValueId with_constant(const Node& node, bool either, const Tensor*& constant) const {
    const Dims& whole = *draft.facts[node.out[0]].dims;
    for (size_t i : {size_t{1}, size_t{0}}) {
      if (i == 0 && !either) break;
      constant = by_channel(node.in[i], whole);
      if (constant && draft.facts[node.in[1 - i]].dims == whole) return node.in[1 - i];
    }
    return kNoValue;
  }

  // A sum with a constant, which goes to `term`, as it is or negated; the value above it, or `id` where it is none.
  Result<ValueId> sum(ValueId id, bool negate, Tensor& term) {
    const Node* node = only_for_this(id);
    if (!node || node->version < 7 || !(is_op(*node, "Add") || is_op(*node, "Sub"))) return id;
    const bool add = is_op(*node, "Add");
    const Tensor* constant = nullptr;
    const ValueId above = with_constant(*node, add, constant);
    if (above == kNoValue) return id;
    term = *constant;
    if (add == negate) {
      TRY(term, negated(*constant));
    }
    return above;
  }

  ValueId product(ValueId id, Tensor& factor) {
    const Node* node = only_for_this(id);
    const Tensor* constant = nullptr;
    if (!node || node->version < 7 || !is_op(*node, "Mul")) return id;
    const ValueId above = with_constant(*node, true, constant);
    if (above == kNoValue) return id;
    factor = *constant;
    return above;
  }

  ValueId bounds(ValueId id, RequantizeSteps& steps) {
    const Node* node = only_for_this(id);
    if (!node) return id;
    if (is_op(*node, "Relu")) return steps.least = 0, node->in[0];
    if (!is_op(*node, "Clip") || node->version < 11) return id;
    const auto bound = [&](size_t i, float& to) {
      if (!has_input(*node, i)) return true;
      const Tensor* t = draft.constant(node->in[i]);
      if (!t || t->dtype() != DType::f32 || t->count() != 1) return false;
      to = t->at<float>(0);
      return true;
    };
    RequantizeSteps found;
    if (!bound(1, found.least) || !bound(2, found.most) || !(found.least <= found.most)) return id;
    return steps.least = found.least, steps.most = found.most, node->in[0];
  }

  Result<std::optional<RequantizeSteps>> steps_to(ValueId id) {
    RequantizeSteps steps;
    if (!draft.facts[id].dims || draft.facts[id].rank() < 2) return std::nullopt;
    id = bounds(id, steps);
    TRY(id, sum(id, false, steps.bias));
    id = product(id, steps.factor);
    TRY(id, sum(id, true, steps.shift));
    const uint32_t maker = producers[id];
    if (maker == kNoValue || !is_linear(draft.graph.nodes[maker], "DequantizeLinear")) return std::nullopt;
    steps.dequantize = &draft.graph.nodes[maker];
    return steps;
  }

  ValueId list_of(const Tensor& tensor, const std::string& name) {
    return tensor ? draft.add_constant(name, tensor.reshaped({tensor.count()})) : kNoValue;
  }

  Node node_of(const RequantizeSteps& steps, const Node& quantize) {
    const auto zero = [](const Node& node) { return has_input(node, 2) ? node.in[2] : kNoValue; };
    Node node;
    node.name = draft.graph.label(quantize);
    set_op(node, "anyshape", "Requantize", 1);
    const Node& from = *steps.dequantize;
    node.in = {from.in[0], from.in[1], zero(from), list_of(steps.shift, node.name + ".shift")};
    node.in.push_back(list_of(steps.factor, node.name + ".factor"));
    node.in.push_back(list_of(steps.bias, node.name + ".bias"));
    node.in.insert(node.in.end(), {quantize.in[1], zero(quantize)});
    node.out = quantize.out;
    if (steps.least != -INFINITY) node.attributes.push_back({"least", steps.least});
    if (steps.most != INFINITY) node.attributes.push_back({"most", steps.most});
    return node;
  }

  // Maxima of what would be quantised afterwards are those of bytes: quantising keeps the order.
  Node* pool_before(const Node& quantize) {
    Node* pool = only_for_this(quantize.in[0]);
    return pool && is_op(*pool, "MaxPool") && pool->version >= 8 ? pool : nullptr;
  }

  Status rewrite(Node& quantize) {
    if (!is_linear(quantize, "QuantizeLinear")) return {};
    Node* pool = pool_before(quantize);
    TRY(const auto steps, steps_to(pool ? pool->in[0] : quantize.in[0]));
    if (!steps) return {};
    Node one = node_of(*steps, quantize);
    if (!takes(one)) return {};
    changed = true;
    if (!pool) return quantize = std::move(one), Status();
    const Fact bytes = Fact::tensor(draft.facts[quantize.out[0]].dtype, *draft.facts[pool->in[0]].dims);
    one.out = {draft.add_value(draft.graph.values[pool->in[0]].name + ".bytes", bytes)};
    const ValueId out = quantize.out[0];
    quantize = *pool;
    quantize.in = {one.out[0]};
    quantize.out = {out};
    if (quantize.version < 12) set_op(quantize, "", "MaxPool", 12);
    *pool = std::move(one);
    return {};
  }
};

}  // namespace

Status fuse_requantizing(Draft& draft) {
  if (!takes_op(draft.target, "anyshape", "Requantize", 1)) return {};
  Rewrite rewrite(draft);
  for (Node& node : draft.graph.nodes) TRY_OK(rewrite.rewrite(node));
  return rewrite.changed ? remove_dead_nodes(draft) : Status();
}

}  // namespace anyshape
