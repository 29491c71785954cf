#pragma once

#include <initializer_list>

#include "ops/common.h"

// The domain com.microsoft: operators that ONNX Runtime's optimiser and quantiser write into files.
namespace anyshape::ops {

inline constexpr std::string_view kMs = "com.microsoft";

// The rule of another operator, as of that version, for these inputs of the node. An input the node lacks is absent.
inline Result<Facts> rule_of(const OpDef& op, int64_t version, const Call& call, InferContext& context,
                             std::initializer_list<size_t> inputs) {
  std::vector<const Fact*> in;
  for (size_t i : inputs) in.push_back(call.has(i) ? &call.in(i) : nullptr);
  while (!in.empty() && !in.back()) in.pop_back();
  return op.infer(Call(call, op, version, in), context);
}

inline Fact like(const Fact& fact, DType dtype) {
  return fact.dims ? Fact::tensor(dtype, *fact.dims) : Fact::tensor_of_unknown_rank(dtype);
}
inline Fact like(const Fact& fact) { return like(fact, fact.dtype); }

// Input i, where it is there and its rank is known, is a vector of `size` entries.
inline Status require_entries(const Call& call, InferContext& context, size_t input, Dim size, std::string_view code) {
  if (!call.has(input) || !call.in(input).dims) return {};
  TRY_OK(require_rank(call, input, 1));
  const Dim actual = call.in(input).dims->front();
  return context.require(Condition::eq(actual, size), code, "input {0} must have {2} entries, it has {1}", input,
                         print(actual), print(size));
}

// The reference kernels of the records, in ms_*_kernel.cpp.
Status run_ms_attention(const Call& call, KernelArgs& args);
Status run_ms_cdist(const Call& call, KernelArgs& args);
Status run_ms_complex_mul(const Call& call, KernelArgs& args);
Status run_ms_conv_transpose_pads(const Call& call, KernelArgs& args);
Status run_ms_crop_and_resize(const Call& call, KernelArgs& args);
Status run_ms_dequantize_linear(const Call& call, KernelArgs& args);
Status run_ms_dynamic_lstm(const Call& call, KernelArgs& args);
Status run_ms_dynamic_matmul(const Call& call, KernelArgs& args);
Status run_ms_embed_layer_norm(const Call& call, KernelArgs& args);
Status run_ms_expand_dims(const Call& call, KernelArgs& args);
Status run_ms_fused_conv(const Call& call, KernelArgs& args);
Status run_ms_fused_gemm(const Call& call, KernelArgs& args);
Status run_ms_fused_matmul(const Call& call, KernelArgs& args);
Status run_ms_gather_nd(const Call& call, KernelArgs& args);
Status run_ms_grid_sample(const Call& call, KernelArgs& args);
Status run_ms_group_norm(const Call& call, KernelArgs& args);
Status run_ms_group_query_attention(const Call& call, KernelArgs& args);
Status run_ms_integer_to_float(const Call& call, KernelArgs& args);
Status run_ms_inverse(const Call& call, KernelArgs& args);
Status run_ms_layer_norm(const Call& call, KernelArgs& args);
Status run_ms_masked_attention(const Call& call, KernelArgs& args);
Status run_ms_matmul_bnb4(const Call& call, KernelArgs& args);
Status run_ms_matmul_nbits(const Call& call, KernelArgs& args);
Status run_ms_multi_head_attention(const Call& call, KernelArgs& args);
Status run_ms_murmur_hash(const Call& call, KernelArgs& args);
Status run_ms_nhwc_conv(const Call& call, KernelArgs& args);
Status run_ms_nhwc_max_pool(const Call& call, KernelArgs& args);
Status run_ms_packed_attention(const Call& call, KernelArgs& args);
Status run_ms_pad(const Call& call, KernelArgs& args);
Status run_ms_q_attention(const Call& call, KernelArgs& args);
Status run_ms_q_average_pool(const Call& call, KernelArgs& args);
Status run_ms_q_binary(const Call& call, KernelArgs& args);
Status run_ms_q_concat(const Call& call, KernelArgs& args);
Status run_ms_q_conv(const Call& call, KernelArgs& args);
Status run_ms_q_gemm(const Call& call, KernelArgs& args);
Status run_ms_q_global_pool(const Call& call, KernelArgs& args);
Status run_ms_q_leaky_relu(const Call& call, KernelArgs& args);
Status run_ms_q_reduce_mean(const Call& call, KernelArgs& args);
Status run_ms_q_sigmoid(const Call& call, KernelArgs& args);
Status run_ms_q_softmax(const Call& call, KernelArgs& args);
Status run_ms_q_where(const Call& call, KernelArgs& args);
Status run_ms_quantize_linear(const Call& call, KernelArgs& args);
Status run_ms_range(const Call& call, KernelArgs& args);
Status run_ms_reduce_sum_integer(const Call& call, KernelArgs& args);
Status run_ms_rotary(const Call& call, KernelArgs& args);
Status run_ms_simplified_layer_norm(const Call& call, KernelArgs& args);
Status run_ms_skip_layer_norm(const Call& call, KernelArgs& args);
Status run_ms_tokenizer(const Call& call, KernelArgs& args);
Status run_ms_trilu(const Call& call, KernelArgs& args);
Status run_ms_unique(const Call& call, KernelArgs& args);

}  // namespace anyshape::ops
