#include "passes/product.h"

#include <algorithm>
#include <cmath>

namespace anyshape {
namespace {

bool is_fused(const Node& node) {
  return node.op && node.op->domain == "anyshape" && (node.op->name == "FusedMatMul" || node.op->name == "FusedGemm");
}
bool is_gemm(const Node& node) { return node.op && (node.op->name == "Gemm" || node.op->name == "FusedGemm"); }
void set_real(Node& node, std::string_view name, float value) {
  std::erase_if(node.attributes, [&](const Attribute& a) { return a.name == name; });
  node.attributes.push_back({std::string(name), value});
}

Result<Tensor> to_floats(const std::vector<double>& values) {
  TRY(Tensor out, Tensor::allocate(DType::f32, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) out.as_mutable<float>()[i] = static_cast<float>(values[i]);
  return out;
}

// Weights [k, n] or, where the columns are rows, [n, k].
Result<Tensor> scaled_weights(const Tensor& weights, const std::vector<double>& scale, bool columns_are_rows) {
  TRY(Tensor out, Tensor::allocate(DType::f32, weights.dims()));
  const int64_t inner = weights.dims()[1];
  for (int64_t i = 0; i < weights.count(); ++i)
    out.as_mutable<float>()[static_cast<size_t>(i)] =
        static_cast<float>(weights.at<float>(i) * scale[static_cast<size_t>(columns_are_rows ? i / inner : i % inner)]);
  return out;
}

}  // namespace

bool is_product(const Draft& draft, const Node& node) {
  if (node.out.size() != 1 || node.out[0] == kNoValue || draft.is_demanding(node)) return false;
  if (node.in.size() < 2 || node.in[1] == kNoValue) return false;
  const Fact &out = draft.facts[node.out[0]], &b = draft.facts[node.in[1]];
  if (!out.is_tensor() || out.dtype != DType::f32 || !out.dims || out.rank() == 0 || !b.dims || b.rank() < 2)
    return false;
  if (is_fused(node)) return !node.attribute("activation");
  return is_op(node, "MatMul") || (is_op(node, "Gemm") && node.version >= 7);
}

std::optional<std::vector<double>> per_column(const Draft& draft, ValueId id, const Fact& like) {
  const Tensor* tensor = draft.constant(id);
  if (!tensor || tensor->dtype() != DType::f32 || !like.dims || like.dims->empty()) return std::nullopt;
  const auto columns = like.dims->back().constant();
  if (!columns || tensor->rank() > like.rank()) return std::nullopt;
  const bool row = tensor->rank() >= 1 && tensor->dims().back() == *columns && tensor->count() == *columns;
  if (!row && tensor->count() != 1) return std::nullopt;
  std::vector<double> out;
  for (int64_t i = 0; i < *columns; ++i) out.push_back(tensor->at<float>(row ? i : 0));
  return out;
}

void make_fused(Node& product) {
  if (!is_fused(product)) set_op(product, "anyshape", is_gemm(product) ? "FusedGemm" : "FusedMatMul", 1);
}

bool scale_product(const Draft& draft, Node& product, double scale) {
  const auto alpha = static_cast<float>((is_op(product, "MatMul") ? 1 : product.real("alpha")) * scale);
  if (!std::isfinite(alpha) || !draft.constant(product.in[1]) || has_input(product, 2) || has_input(product, 3))
    return false;
  make_fused(product);
  set_real(product, "alpha", alpha);
  return true;
}

Result<bool> scale_columns(Draft& draft, Node& product, const std::vector<double>& scale,
                           const std::vector<double>& shift) {
  const Tensor* weights = draft.constant(product.in[1]);
  if (!weights || weights->dtype() != DType::f32 || weights->rank() != 2 || has_input(product, 3)) return false;
  if (!std::all_of(scale.begin(), scale.end(), [](double s) { return std::isfinite(s); })) return false;
  std::vector<double> bias(scale.size(), 0);
  if (has_input(product, 2)) {
    const auto given = per_column(draft, product.in[2], draft.facts[product.out[0]]);
    if (!given) return false;
    bias = *given;
  }
  const double beta = is_gemm(product) ? product.real("beta") : 1;
  for (size_t i = 0; i < bias.size(); ++i) bias[i] = bias[i] * beta * scale[i] + shift[i];
  TRY(Tensor scaled, scaled_weights(*weights, scale, is_gemm(product) && product.integer("transB") != 0));
  TRY(Tensor moved, to_floats(bias));
  make_fused(product);
  product.in.resize(std::max<size_t>(product.in.size(), 3), kNoValue);
  product.in[1] = draft.add_constant(product.name + ".folded_weights", std::move(scaled));
  product.in[2] = draft.add_constant(product.name + ".folded_bias", std::move(moved));
  if (is_gemm(product)) set_real(product, "beta", 1);
  return true;
}

}  // namespace anyshape
