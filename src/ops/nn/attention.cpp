#include <algorithm>

#include "ops/nn/attention_kernel.h"
#include "ops/nn/window.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kAttentionIn[] = {{"Q"},
                                 {"K"},
                                 {"V"},
                                 {"attn_mask", Port::optional},
                                 {"past_key", Port::optional},
                                 {"past_value", Port::optional},
                                 {"nonpad_kv_seqlen", Port::optional | Port::value | Port::settled}};
constexpr Port kAttentionOut[] = {
    {"Y"}, {"present_key", Port::optional}, {"present_value", Port::optional}, {"qk_matmul_output", Port::optional}};
constexpr Port kInFlex[] = {{"Q"}, {"K"}, {"V"}};
constexpr Port kOutFlex[] = {{"Y"}};
constexpr AttributeDef kAttentionAttributes[] = {
    {"is_causal", 0},
    {"kv_num_heads", AttributeDef::integer},
    {"left_window_size", -1, {25}},
    {"q_num_heads", AttributeDef::integer},
    {"qk_matmul_output_mode", 0},
    {"right_window_size", -1, {25}},
    {"scale", AttributeDef::real},
    {"softcap", 0.0f},
    {"softmax_precision", AttributeDef::integer},
};
constexpr AttributeDef kFlexAttentionAttributes[] = {
    {"prob_mod", AttributeDef::graph},
    {"scale", AttributeDef::real},
    {"score_mod", AttributeDef::graph},
    {"softmax_precision", AttributeDef::integer},
};

struct AttentionSizes {
  Dim batch, q_heads, kv_heads, q_length, kv_length;
  Dim head = 0, v_head = 0;
  Dim past = 0;
  bool packed = false;  // heads side by side in the last axis (rank 3)

  Dim total() const { return past + kv_length; }
};

// hidden / heads, which must be exact.
Result<Dim> head_size(InferContext& context, Dim hidden, Dim heads, std::string_view what) {
  if (auto quotient = context.assumptions().exact_div(hidden, heads)) return *quotient;
  TRY_OK(context.require(Condition::divisible(hidden, heads), "attention.hidden",
                         "the last axis of {}, {}, must be a multiple of {} heads", what, print(hidden), print(heads)));
  return floordiv(hidden, heads);
}

// 0: not said; FlexAttention has no such attributes.
int64_t heads_of(const Call& call, std::string_view attribute) {
  const auto* heads = call.given<int64_t>(attribute);
  return heads ? *heads : 0;
}

Result<AttentionSizes> packed_sizes(const Call& call, InferContext& context, const Dims& q, const Dims& k,
                                    const Dims& v) {
  const int64_t q_heads = heads_of(call, "q_num_heads"), kv_heads = heads_of(call, "kv_num_heads");
  if (q_heads < 1 || kv_heads < 1)
    return refuse("attention.heads", "inputs of rank 3 need q_num_heads and kv_num_heads of at least 1");
  AttentionSizes s{
      .batch = q[0], .q_heads = q_heads, .kv_heads = kv_heads, .q_length = q[1], .kv_length = k[1], .packed = true};
  TRY(s.head, head_size(context, q[2], q_heads, "Q"));
  TRY(s.v_head, head_size(context, v[2], kv_heads, "V"));
  TRY_OK(require_dims(call, context, 1, {s.batch, s.kv_length, s.kv_heads * s.head}, "attention.shape", "K"));
  TRY_OK(require_dims(call, context, 2, {s.batch, s.kv_length, v[2]}, "attention.shape", "V"));
  return s;
}

Result<AttentionSizes> split_sizes(const Call& call, InferContext& context, const Dims& q, const Dims& k,
                                   const Dims& v) {
  const AttentionSizes s{.batch = q[0],
                         .q_heads = q[1],
                         .kv_heads = k[1],
                         .q_length = q[2],
                         .kv_length = k[2],
                         .head = q[3],
                         .v_head = v[3]};
  TRY_OK(require_dims(call, context, 1, {s.batch, s.kv_heads, s.kv_length, s.head}, "attention.shape", "K"));
  TRY_OK(require_dims(call, context, 2, {s.batch, s.kv_heads, s.kv_length, s.v_head}, "attention.shape", "V"));
  const int64_t q_heads = heads_of(call, "q_num_heads"), kv_heads = heads_of(call, "kv_num_heads");
  if (q_heads != 0)
    TRY_OK(context.require(Condition::eq(s.q_heads, q_heads), "attention.heads",
                           "the heads of Q must be q_num_heads: {} and {}", print(s.q_heads), q_heads));
  if (kv_heads != 0)
    TRY_OK(context.require(Condition::eq(s.kv_heads, kv_heads), "attention.heads",
                           "the heads of K must be kv_num_heads: {} and {}", print(s.kv_heads), kv_heads));
  return s;
}

Status require_heads(InferContext& context, const AttentionSizes& s) {
  const std::pair<std::string_view, Dim> sizes[] = {{"the batch", s.batch},
                                                    {"the query length", s.q_length},
                                                    {"the key length", s.kv_length},
                                                    {"the number of query heads", s.q_heads},
                                                    {"the number of key heads", s.kv_heads},
                                                    {"the head size", s.head},
                                                    {"the head size of V", s.v_head}};
  for (const auto& [what, size] : sizes)
    TRY_OK(context.require(Condition::ge(size, 1), "attention.empty", "{} must be at least 1, it is {}", what,
                           print(size)));
  return context.require(Condition::divisible(s.q_heads, s.kv_heads), "attention.heads",
                         "{} query heads must be a multiple of {} key heads", print(s.q_heads), print(s.kv_heads));
}

Result<AttentionSizes> read_sizes(const Call& call, InferContext& context) {
  TRY(const Dims q, call.dims(0));
  if (q.size() != 3 && q.size() != 4)
    return refuse("rank", "{} takes Q of rank 3 or 4, it is {}", call.type(), text(q));
  TRY(const Dims k, dims_of_rank(call, 1, q.size()));
  TRY(const Dims v, dims_of_rank(call, 2, q.size()));
  TRY(const AttentionSizes s,
      q.size() == 3 ? packed_sizes(call, context, q, k, v) : split_sizes(call, context, q, k, v));
  TRY_OK(require_heads(context, s));
  return s;
}

Status read_past(const Call& call, InferContext& context, AttentionSizes& s) {
  if (call.has(4) != call.has(5))
    return refuse("attention.past", "past_key and past_value must be given together or not at all");
  if (!call.has(4)) return {};
  if (call.has(6)) return refuse("attention.past", "nonpad_kv_seqlen cannot be given together with past_key");
  TRY(const Dims past, dims_of_rank(call, 4, 4));
  s.past = past[2];
  TRY_OK(require_dims(call, context, 4, {s.batch, s.kv_heads, s.past, s.head}, "attention.past", "past_key"));
  return require_dims(call, context, 5, {s.batch, s.kv_heads, s.past, s.v_head}, "attention.past", "past_value");
}

// From opset 24 on a mask may end early: the keys beyond it are masked.
Status require_mask(const Call& call, InferContext& context, const AttentionSizes& s) {
  if (!call.has(3) || !call.in(3).dims) return {};
  const Dims full{s.batch, s.q_heads, s.q_length, s.total()};
  Dims mask = *call.in(3).dims;
  if (call.version() < 24 || mask.empty()) return require_broadcastable_to(context, mask, full, "attn_mask");
  TRY_OK(context.require(Condition::le(mask.back(), s.total()), "attention.mask",
                         "attn_mask {} must not cover more keys than there are: {} and {}", text(mask),
                         print(mask.back()), print(s.total())));
  mask.back() = 1;
  return require_broadcastable_to(context, mask, full, "attn_mask");
}

Status require_nonpad(const Call& call, InferContext& context, const AttentionSizes& s) {
  if (!call.has(6)) return {};
  TRY_OK(require_vector(call, context, 6, s.batch, "attention.nonpad", "nonpad_kv_seqlen"));
  const auto bounds = call.in(6).value_bounds();
  if (!bounds) {
    context.data_condition("attention.nonpad", "nonpad_kv_seqlen must be in 0..{}", print(s.kv_length));
    return {};
  }
  return context.require(Condition::ge(bounds->lo, 0) && Condition::le(bounds->hi, s.kv_length), "attention.nonpad",
                         "nonpad_kv_seqlen, which is in {}..{}, must be in 0..{}", print(bounds->lo), print(bounds->hi),
                         print(s.kv_length));
}

Result<Facts> infer_attention(const Call& call, InferContext& context) {
  TRY(AttentionSizes s, read_sizes(call, context));
  TRY_OK(read_past(call, context, s));
  TRY_OK(require_mask(call, context, s));
  TRY_OK(require_nonpad(call, context, s));
  const DType dtype = call.in(0).dtype;
  const Dims y =
      s.packed ? Dims{s.batch, s.q_length, s.q_heads * s.v_head} : Dims{s.batch, s.q_heads, s.q_length, s.v_head};
  return Facts{Fact::tensor(dtype, y), Fact::tensor(call.in(1).dtype, {s.batch, s.kv_heads, s.total(), s.head}),
               Fact::tensor(call.in(2).dtype, {s.batch, s.kv_heads, s.total(), s.v_head}),
               Fact::tensor(dtype, {s.batch, s.q_heads, s.q_length, s.total()})};
}

// score_mod or prob_mod: a body from scores to scores.
Status check_modifier(const Call& call, InferContext& context, std::string_view attribute, const Fact& scores) {
  const Graph* body = call.graph(attribute);
  if (!body) return {};
  TRY(const Facts out, context.infer_body(*body, {scores}));
  if (out.size() != 1) return refuse("attention.modifier", "{} gives {} outputs, one is needed", attribute, out.size());
  if (!out[0].dims) return {};
  return require_same_dims(context, *out[0].dims, *scores.dims, attribute);
}

Result<Facts> infer_flex(const Call& call, InferContext& context) {
  TRY(const Dims q, dims_of_rank(call, 0, 4));
  TRY(const AttentionSizes s, read_sizes(call, context));
  const DType fallback = call.in(0).dtype == DType::f64 ? DType::f64 : DType::f32;
  const auto precision = softmax_precision(call, fallback);
  if (!precision || !is_float(*precision))
    return refuse("attention.precision", "softmax_precision is no floating point type");
  const Fact scores = Fact::tensor(*precision, {s.batch, s.q_heads, s.q_length, s.kv_length});
  TRY_OK(check_modifier(call, context, "score_mod", scores));
  TRY_OK(check_modifier(call, context, "prob_mod", scores));
  return Facts{Fact::tensor(call.in(0).dtype, {s.batch, s.q_heads, s.q_length, s.v_head})};
}

constexpr Kernel kAttentionKernels[] = {{"reference", run_attention}};
constexpr Kernel kFlexKernels[] = {{"reference", run_flex_attention}};

}  // namespace

constexpr OpDef kAttention23{.name = "Attention",
                             .since = 23,
                             .sig = {kAttentionIn, kAttentionOut, "scaled dot-product attention", kAttentionAttributes},
                             .infer = infer_attention,
                             .kernels = kAttentionKernels};
constexpr OpDef kPreviewFlexAttention1{
    .name = "FlexAttention",
    .since = 1,
    .domain = "ai.onnx.preview",
    .sig = {kInFlex, kOutFlex, "attention with bodies that modify its scores", kFlexAttentionAttributes},
    .infer = infer_flex,
    .kernels = kFlexKernels};

}  // namespace anyshape::ops
