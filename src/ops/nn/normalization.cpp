#include <algorithm>

#include "ops/nn/normalization_kernel.h"
#include "ops/nn/window.h"
#include "ops/records.h"
#include "ops/shown.h"

namespace anyshape::ops {
namespace {

constexpr Port kInX[] = {{"X"}};
constexpr Port kInScale[] = {{"X"}, {"scale"}};
constexpr Port kInScaleBias[] = {{"X"}, {"scale"}, {"B"}};
constexpr Port kInLayer[] = {{"X"}, {"Scale"}, {"B", Port::optional}};
constexpr Port kInBatch[] = {{"X"}, {"scale"}, {"B"}, {"mean"}, {"var"}};
constexpr Port kNormalizationOut[] = {{"Y"}};
constexpr Port kOutLayer[] = {{"Y"}, {"Mean", Port::optional}, {"InvStdDev", Port::optional}};
constexpr Port kOutBatch1[] = {{"Y"},
                               {"mean", Port::optional},
                               {"var", Port::optional},
                               {"saved_mean", Port::optional},
                               {"saved_var", Port::optional}};
constexpr Port kOutBatch14[] = {{"Y"}, {"running_mean", Port::optional}, {"running_var", Port::optional}};
constexpr AttributeDef kBatchNormalization1Attributes[] = {
    {"epsilon", 1e-05f},
    {"momentum", 0.9f},
    {"is_test", 0, {1, 6}},
    {"spatial", 1, {1, 8}},
};
constexpr AttributeDef kBatchNormalization14Attributes[] = {
    {"epsilon", 1e-05f},
    {"momentum", 0.9f},
    {"training_mode", 0},
};
constexpr AttributeDef kGroupNormalizationAttributes[] = {
    {"epsilon", 1e-05f},
    {"num_groups", AttributeDef::integer, AttributeDef::required},
    {"stash_type", 1, {21}},
};
constexpr AttributeDef kInstanceNormalizationAttributes[] = {
    {"epsilon", 1e-05f},
};
constexpr AttributeDef kLRNAttributes[] = {
    {"alpha", 1e-04f},
    {"beta", 0.75f},
    {"bias", 1.0f},
    {"size", AttributeDef::integer, AttributeDef::required},
};
constexpr AttributeDef kLayerNormalizationAttributes[] = {
    {"axis", -1},
    {"epsilon", 1e-05f},
    {"stash_type", 1},
};
constexpr AttributeDef kLpNormalizationAttributes[] = {
    {"axis", -1},
    {"p", 2},
};
constexpr int64_t kMeanAxes[] = {0, 2, 3};
constexpr AttributeDef kMeanVarianceNormalizationAttributes[] = {
    {"axes", kMeanAxes},
};

Result<Dims> dims_from_rank(const Call& call, size_t least) {
  TRY(Dims x, call.dims(0));
  if (x.size() < least)
    return refuse("rank", "{} takes an input of rank {} or more, it is {}", call.type(), least, shown(x));
  return x;
}

// The shape of scale, bias, mean and variance: one entry per channel, or before opset 9 one per cell of a sample.
Dims parameter_dims(const Call& call, const Dims& x) {
  if (x.size() == 1) return {1};
  if (call.version() < 9 && call.i("spatial") == 0) return Dims(x.begin() + 1, x.end());
  return {x[1]};
}

Result<Dims> batch_parameters(const Call& call, InferContext& context) {
  TRY(const Dims x, dims_from_rank(call, 1));
  const Dims parameters = parameter_dims(call, x);
  constexpr std::string_view kNames[] = {"", "scale", "the bias", "the mean", "the variance"};
  for (size_t i = 1; i < 5; ++i) TRY_OK(require_dims(call, context, i, parameters, "batchnorm.parameter", kNames[i]));
  return parameters;
}

Result<Facts> infer_batch1(const Call& call, InferContext& context) {
  TRY(const Dims parameters, batch_parameters(call, context));
  const Fact statistic = Fact::tensor(call.in(0).dtype, parameters);
  return Facts{call.in(0).type_only(), statistic, statistic, statistic, statistic};
}

Result<Facts> infer_batch14(const Call& call, InferContext& context) {
  TRY(const Dims parameters, batch_parameters(call, context));
  const bool training = call.i("training_mode") != 0;
  if (training != (call.outputs() == 3))
    return refuse("batchnorm.outputs", "with training_mode={} BatchNormalization has {} outputs, not {}", training,
                  training ? 3 : 1, call.outputs());
  return Facts{call.in(0).type_only(), Fact::tensor(call.in(3).dtype, parameters),
               Fact::tensor(call.in(4).dtype, parameters)};
}

Result<Facts> infer_instance(const Call& call, InferContext& context) {
  TRY(const Dims x, dims_from_rank(call, 3));
  TRY_OK(require_vector(call, context, 1, x[1], "instancenorm.parameter", "scale"));
  TRY_OK(require_vector(call, context, 2, x[1], "instancenorm.parameter", "the bias"));
  return Facts{call.in(0).type_only()};
}

// Shared by LayerNormalization and RMSNormalization: the axis from which on the input is normalised.
Result<size_t> normalized_from(const Call& call, InferContext& context, const Dims& x) {
  TRY(const size_t axis, normalize_axis(call.i("axis"), x.size()));
  for (size_t i = 1; i < call.inputs(); ++i) {
    if (!call.has(i) || !call.in(i).dims) continue;
    TRY_OK(require_broadcastable_to(context, *call.in(i).dims, x, i == 1 ? "scale" : "the bias"));
  }
  for (size_t i = axis; i < x.size(); ++i)
    TRY_OK(context.require(Condition::ge(x[i], 1), "norm.empty", "{} over axes {}.. of {}: axis {} must not be empty",
                           call.type(), axis, shown(x), i));
  return axis;
}

Result<Facts> infer_layer(const Call& call, InferContext& context) {
  TRY(const Dims x, call.dims(0));
  TRY(const size_t axis, normalized_from(call, context, x));
  const auto stash = dtype_from_onnx(call.i("stash_type"));
  if (!stash || (*stash != DType::f32 && *stash != DType::bf16))
    return refuse("norm.stash_type", "stash_type {} is neither float nor bfloat16", call.i("stash_type"));
  Dims kept = x;
  std::fill(kept.begin() + static_cast<ptrdiff_t>(axis), kept.end(), Dim(1));
  const Fact statistic = Fact::tensor(*stash, std::move(kept));
  return Facts{call.in(0).type_only(), statistic, statistic};
}

Result<Facts> infer_rms(const Call& call, InferContext& context) {
  TRY(const Dims x, call.dims(0));
  TRY_OK(normalized_from(call, context, x));
  return Facts{Fact::tensor(call.in(1).dtype, x)};
}

// ONNX Runtime lets a single entry stand for all.
Status require_group_parameter(const Call& call, InferContext& context, size_t input, Dim size) {
  if (!call.has(input) || !call.in(input).dims) return {};
  const Dims& dims = *call.in(input).dims;
  const bool single = dims.size() == 1 && dims[0] == Dim(1);
  return require_vector(call, context, input, size,
                        single ? lenient("lenient.groupnorm") : RuleCode("groupnorm.parameter"),
                        input == 1 ? "scale" : "the bias");
}

Result<Facts> infer_group(const Call& call, InferContext& context) {
  TRY(const Dims x, dims_from_rank(call, 2));
  const int64_t groups = call.i("num_groups");
  if (groups < 1) return refuse("groupnorm.groups", "num_groups is {}, at least 1 is needed", groups);
  TRY_OK(context.require(Condition::divisible(x[1], groups), "groupnorm.groups",
                         "{} channels must be a multiple of num_groups {}", shown(x[1]), groups));
  for (size_t i = 0; i < x.size(); ++i)
    TRY_OK(context.require(Condition::ge(x[i], 1), "norm.empty", "GroupNormalization of {}: axis {} must not be empty",
                           shown(x), i));
  const Dim size = call.version() < 21 ? Dim(groups) : x[1];
  TRY_OK(require_group_parameter(call, context, 1, size));
  TRY_OK(require_group_parameter(call, context, 2, size));
  return Facts{call.in(0).type_only()};
}

Result<Facts> infer_lp(const Call& call, InferContext&) {
  TRY(const Dims x, call.dims(0));
  TRY_OK(normalize_axis(call.i("axis"), x.size()));
  const int64_t p = call.i("p");
  if (p != 1 && p != 2) return refuse("lpnorm.p", "p is {}, only 1 and 2 are defined", p);
  return Facts{call.in(0).type_only()};
}

Result<Facts> infer_mean_variance(const Call& call, InferContext&) {
  TRY(const Dims x, call.dims(0));
  if (const auto found = normalize_axes(call.ints_or_default("axes"), x.size()); !found)
    return refuse(lenient("lenient.axes"), "{}", found.error().message);
  return Facts{call.in(0).type_only()};
}

Result<Facts> infer_lrn(const Call& call, InferContext&) {
  TRY(const Dims x, dims_from_rank(call, 2));
  const int64_t size = call.i("size");
  if (size < 1) return refuse("lrn.size", "size is {}, at least 1 is needed", size);
  return Facts{Fact::tensor(call.in(0).dtype, x)};
}

constexpr Kernel kBatch[] = {{"reference", batch_normalization}};
constexpr Kernel kGroup[] = {{"reference", group_normalization}};
constexpr Kernel kInstance[] = {{"reference", instance_normalization}};
constexpr Kernel kLayer[] = {{"reference", layer_normalization}};
constexpr Kernel kLocalResponse[] = {{"reference", local_response_normalization}};
constexpr Kernel kLp[] = {{"reference", lp_normalization}};
constexpr Kernel kMeanVariance[] = {{"reference", mean_variance_normalization}};
constexpr Kernel kRms[] = {{"reference", rms_normalization}};

}  // namespace

constexpr OpDef kBatchNormalization1{
    .name = "BatchNormalization",
    .since = 1,
    .sig = {kInBatch, kOutBatch1, "normalisation by statistics per channel", kBatchNormalization1Attributes},
    .infer = infer_batch1,
    .kernels = kBatch};
constexpr OpDef kBatchNormalization14{
    .name = "BatchNormalization",
    .since = 14,
    .sig = {kInBatch, kOutBatch14, "normalisation by statistics per channel", kBatchNormalization14Attributes},
    .infer = infer_batch14,
    .kernels = kBatch};
constexpr OpDef kGroupNormalization18{
    .name = "GroupNormalization",
    .since = 18,
    .sig = {kInScaleBias, kNormalizationOut, "normalisation within groups of channels", kGroupNormalizationAttributes},
    .infer = infer_group,
    .kernels = kGroup};
constexpr OpDef kInstanceNormalization1{
    .name = "InstanceNormalization",
    .since = 1,
    .sig = {kInScaleBias, kNormalizationOut, "normalisation per sample and channel", kInstanceNormalizationAttributes},
    .infer = infer_instance,
    .kernels = kInstance};
constexpr OpDef kLRN1{.name = "LRN",
                      .since = 1,
                      .sig = {kInX, kNormalizationOut, "local response normalisation across channels", kLRNAttributes},
                      .infer = infer_lrn,
                      .kernels = kLocalResponse};
constexpr OpDef kLayerNormalization17{
    .name = "LayerNormalization",
    .since = 17,
    .sig = {kInLayer, kOutLayer, "normalisation over the last axes", kLayerNormalizationAttributes},
    .infer = infer_layer,
    .kernels = kLayer};
constexpr OpDef kLpNormalization1{
    .name = "LpNormalization",
    .since = 1,
    .sig = {kInX, kNormalizationOut, "division by the norm along an axis", kLpNormalizationAttributes},
    .infer = infer_lp,
    .kernels = kLp};
constexpr OpDef kMeanVarianceNormalization9{
    .name = "MeanVarianceNormalization",
    .since = 9,
    .sig = {kInX, kNormalizationOut, "zero mean and unit variance over axes", kMeanVarianceNormalizationAttributes},
    .infer = infer_mean_variance,
    .kernels = kMeanVariance};
constexpr OpDef kRMSNormalization23{
    .name = "RMSNormalization",
    .since = 23,
    .sig = {kInScale, kNormalizationOut, "division by the root mean square of the last axes",
            kLayerNormalizationAttributes},
    .infer = infer_rms,
    .kernels = kRms};

}  // namespace anyshape::ops
