#include <algorithm>

#include "lower/aten/families.h"

namespace anyshape::lower {
namespace {

std::vector<AtenOp> sorted_table() {
  // clang-format off
  const std::span<const AtenOp> families[] = {
      activation_ops(),
      adaptive_pool_ops(),
      attention_ops(),
      broadcast_ops(),
      compare_ops(),
      complex_ops(),
      conv_ops(),
      convert_ops(),
      create_ops(),
      diagonal_ops(),
      distance_ops(),
      einsum_ops(),
      embedding_ops(),
      fft_ops(),
      index_ops(),
      join_ops(),
      linalg_ops(),
      linear_ops(),
      loss_ops(),
      norm_ops(),
      normalize_ops(),
      order_ops(),
      pad_ops(),
      part_ops(),
      patch_ops(),
      pointwise_ops(),
      pool_ops(),
      quantize_ops(),
      quantized_ops(),
      random_ops(),
      recurrent_ops(),
      recurrent_packed_ops(),
      reduce_ops(),
      resize_ops(),
      sampler_ops(),
      scan_ops(),
      scatter_ops(),
      stft_ops(),
      strided_ops(),
      torchvision_ops(),
      transformer_ops(),
      unary_ops(),
      view_ops(),
      window_ops(),
  };
  // clang-format on
  std::vector<AtenOp> all;
  for (const auto family : families) all.insert(all.end(), family.begin(), family.end());
  std::sort(all.begin(), all.end(), [](const AtenOp& a, const AtenOp& b) { return a.name < b.name; });
  return all;
}

const AtenOp* find(std::string_view name) {
  const auto& table = all_aten();
  const auto it = std::lower_bound(table.begin(), table.end(), name,
                                   [](const AtenOp& op, std::string_view wanted) { return op.name < wanted; });
  return it != table.end() && it->name == name ? &*it : nullptr;
}

}  // namespace

bool is_of(std::span<const AtenOp> family, std::string_view name) {
  return std::any_of(family.begin(), family.end(), [&](const AtenOp& op) { return op.name == name; });
}

const std::vector<AtenOp>& all_aten() {
  static const std::vector<AtenOp> table = sorted_table();
  return table;
}

const AtenOp* find_aten(std::string_view name, std::string_view overload) {
  if (!overload.empty() && overload != "default")
    if (const AtenOp* exact = find(fmt::format("{}.{}", name, overload))) return exact;
  return find(name);
}

}  // namespace anyshape::lower
