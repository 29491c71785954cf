#pragma once

#include <span>

#include "lower/lowering.h"

namespace anyshape::lower {

// The records by family; aten/table.cpp makes one sorted list of them.
std::span<const AtenOp> activation_ops();
std::span<const AtenOp> adaptive_pool_ops();
std::span<const AtenOp> attention_ops();
std::span<const AtenOp> broadcast_ops();
std::span<const AtenOp> compare_ops();
std::span<const AtenOp> complex_ops();
std::span<const AtenOp> conv_ops();
std::span<const AtenOp> convert_ops();
std::span<const AtenOp> create_ops();
std::span<const AtenOp> diagonal_ops();
std::span<const AtenOp> distance_ops();
std::span<const AtenOp> einsum_ops();
std::span<const AtenOp> embedding_ops();
std::span<const AtenOp> fft_ops();
std::span<const AtenOp> index_ops();
std::span<const AtenOp> join_ops();
std::span<const AtenOp> linalg_ops();
std::span<const AtenOp> linear_ops();
std::span<const AtenOp> loss_ops();
std::span<const AtenOp> norm_ops();
std::span<const AtenOp> normalize_ops();
std::span<const AtenOp> order_ops();
std::span<const AtenOp> pad_ops();
std::span<const AtenOp> part_ops();
std::span<const AtenOp> patch_ops();
std::span<const AtenOp> pointwise_ops();
std::span<const AtenOp> pool_ops();
std::span<const AtenOp> quantize_ops();
std::span<const AtenOp> quantized_ops();
std::span<const AtenOp> random_ops();
std::span<const AtenOp> recurrent_ops();
std::span<const AtenOp> recurrent_packed_ops();
std::span<const AtenOp> reduce_ops();
std::span<const AtenOp> resize_ops();
std::span<const AtenOp> sampler_ops();
std::span<const AtenOp> scan_ops();
std::span<const AtenOp> scatter_ops();
std::span<const AtenOp> stft_ops();
std::span<const AtenOp> strided_ops();
std::span<const AtenOp> torchvision_ops();
std::span<const AtenOp> transformer_ops();
std::span<const AtenOp> unary_ops();
std::span<const AtenOp> view_ops();
std::span<const AtenOp> window_ops();

// Whether the family has a record of this name.
bool is_of(std::span<const AtenOp> family, std::string_view name);

// put() of operators that hand their argument through.
Ref put_whole(Lowering& l, const Args& args, Ref self, Ref part, size_t index);
// put() of operators that only rename axes: the part has the elements of the whole in the same order.
Ref put_reshaped(Lowering& l, const Args& args, Ref self, Ref part, size_t index);

}  // namespace anyshape::lower
