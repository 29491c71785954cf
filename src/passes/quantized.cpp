#include <algorithm>
#include <string>

#include "passes/chains.h"

namespace anyshape {
namespace {

bool is_tensor_of(const Draft& draft, ValueId id, DType dtype) {
  return id != kNoValue && draft.facts[id].is_tensor() && draft.facts[id].dtype == dtype && draft.facts[id].dims;
}

struct Products : Chains {
  using Chains::Chains;

  // One number, or one per entry of the last axis.
  bool is_row(ValueId id) const {
    if (!is_tensor_of(draft, id, DType::f32)) return false;
    const Dims& dims = *draft.facts[id].dims;
    return std::all_of(dims.begin(), dims.end() - (dims.empty() ? 0 : 1), [](Dim d) { return d == Dim(1); });
  }
  bool is_single(ValueId id) const {
    if (!is_tensor_of(draft, id, DType::f32)) return false;
    const Dims& dims = *draft.facts[id].dims;
    return std::all_of(dims.begin(), dims.end(), [](Dim d) { return d == Dim(1); });
  }
  bool same_dims(ValueId a, ValueId b) const {
    return draft.facts[a].dims && draft.facts[b].dims && *draft.facts[a].dims == *draft.facts[b].dims;
  }
};

// The two scales that `id` is the product of: that of A, one number, and that of B.
std::pair<ValueId, ValueId> scales_of(const Products& chains, ValueId id) {
  const uint32_t maker = chains.producers[id];
  if (maker != kNoValue && is_op(chains.draft.graph.nodes[maker], "Mul")) {
    const Node& mul = chains.draft.graph.nodes[maker];
    for (size_t i : {size_t{0}, size_t{1}})
      if (chains.is_single(mul.in[i]) && chains.is_row(mul.in[1 - i]) && chains.draft.constant(mul.in[1 - i]))
        return {mul.in[i], mul.in[1 - i]};
  }
  return {chains.is_single(id) ? id : kNoValue, kNoValue};
}

// Cast(MatMulInteger(...)) * scale
void scale_product(Products& chains, Node& mul) {
  for (size_t i : {size_t{0}, size_t{1}}) {
    const Node* cast = chains.only_for_this(mul.in[i]);
    if (!cast || !is_op(*cast, "Cast") || !is_tensor_of(chains.draft, mul.out[0], DType::f32)) continue;
    const Node* product = chains.only_for_this(cast->in[0]);
    if (!product || !is_op(*product, "MatMulInteger") || !chains.same_dims(mul.out[0], product->out[0])) continue;
    if (!is_tensor_of(chains.draft, mul.in[1 - i], DType::f32)) continue;
    const auto [a_scale, b_scale] = scales_of(chains, mul.in[1 - i]);
    if (a_scale == kNoValue) continue;
    const auto zero = [&](size_t at) { return at < product->in.size() ? product->in[at] : kNoValue; };
    Node one;
    one.name = chains.draft.graph.label(*product);
    set_op(one, "anyshape", "IntegerMatMul", 1);
    one.in = {product->in[0], product->in[1], a_scale, b_scale, zero(2), zero(3)};
    one.out = mul.out;
    if (!chains.takes(one)) continue;
    const ValueId sums = cast->in[0], real = mul.in[i];
    mul = std::move(one);
    chains.drop(sums);
    chains.drop(real);
    return;
  }
}

void add_bias(Products& chains, Node& add) {
  for (size_t i : {size_t{0}, size_t{1}}) {
    Node* product = chains.only_for_this(add.in[i]);
    if (!product || product->domain != "anyshape" || product->type != "IntegerMatMul" || product->in.size() > 6)
      continue;
    const ValueId bias = add.in[1 - i], from = add.in[i];
    if (!chains.is_row(bias) || !chains.same_dims(add.out[0], from)) continue;
    Node one = *product;
    one.in.push_back(bias);
    one.out = add.out;
    if (!chains.takes(one)) continue;
    add = std::move(one);
    chains.drop(from);
    return;
  }
}

}  // namespace

Status fuse_integer_products(Draft& draft) {
  if (!takes_op(draft.target, "anyshape", "IntegerMatMul", 1)) return {};
  Products chains(draft);
  for (Node& node : draft.graph.nodes) {
    if (draft.is_demanding(node) || node.in.size() != 2 || node.out.size() != 1) continue;
    if (is_op(node, "Mul"))
      scale_product(chains, node);
    else if (is_op(node, "Add"))
      add_bias(chains, node);
  }
  draft.drop(chains.dead);
  return {};
}

}  // namespace anyshape
