#pragma once

#include <optional>
#include <vector>

#include "passes/draft.h"

// Matrix products as passes see them: MatMul and Gemm, and what they become when something is joined to them.
namespace anyshape {

// MatMul of matrices or Gemm, of f32, at whose end nothing is computed yet.
bool is_product(const Draft& draft, const Node& node);

// A constant with an entry for each of the last axis of `like`, or one for all; nothing for others.
std::optional<std::vector<double>> per_column(const Draft& draft, ValueId id, const Fact& like);

// The node as one of the domain `anyshape`, which takes more inputs and attributes. REQUIRES: is_product.
void make_fused(Node& product);

// The product is multiplied by one number. False: it cannot be put into it.
bool scale_product(const Draft& draft, Node& product, double scale);
// Each column is multiplied by its number, then another one is added. False: weights or bias are not constant.
Result<bool> scale_columns(Draft& draft, Node& product, const std::vector<double>& scale,
                           const std::vector<double>& shift);

}  // namespace anyshape
