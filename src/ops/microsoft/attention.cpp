#include "ops/microsoft/ports.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kAttentionIn[] = {{"input"},
                                 {"weights"},
                                 {"bias", kOpt},
                                 {"mask_index", kOpt},
                                 {"past", kOpt},
                                 {"attention_bias", kOpt},
                                 {"past_sequence_length", kOpt}};
constexpr Port kAttentionOut[] = {{"output"}, {"present", kOpt}};
constexpr Port kQAttentionIn[] = {{"input"},
                                  {"weight"},
                                  {"bias"},
                                  {"input_scale"},
                                  {"weight_scale"},
                                  {"mask_index", kOpt},
                                  {"input_zero_point", kOpt},
                                  {"weight_zero_point", kOpt},
                                  {"past", kOpt}};
constexpr Port kMultiIn[] = {{"query"},
                             {"key", kOpt},
                             {"value", kOpt},
                             {"bias", kOpt},
                             {"key_padding_mask", kOpt},
                             {"attention_bias", kOpt},
                             {"past_key", kOpt},
                             {"past_value", kOpt},
                             {"past_sequence_length", kOpt},
                             {"cache_indirection", kOpt}};
constexpr Port kMaskedIn[] = {{"query"},
                              {"key", kOpt},
                              {"value", kOpt},
                              {"mask_index", kOpt},
                              {"attention_bias", kOpt},
                              {"past_key", kOpt},
                              {"past_value", kOpt},
                              {"past_sequence_length", kOpt},
                              {"beam_width", kOpt},
                              {"cache_indirection", kOpt},
                              {"bias", kOpt}};
constexpr Port kMultiOut[] = {{"output"}, {"present_key", kOpt}, {"present_value", kOpt}, {"qk", kOpt}};
constexpr Port kAttentionGroupIn[] = {{"query"},
                                      {"key", kOpt},
                                      {"value", kOpt},
                                      {"past_key", kOpt},
                                      {"past_value", kOpt},
                                      {"seqlens_k", kOpt},
                                      {"total_sequence_length", kOpt | Port::value},
                                      {"cos_cache", kOpt},
                                      {"sin_cache", kOpt},
                                      {"position_ids", kOpt},
                                      {"attention_bias", kOpt},
                                      {"head_sink", kOpt},
                                      {"k_scale", kOpt},
                                      {"v_scale", kOpt}};
constexpr Port kRotaryIn[] = {{"input"}, {"position_ids", Port::value | Port::settled}, {"cos_cache"}, {"sin_cache"}};
constexpr Port kPackedIn[] = {
    {"input"}, {"weights"}, {"bias"}, {"token_offset"}, {"cumulative_sequence_length"}, {"attention_bias", kOpt}};
constexpr Port kOut[] = {{"output"}};
constexpr AttributeDef kAttentionAttributes[] = {
    {"do_rotary", AttributeDef::integer},
    {"mask_filter_value", -10000.0f},
    {"num_heads", AttributeDef::integer, AttributeDef::required},
    {"past_present_share_buffer", AttributeDef::integer},
    {"qkv_hidden_sizes", AttributeDef::integers},
    {"rotary_embedding_dim", AttributeDef::integer},
    {"scale", AttributeDef::real},
    {"unidirectional", 0},
};
constexpr AttributeDef kDecoderMaskedMultiHeadAttentionAttributes[] = {
    {"mask_filter_value", -10000.0f},     {"num_heads", AttributeDef::integer, AttributeDef::required},
    {"output_qk", AttributeDef::integer}, {"past_present_share_buffer", AttributeDef::integer},
    {"scale", AttributeDef::real},
};
constexpr AttributeDef kGroupQueryAttentionAttributes[] = {
    {"causal", 1},
    {"do_rotary", AttributeDef::integer},
    {"k_quant_type", "NONE"},
    {"kv_cache_bit_width", AttributeDef::integer},
    {"kv_num_heads", AttributeDef::integer, AttributeDef::required},
    {"local_window_size", -1},
    {"num_heads", AttributeDef::integer, AttributeDef::required},
    {"qk_norm_epsilon", 1e-06f},
    {"qk_output", 0},
    {"rotary_interleaved", AttributeDef::integer},
    {"scale", AttributeDef::real},
    {"sliding_window_cache", 0},
    {"smooth_softmax", -1},
    {"softcap", AttributeDef::real},
    {"v_quant_type", "NONE"},
};
constexpr AttributeDef kMultiHeadAttentionAttributes[] = {
    {"mask_filter_value", -10000.0f},
    {"num_heads", AttributeDef::integer, AttributeDef::required},
    {"scale", AttributeDef::real},
    {"unidirectional", 0},
};
constexpr AttributeDef kPackedAttentionAttributes[] = {
    {"num_heads", AttributeDef::integer, AttributeDef::required},
    {"qkv_hidden_sizes", AttributeDef::integers},
    {"scale", AttributeDef::real},
};
constexpr AttributeDef kQAttentionAttributes[] = {
    {"do_rotary", AttributeDef::integer},
    {"mask_filter_value", -10000.0f},
    {"num_heads", AttributeDef::integer, AttributeDef::required},
    {"past_present_share_buffer", AttributeDef::integer},
    {"scale", AttributeDef::real},
    {"unidirectional", 0},
};
constexpr AttributeDef kRotaryEmbeddingAttributes[] = {
    {"interleaved", AttributeDef::integer}, {"is_packed_batching", AttributeDef::integer},
    {"num_heads", AttributeDef::integer},   {"rotary_embedding_dim", AttributeDef::integer},
    {"scale", AttributeDef::real},
};

Result<int64_t> heads_of(const Call& call, std::string_view name) {
  const int64_t heads = call.i(name);
  if (heads < 1) return refuse("attention.heads", "{} is {}", name, heads);
  return heads;
}

Result<Dim> head_size(InferContext& context, Dim hidden, Dim heads) {
  TRY_OK(context.require(Condition::divisible(hidden, heads), "attention.heads",
                         "{} features must be a multiple of {} heads", print(hidden), print(heads)));
  return context.simplify(floordiv(hidden, heads));
}

// The features of V: those of qkv_hidden_sizes, or a third of the weights' columns.
Result<Dim> value_features(const Call& call, InferContext& context, Dim columns) {
  const auto* sizes = call.given<std::vector<int64_t>>("qkv_hidden_sizes");
  if (sizes && !sizes->empty()) {
    if (sizes->size() != 3) return refuse("attention.hidden", "qkv_hidden_sizes must have three entries");
    Dim sum = 0;
    for (int64_t size : *sizes) sum = sum + Dim(size);
    TRY_OK(context.require(Condition::eq(columns, sum), "attention.hidden",
                           "the columns of the weights must be the sum of qkv_hidden_sizes: {} and {}", print(columns),
                           print(sum)));
    return Dim((*sizes)[2]);
  }
  TRY_OK(context.require(Condition::divisible(columns, 3), "attention.hidden",
                         "the columns of the weights, {}, must be a multiple of 3: they hold Q, K and V",
                         print(columns)));
  return context.simplify(floordiv(columns, 3));
}

Result<Facts> infer_projected(const Call& call, InferContext& context, size_t past, DType dtype) {
  TRY_OK(require_rank(call, 0, 3));
  TRY_OK(require_rank(call, 1, 2));
  const Dims &input = *call.in(0).dims, &weights = *call.in(1).dims;
  TRY(const int64_t heads, heads_of(call, "num_heads"));
  TRY_OK(context.require(Condition::eq(input[2], weights[0]), "attention.inner",
                         "the inner sizes of the input {} and the weights {} must be equal", text(input),
                         text(weights)));
  TRY_OK(require_entries(call, context, 2, weights[1], "attention.bias"));
  TRY(const Dim features, value_features(call, context, weights[1]));
  TRY(const Dim size, head_size(context, features, heads));
  Fact present = Fact::tensor(dtype, {2, input[0], heads, input[1], size});
  if (call.has(past)) {
    TRY_OK(require_rank(call, past, 5));
    const Dims& before = *call.in(past).dims;
    const Dim old[] = {2, input[0], heads};
    for (size_t i = 0; i < 3; ++i)
      TRY_OK(context.require(Condition::eq(before[i], old[i]), "attention.past", "past is {}, axis {} must be {}",
                             text(before), i, print(old[i])));
    const bool shared = call.i("past_present_share_buffer") != 0;
    (*present.dims)[3] = shared ? before[3] : before[3] + input[1];
    (*present.dims)[4] = before[4];
  }
  return Facts{Fact::tensor(dtype, {input[0], input[1], features}), present};
}

Result<Facts> infer_attention(const Call& call, InferContext& context) {
  return infer_projected(call, context, 4, call.in(0).dtype);
}
Result<Facts> infer_q_attention(const Call& call, InferContext& context) {
  return infer_projected(call, context, 8, call.in(3).dtype);
}

struct AttentionHeads {
  Dim batch, query_length, key_length, value_features, key_size, value_size;
  int64_t count = 0;
};

// Key and value as [B, L, D] or as [B, N, L, H].
Status read_key_value(const Call& call, InferContext& context, const Dims& query, AttentionHeads& heads) {
  TRY(const Dims key, call.dims(1));
  if (key.size() == 5) {
    heads.key_length = key[1];
    heads.key_size = heads.value_size = key[4];
    heads.value_features = key[2] * key[4];
    return {};
  }
  if (!call.has(2)) return refuse("attention.value", "value is missing");
  TRY(const Dims value, call.dims(2));
  if (key.size() != value.size() || (key.size() != 3 && key.size() != 4))
    return refuse("attention.rank", "key is {} and value {}", text(key), text(value));
  const size_t length = key.size() == 3 ? 1 : 2;
  TRY_OK(context.require(Condition::eq(key[0], query[0]), "attention.batch", "query {} and key {} must fit together",
                         text(query), text(key)));
  TRY_OK(context.require(Condition::eq(key[length], value[length]), "attention.length",
                         "key {} and value {} must be equally long", text(key), text(value)));
  heads.key_length = key[length];
  if (key.size() == 3) {
    TRY_OK(context.require(Condition::eq(key[2], query[2]), "attention.hidden", "query {} and key {} must fit together",
                           text(query), text(key)));
    heads.value_features = value[2];
    TRY(heads.value_size, head_size(context, value[2], heads.count));
    return {};
  }
  heads.value_features = value[1] * value[3];
  heads.value_size = value[3];
  return {};
}

Result<AttentionHeads> read_heads_attention(const Call& call, InferContext& context) {
  AttentionHeads heads;
  TRY(heads.count, heads_of(call, "num_heads"));
  TRY(const Dims query, call.dims(0));
  if (query.size() != 3 && query.size() != 5)
    return refuse("attention.rank", "query must be [B, S, D] or [B, S, N, 3, H], it is {}", text(query));
  heads.batch = query[0];
  heads.query_length = query[1];
  if (query.size() == 5) {
    heads.key_length = query[1];
    heads.key_size = heads.value_size = query[4];
    heads.value_features = query[2] * query[4];
    return heads;
  }
  TRY(heads.key_size, head_size(context, query[2], heads.count));
  if (!call.has(1)) {
    heads.key_length = query[1];
    TRY_OK(context.require(Condition::divisible(query[2], 3 * heads.count), "attention.heads",
                           "{} features must be a multiple of Q, K and V of {} heads", print(query[2]), heads.count));
    heads.value_features = context.simplify(floordiv(query[2], 3));
    heads.key_size = heads.value_size = context.simplify(floordiv(query[2], 3 * heads.count));
    return heads;
  }
  TRY_OK(read_key_value(call, context, query, heads));
  return heads;
}

Result<Facts> infer_multi(const Call& call, InferContext& context, size_t past, bool shared) {
  TRY(const AttentionHeads heads, read_heads_attention(call, context));
  Dim total = heads.key_length;
  if (call.has(past)) {
    TRY_OK(require_rank(call, past, 4));
    const Dims& before = *call.in(past).dims;
    const Dim old[] = {heads.batch, heads.count};
    for (size_t i = 0; i < 2; ++i)
      TRY_OK(context.require(Condition::eq(before[i], old[i]), "attention.past", "past_key is {}, axis {} must be {}",
                             text(before), i, print(old[i])));
    total = shared ? before[2] : before[2] + heads.key_length;
  }
  const DType dtype = call.in(0).dtype;
  return Facts{Fact::tensor(dtype, {heads.batch, heads.query_length, heads.value_features}),
               Fact::tensor(dtype, {heads.batch, heads.count, total, heads.key_size}),
               Fact::tensor(dtype, {heads.batch, heads.count, total, heads.value_size}),
               Fact::tensor(dtype, {heads.batch, heads.count, heads.query_length, total})};
}

Result<Facts> infer_multi_head(const Call& call, InferContext& context) {
  return infer_multi(call, context, 6, call.has(8));
}
Result<Facts> infer_masked(const Call& call, InferContext& context) {
  return infer_multi(call, context, 5, call.i("past_present_share_buffer") != 0);
}

// The sizes of query heads; Q, K and V may stand side by side in one input.
Result<Dim> grouped_size(const Call& call, InferContext& context, int64_t heads, int64_t shared, const Dims& query) {
  if (!call.has(1)) return head_size(context, query[2], Dim(heads) + Dim(2) * Dim(shared));
  TRY(const Dim size, head_size(context, query[2], heads));
  TRY_OK(require_rank(call, 1, 3));
  TRY_OK(context.require(Condition::eq((*call.in(1).dims)[2], size * Dim(shared)), "attention.hidden",
                         "key, which is {}, must have {} heads of {}", text(*call.in(1).dims), shared, print(size)));
  return size;
}

Result<Facts> infer_grouped(const Call& call, InferContext& context) {
  TRY(const int64_t heads, heads_of(call, "num_heads"));
  TRY(const int64_t shared, heads_of(call, "kv_num_heads"));
  if (heads % shared != 0) return refuse("attention.heads", "{} heads cannot share {} heads of keys", heads, shared);
  TRY_OK(require_rank(call, 0, 3));
  const Dims& query = *call.in(0).dims;
  TRY(const Dim size, grouped_size(call, context, heads, shared, query));
  TRY_OK(require_entries(call, context, 5, query[0], "attention.batch"));
  std::optional<Dim> before;
  if (call.has(3)) {
    TRY_OK(require_rank(call, 3, 4));
    const Dims& past = *call.in(3).dims;
    TRY_OK(context.require(Condition::eq(past[0], query[0]) && Condition::eq(past[1], shared), "attention.past",
                           "past_key is {}, it must start with [{}, {}]", text(past), print(query[0]), shared));
    before = past[2];
  }
  const auto total = call.has(6) ? call.in(6).single() : std::nullopt;
  Dim length = total ? *total : query[1];
  if (total && before) length = context.simplify(max(*total, *before));
  if (!total) {
    const Dim least = before ? *before : query[1];
    length = call.has(6) ? context.fresh(call.in(6), "total", least) : least;
  }
  const DType dtype = call.in(0).dtype, cache = call.has(3) ? call.in(3).dtype : dtype;
  const Fact present = Fact::tensor(cache, {query[0], shared, length, size});
  return Facts{Fact::tensor(dtype, {query[0], query[1], size * Dim(heads)}), present, present};
}

Result<Facts> infer_rotary(const Call& call, InferContext& context) {
  TRY(const Dims dims, call.dims(0));
  if (dims.size() != 3 && dims.size() != 4)
    return refuse("rank", "RotaryEmbedding takes [B, S, D] or [B, N, S, H], the input is {}", text(dims));
  TRY_OK(require_rank(call, 2, 2));
  TRY_OK(require_rank(call, 3, 2));
  const Dims& cos = *call.in(2).dims;
  TRY_OK(require_same_dims(context, cos, *call.in(3).dims, "cos_cache and sin_cache"));
  const Dim length = dims.size() == 3 ? dims[1] : dims[2];
  TRY_OK(context.require(Condition::le(length, cos[0]), "rotaryembedding.length",
                         "the caches must have {} positions, they have {}", print(length), print(cos[0])));
  context.data_condition("rotaryembedding.position", "positions must lie in 0..{}-1", print(cos[0]));
  TRY(const Dims positions, call.dims(1));
  if (positions.size() == 2)
    TRY_OK(require_same_dims(context, positions, {dims[0], length}, "position_ids"));
  else if (positions.size() == 1)
    TRY_OK(context.require(Condition::eq(positions[0], 1), "rotaryembedding.position",
                           "position_ids is {}, it must be [1] or one per position", text(positions)));
  return Facts{like(call.in(0))};
}

Result<Facts> infer_packed_attention(const Call& call, InferContext& context) {
  TRY_OK(require_rank(call, 0, 2));
  TRY_OK(require_rank(call, 1, 2));
  const Dims &input = *call.in(0).dims, &weights = *call.in(1).dims;
  TRY_OK(context.require(Condition::eq(input[1], weights[0]), "attention.inner",
                         "the inner sizes of the input {} and the weights {} must be equal", text(input),
                         text(weights)));
  TRY_OK(require_entries(call, context, 2, weights[1], "attention.bias"));
  TRY(const Dim features, value_features(call, context, weights[1]));
  return Facts{Fact::tensor(call.in(0).dtype, {input[0], features})};
}

constexpr Kernel kAttentionKernels[] = {{"reference", run_ms_attention}};
constexpr Kernel kGroupQueryAttentionKernels[] = {{"reference", run_ms_group_query_attention}};
constexpr Kernel kMaskedAttentionKernels[] = {{"reference", run_ms_masked_attention}};
constexpr Kernel kMultiHeadAttentionKernels[] = {{"reference", run_ms_multi_head_attention}};
constexpr Kernel kPackedAttentionKernels[] = {{"reference", run_ms_packed_attention}};
constexpr Kernel kQAttentionKernels[] = {{"reference", run_ms_q_attention}};
constexpr Kernel kRotaryKernels[] = {{"reference", run_ms_rotary}};

}  // namespace

constexpr OpDef kMsAttention1{.name = "Attention",
                              .domain = kMs,
                              .sig = {kAttentionIn, kAttentionOut, "projection and attention", kAttentionAttributes},
                              .infer = infer_attention,
                              .kernels = kAttentionKernels};
constexpr OpDef kMsDecoderMaskedMultiHeadAttention1{
    .name = "DecoderMaskedMultiHeadAttention",
    .domain = kMs,
    .sig = {kMaskedIn, kMultiOut, "attention of one new token", kDecoderMaskedMultiHeadAttentionAttributes},
    .infer = infer_masked,
    .kernels = kMaskedAttentionKernels};
constexpr OpDef kMsGroupQueryAttention1{
    .name = "GroupQueryAttention",
    .domain = kMs,
    .sig = {kAttentionGroupIn, kMultiOut, "attention, heads of keys shared", kGroupQueryAttentionAttributes},
    .infer = infer_grouped,
    .kernels = kGroupQueryAttentionKernels};
constexpr OpDef kMsMultiHeadAttention1{
    .name = "MultiHeadAttention",
    .domain = kMs,
    .sig = {kMultiIn, kMultiOut, "attention of several heads", kMultiHeadAttentionAttributes},
    .infer = infer_multi_head,
    .kernels = kMultiHeadAttentionKernels};
constexpr OpDef kMsPackedAttention1{
    .name = "PackedAttention",
    .domain = kMs,
    .sig = {kPackedIn, kOut, "attention over tokens without padding", kPackedAttentionAttributes},
    .infer = infer_packed_attention,
    .kernels = kPackedAttentionKernels};
constexpr OpDef kMsQAttention1{
    .name = "QAttention",
    .domain = kMs,
    .sig = {kQAttentionIn, kAttentionOut, "quantised projection and attention", kQAttentionAttributes},
    .infer = infer_q_attention,
    .kernels = kQAttentionKernels};
constexpr OpDef kMsRotaryEmbedding1{.name = "RotaryEmbedding",
                                    .domain = kMs,
                                    .sig = {kRotaryIn, kOut, "positions as rotations", kRotaryEmbeddingAttributes},
                                    .infer = infer_rotary,
                                    .kernels = kRotaryKernels};

}  // namespace anyshape::ops
