#include "ops/nn/attention_kernel.h"
#include "ops/nn/window.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kInLinear[] = {
    {"query"}, {"key"}, {"value"}, {"past_state", Port::optional}, {"decay", Port::optional}, {"beta", Port::optional}};
constexpr Port kOutLinear[] = {{"output"}, {"present_state"}};
constexpr Port kInRotary[] = {
    {"X"}, {"cos_cache"}, {"sin_cache"}, {"position_ids", Port::optional | Port::value | Port::settled}};
constexpr Port kLinearAttentionOut[] = {{"Y"}};
constexpr AttributeDef kLinearAttentionAttributes[] = {
    {"chunk_size", 64},
    {"kv_num_heads", AttributeDef::integer, AttributeDef::required},
    {"q_num_heads", AttributeDef::integer, AttributeDef::required},
    {"scale", 0.0f},
    {"update_rule", "gated_delta"},
};
constexpr AttributeDef kRotaryEmbeddingAttributes[] = {
    {"interleaved", 0},
    {"num_heads", AttributeDef::integer},
    {"rotary_embedding_dim", 0},
};

Result<Dim> divide(InferContext& context, Dim size, int64_t parts, RuleCode code, std::string_view what) {
  if (auto quotient = context.assumptions().exact_div(size, parts)) return *quotient;
  TRY_OK(context.require(Condition::divisible(size, parts), code, "{}, {}, must be a multiple of {}", what, print(size),
                         parts));
  return floordiv(size, parts);
}

// Input i is [batch, steps, one of two widths].
Status require_gate(const Call& call, InferContext& context, size_t input, const Dims& query, Dim wide, Dim narrow,
                    std::string_view what) {
  if (!call.has(input)) return {};
  TRY(const Dims gate, dims_of_rank(call, input, 3));
  TRY_OK(require_dims(call, context, input, {query[0], query[1], gate[2]}, "linearattention.shape", what));
  return context.require(Condition::eq(gate[2], wide) || Condition::eq(gate[2], narrow), "linearattention.shape",
                         "the last axis of {0} must be {2} or {3}, it is {1}", what, print(gate[2]), print(wide),
                         print(narrow));
}

Status require_rule(const Call& call) {
  const auto rule = call.s("update_rule");
  const bool gated = rule == "gated" || rule == "gated_delta", delta = rule == "delta" || rule == "gated_delta";
  if (!gated && !delta && rule != "linear")
    return refuse("linearattention.rule", "update_rule {:?} is not one of linear, gated, delta, gated_delta", rule);
  if (gated && !call.has(4)) return refuse("linearattention.rule", "update_rule {:?} needs decay", rule);
  if (delta && !call.has(5)) return refuse("linearattention.rule", "update_rule {:?} needs beta", rule);
  return {};
}

Result<Facts> infer_linear(const Call& call, InferContext& context) {
  TRY(const Dims q, dims_of_rank(call, 0, 3));
  TRY(const Dims v, dims_of_rank(call, 2, 3));
  const int64_t q_heads = call.i("q_num_heads"), kv_heads = call.i("kv_num_heads");
  if (q_heads < 1 || kv_heads < 1 || q_heads % kv_heads != 0)
    return refuse("linearattention.heads", "q_num_heads {} must be a multiple of kv_num_heads {}, both at least 1",
                  q_heads, kv_heads);
  TRY_OK(require_rule(call));
  TRY(const Dim key_size, divide(context, q[2], q_heads, "linearattention.shape", "the last axis of query"));
  TRY(const Dim value_size, divide(context, v[2], kv_heads, "linearattention.shape", "the last axis of value"));
  const Dim keys = key_size * Dim(kv_heads);
  TRY_OK(require_dims(call, context, 1, {q[0], q[1], keys}, "linearattention.shape", "key"));
  TRY_OK(require_dims(call, context, 2, {q[0], q[1], v[2]}, "linearattention.shape", "value"));
  const Dims state{q[0], kv_heads, key_size, value_size};
  TRY_OK(require_dims(call, context, 3, state, "linearattention.state", "past_state"));
  TRY_OK(require_gate(call, context, 4, q, keys, kv_heads, "decay"));
  TRY_OK(require_gate(call, context, 5, q, kv_heads, 1, "beta"));
  const DType dtype = call.in(0).dtype;
  return Facts{Fact::tensor(dtype, {q[0], q[1], value_size * Dim(q_heads)}),
               Fact::tensor(call.has(3) ? call.in(3).dtype : dtype, state)};
}

struct Rotation {
  Dim batch, length, half;
};

Result<Rotation> read_rotation(const Call& call, InferContext& context) {
  TRY(const Dims x, call.dims(0));
  if (x.size() != 3 && x.size() != 4)
    return refuse("rank", "RotaryEmbedding takes an input of rank 3 or 4, it is {}", text(x));
  Dim head = x.back();
  if (x.size() == 3) {
    const int64_t heads = call.i("num_heads");
    if (heads < 1) return refuse("rotary.heads", "an input of rank 3 needs num_heads of at least 1");
    TRY(head, divide(context, x[2], heads, "rotary.heads", "the last axis"));
  }
  const int64_t part = call.i("rotary_embedding_dim");
  if (part < 0 || part % 2 != 0)
    return refuse("rotary.dim", "rotary_embedding_dim is {}, an even size is needed", part);
  if (part > 0)
    TRY_OK(context.require(Condition::le(part, head), "rotary.dim",
                           "rotary_embedding_dim {} must not exceed the head size {}", part, print(head)));
  TRY(const Dim half, divide(context, part > 0 ? Dim(part) : head, 2, lenient("lenient.rotary"), "the rotated size"));
  return Rotation{x[0], x[x.size() - 2], half};
}

Status require_positions(const Call& call, InferContext& context, const Rotation& r, Dim rows) {
  TRY_OK(require_dims(call, context, 3, {r.batch, r.length}, "rotary.positions", "position_ids"));
  TRY_OK(context.require(Condition::le(r.length, rows), "rotary.cache",
                         "the caches must have a row for each token: {} tokens, {} rows", print(r.length),
                         print(rows)));
  const auto bounds = call.in(3).value_bounds();
  if (!bounds) {
    context.data_condition("rotary.positions", "position_ids must be in 0..{}", print(rows - 1));
    return {};
  }
  const Condition none = Condition::eq(r.batch, 0) || Condition::eq(r.length, 0);
  return context.require(none || (Condition::ge(bounds->lo, 0) && Condition::lt(bounds->hi, rows)), "rotary.positions",
                         "position_ids, which are in {}..{}, must be below the {} rows of the caches",
                         print(bounds->lo), print(bounds->hi), print(rows));
}

Result<Facts> infer_rotary(const Call& call, InferContext& context) {
  TRY(const Rotation r, read_rotation(call, context));
  Dims cache{r.batch, r.length, r.half};
  if (call.has(3)) {
    TRY(const Dims table, dims_of_rank(call, 1, 2));
    cache = {table[0], r.half};
    TRY_OK(require_positions(call, context, r, table[0]));
  }
  TRY_OK(require_dims(call, context, 1, cache, "rotary.cache", "cos_cache"));
  TRY_OK(require_dims(call, context, 2, cache, "rotary.cache", "sin_cache"));
  return Facts{call.in(0).type_only()};
}

constexpr Kernel kLinearKernels[] = {{"reference", run_linear_attention}};
constexpr Kernel kRotaryKernels[] = {{"reference", run_rotary_embedding}};

}  // namespace

constexpr OpDef kLinearAttention27{
    .name = "LinearAttention",
    .since = 27,
    .sig = {kInLinear, kOutLinear, "attention by a recurrent state", kLinearAttentionAttributes},
    .infer = infer_linear,
    .kernels = kLinearKernels};
constexpr OpDef kRotaryEmbedding23{
    .name = "RotaryEmbedding",
    .since = 23,
    .sig = {kInRotary, kLinearAttentionOut, "rotation of embeddings by position", kRotaryEmbeddingAttributes},
    .infer = infer_rotary,
    .kernels = kRotaryKernels};

}  // namespace anyshape::ops
