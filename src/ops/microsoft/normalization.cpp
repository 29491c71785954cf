#include "ops/microsoft/common.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kSkipIn[] = {{"input"}, {"skip"}, {"gamma"}, {"beta", Port::optional}, {"bias", Port::optional}};
constexpr Port kSkipSimpleIn[] = {{"input"}, {"skip"}, {"gamma"}, {"bias", Port::optional}};
constexpr Port kSkipOut[] = {
    {"output"}, {"mean", Port::optional}, {"inv_std_var", Port::optional}, {"input_skip_bias_sum", Port::optional}};
constexpr Port kSimpleIn[] = {{"X"}, {"scale"}};
constexpr Port kSimpleOut[] = {{"Y"}, {"inv_std_var", Port::optional}};
constexpr Port kLayerIn[] = {{"X"}, {"scale"}, {"B", Port::optional}};
constexpr Port kLayerOut[] = {{"Y"}, {"mean", Port::optional}, {"inv_std_dev", Port::optional}};
constexpr Port kNormalizationGroupIn[] = {{"X"}, {"gamma"}, {"beta"}};
constexpr Port kSkipGroupIn[] = {{"X"}, {"gamma"}, {"beta"}, {"skip"}, {"bias", Port::optional}};
constexpr Port kGroupOut[] = {{"Y"}};
constexpr Port kSkipGroupOut[] = {{"Y"}, {"S", Port::optional}};
constexpr Port kEmbedIn[] = {{"input_ids", Port::value | Port::settled},
                             {"segment_ids", Port::optional | Port::value | Port::settled},
                             {"word_embedding"},
                             {"position_embedding"},
                             {"segment_embedding", Port::optional},
                             {"gamma"},
                             {"beta"},
                             {"mask", Port::optional},
                             {"position_ids", Port::optional | Port::value | Port::settled}};
constexpr Port kEmbedOut[] = {{"output"}, {"mask_index", Port::optional}, {"embedding_sum", Port::optional}};
constexpr AttributeDef kLayerNormalizationAttributes[] = {{"axis", -1}, {"epsilon", 1e-5f}, {"stash_type", 1}};
constexpr AttributeDef kEmbedLayerNormalizationAttributes[] = {
    {"epsilon", 1e-12f},
    {"mask_index_type", AttributeDef::integer},
};
constexpr AttributeDef kGroupNormAttributes[] = {
    {"activation", AttributeDef::integer, AttributeDef::required},
    {"channels_last", 1},
    {"epsilon", 1e-05f},
    {"groups", 32},
};
constexpr AttributeDef kSkipLayerNormalizationAttributes[] = {
    {"epsilon", 1e-12f},
};

// `skip` is as large as the input, or is repeated over the batch: [1, S, H] or [S, H].
Status check_skip(InferContext& context, const Dims& input, const Dims& skip) {
  if (input.size() == 3 && skip.size() == 2)
    return require_same_dims(context, {input[1], input[2]}, skip, "input and skip");
  if (skip.size() != input.size()) return require_same_dims(context, input, skip, "input and skip");
  for (size_t i = 0; i < input.size(); ++i) {
    const bool batch = i == 0 && input.size() == 3;
    const Condition equal = Condition::eq(input[i], skip[i]);
    TRY_OK(context.require(batch ? equal || Condition::eq(skip[i], 1) : equal, "skiplayernormalization.skip",
                           "input {} and skip {} must fit together", text(input), text(skip)));
  }
  return {};
}

Result<Facts> infer_skip(const Call& call, InferContext& context) {
  TRY(const Dims input, call.dims(0));
  TRY(const Dims skip, call.dims(1));
  if (input.size() != 2 && input.size() != 3)
    return refuse("rank", "{} takes an input of rank 2 or 3, it is {}", call.type(), text(input));
  TRY_OK(check_skip(context, input, skip));
  for (size_t i = 2; i < call.inputs(); ++i)
    TRY_OK(require_entries(call, context, i, input.back(), "skiplayernormalization.size"));
  Dims reduced = input;
  reduced.back() = 1;
  const Fact statistic = Fact::tensor(DType::f32, std::move(reduced));
  return Facts{like(call.in(0)), statistic, statistic, like(call.in(0))};
}

Result<Facts> infer_simplified(const Call& call, InferContext& context) {
  TRY(const Dims dims, call.dims(0));
  TRY(const Dims scale, call.dims(1));
  TRY(const size_t axis, normalize_axis(call.i("axis"), dims.size()));
  TRY_OK(require_broadcastable_to(context, scale, dims, "scale"));
  Dims reduced = dims;
  for (size_t i = axis; i < dims.size(); ++i) reduced[i] = 1;
  return Facts{like(call.in(0), call.in(1).dtype), Fact::tensor(DType::f32, std::move(reduced))};
}

// As the runtime wrote it before opset 17 had it.
Result<Facts> infer_layer(const Call& call, InferContext& context) {
  return rule_of(kLayerNormalization17, 17, call, context, {0, 1, 2});
}

Result<Facts> infer_group(const Call& call, InferContext& context) {
  TRY_OK(require_rank(call, 0, 4));
  const Dims& dims = *call.in(0).dims;
  const bool last = call.i("channels_last") != 0;
  const Dim channels = last ? dims[3] : dims[1];
  for (size_t i : {size_t{1}, size_t{2}}) TRY_OK(require_entries(call, context, i, channels, "groupnorm.channels"));
  const int64_t groups = call.i("groups");
  if (groups < 1) return refuse("groupnorm.groups", "groups is {}", groups);
  TRY_OK(context.require(Condition::divisible(channels, groups), "groupnorm.groups",
                         "{} channels must be a multiple of {} groups", print(channels), groups));
  return Facts{like(call.in(0)), like(call.in(0))};
}

Status check_ids_normalization(const Call& call, InferContext& context, size_t ids, size_t table) {
  if (!call.has(ids) || !call.has(table) || !call.in(table).dims) return {};
  TRY_OK(require_rank(call, table, 2));
  context.data_condition("embedlayernormalization.ids", "input {} must lie in 0..{}-1", ids,
                         print(call.in(table).dims->front()));
  return {};
}

Result<Facts> infer_embed(const Call& call, InferContext& context) {
  TRY_OK(require_rank(call, 0, 2));
  TRY_OK(require_rank(call, 2, 2));
  TRY_OK(require_rank(call, 3, 2));
  const Dims &ids = *call.in(0).dims, &words = *call.in(2).dims, &positions = *call.in(3).dims;
  const Dim hidden = words[1];
  for (size_t table : {size_t{3}, size_t{4}})
    if (call.has(table) && call.in(table).dims) {
      TRY_OK(require_rank(call, table, 2));
      TRY_OK(context.require(Condition::eq((*call.in(table).dims)[1], hidden), "embedlayernormalization.hidden",
                             "input {}, {}, must have rows as long as those of the word embedding {}", table,
                             text(*call.in(table).dims), text(words)));
    }
  for (size_t i : {size_t{5}, size_t{6}})
    TRY_OK(require_entries(call, context, i, hidden, "embedlayernormalization.hidden"));
  if (call.has(1) && call.in(1).dims)
    TRY_OK(require_same_dims(context, ids, *call.in(1).dims, "input_ids and segment_ids"));
  if (call.has(7) && call.in(7).dims) TRY_OK(require_same_dims(context, ids, *call.in(7).dims, "input_ids and mask"));
  if (!call.has(8))
    TRY_OK(context.require(Condition::le(ids[1], positions[0]), "embedlayernormalization.positions",
                           "the position embedding must have {} positions, it has {}", print(ids[1]),
                           print(positions[0])));
  TRY_OK(check_ids_normalization(call, context, 0, 2));
  TRY_OK(check_ids_normalization(call, context, 1, 4));
  TRY_OK(check_ids_normalization(call, context, 8, 3));
  const Fact out = Fact::tensor(call.in(2).dtype, {ids[0], ids[1], hidden});
  return Facts{out, Fact::tensor(DType::i32, {ids[0]}), out};
}

constexpr Kernel kEmbedLayerNormKernels[] = {{"reference", run_ms_embed_layer_norm}};
constexpr Kernel kGroupNormKernels[] = {{"reference", run_ms_group_norm}};
constexpr Kernel kLayerNormKernels[] = {{"reference", run_ms_layer_norm}};
constexpr Kernel kSimplifiedLayerNormKernels[] = {{"reference", run_ms_simplified_layer_norm}};
constexpr Kernel kSkipLayerNormKernels[] = {{"reference", run_ms_skip_layer_norm}};

}  // namespace

// In the domain of ONNX itself, as the runtime's optimiser writes them.
constexpr OpDef kLayerNormalization1{
    .name = "LayerNormalization",
    .since = 1,
    .sig = {kLayerIn, kLayerOut, "normalised over the last axes", kLayerNormalizationAttributes},
    .infer = infer_layer,
    .kernels = kLayerNormKernels};
constexpr OpDef kSimplifiedLayerNormalization1{
    .name = "SimplifiedLayerNormalization",
    .since = 1,
    .sig = {kSimpleIn, kSimpleOut, "divided by the root mean square", kLayerNormalizationAttributes},
    .infer = infer_simplified,
    .kernels = kSimplifiedLayerNormKernels};

constexpr OpDef kMsEmbedLayerNormalization1{
    .name = "EmbedLayerNormalization",
    .domain = kMs,
    .sig = {kEmbedIn, kEmbedOut, "sum of embeddings, normalised", kEmbedLayerNormalizationAttributes},
    .infer = infer_embed,
    .kernels = kEmbedLayerNormKernels};
constexpr OpDef kMsGroupNorm1{
    .name = "GroupNorm",
    .domain = kMs,
    .sig = {kNormalizationGroupIn, kGroupOut, "normalised by groups of channels", kGroupNormAttributes},
    .infer = infer_group,
    .kernels = kGroupNormKernels};
constexpr OpDef kMsSimplifiedLayerNormalization1{
    .name = "SimplifiedLayerNormalization",
    .domain = kMs,
    .sig = {kSimpleIn, kSimpleOut, "divided by the root mean square", kLayerNormalizationAttributes},
    .infer = infer_simplified,
    .kernels = kSimplifiedLayerNormKernels};
constexpr OpDef kMsSkipGroupNorm1{
    .name = "SkipGroupNorm",
    .domain = kMs,
    .sig = {kSkipGroupIn, kSkipGroupOut, "GroupNorm of a sum, and the sum", kGroupNormAttributes},
    .infer = infer_group,
    .kernels = kGroupNormKernels};
constexpr OpDef kMsSkipLayerNormalization1{
    .name = "SkipLayerNormalization",
    .domain = kMs,
    .sig = {kSkipIn, kSkipOut, "LayerNormalization of a sum", kSkipLayerNormalizationAttributes},
    .infer = infer_skip,
    .kernels = kSkipLayerNormKernels};
constexpr OpDef kMsSkipSimplifiedLayerNormalization1{
    .name = "SkipSimplifiedLayerNormalization",
    .domain = kMs,
    .sig = {kSkipSimpleIn, kSkipOut, "SimplifiedLayerNormalization of a sum", kSkipLayerNormalizationAttributes},
    .infer = infer_skip,
    .kernels = kSkipLayerNormKernels};

}  // namespace anyshape::ops
