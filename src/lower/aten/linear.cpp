#include "lower/aten/families.h"

namespace anyshape::lower {
namespace {

// A weight is turned round once, at export; Gemm turns it by itself.
Arg linear(Lowering& l, const Args& a) {
  const Ref x = a.tensor("input"), weight = a.tensor("weight"), bias = a.tensor("bias");
  if (!l.need_rank(weight, 1, 2)) return {};
  if (l.rank(x) == 2 && l.rank(weight) == 2) return l.op("Gemm", {x, weight, bias}, {attr("transB", 1)});
  const Ref turned = l.rank(weight) == 2 ? l.transpose(weight, {1, 0}) : weight;
  const Ref product = l.op("MatMul", {x, turned});
  return bias ? l.op("Add", {product, bias}) : product;
}

Arg matmul(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  return l.op("MatMul", {x, y});
}

constexpr AtenOp kOps[] = {
    {"linear", linear},
    {"matmul", matmul},
};

}  // namespace

std::span<const AtenOp> linear_ops() { return kOps; }

}  // namespace anyshape::lower
