#include "ops/ms_common.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kX[] = {{"X"}};
constexpr Port kXBias[] = {{"X"}, {"bias", Port::optional}};
constexpr Port kAB[] = {{"A"}, {"B"}};
constexpr Port kDropoutIn[] = {
    {"data"}, {"bias"}, {"residual", Port::optional}, {"ratio", Port::optional}, {"training_mode", Port::optional}};
constexpr Port kXBiasSkip[] = {{"X"}, {"bias"}, {"skip"}};
constexpr Port kY[] = {{"Y"}};
constexpr Port kYMask[] = {{"output"}, {"mask", Port::optional}};

Result<Facts> infer_same(const Call& call, InferContext&) { return Facts{like(call.in(0))}; }

// One bias per entry of the last axis.
Status check_bias(const Call& call, InferContext& context, size_t input) {
  if (!call.has(input) || !call.in(0).dims) return {};
  TRY_OK(require_min_rank(call, 0, 1));
  return require_entries(call, context, input, call.in(0).dims->back(), "bias.size");
}

Result<Facts> infer_biased(const Call& call, InferContext& context) {
  TRY_OK(check_bias(call, context, 1));
  return Facts{like(call.in(0))};
}

Result<Facts> infer_split_gelu(const Call& call, InferContext& context) {
  TRY_OK(require_rank(call, 0, 3));
  TRY_OK(check_bias(call, context, 1));
  Dims dims = *call.in(0).dims;
  TRY_OK(context.require(Condition::divisible(dims[2], 2), "biassplitgelu.size",
                         "the last axis of {} must be even: it is cut in two", text(dims)));
  dims[2] = floordiv(dims[2], 2);
  return Facts{Fact::tensor(call.in(0).dtype, std::move(dims))};
}

Result<Facts> infer_bias_add(const Call& call, InferContext& context) {
  TRY_OK(require_rank(call, 0, 3));
  TRY_OK(check_bias(call, context, 1));
  TRY(const Dims skip, call.dims(2));
  TRY_OK(require_same_dims(context, *call.in(0).dims, skip, "X against skip"));
  return Facts{like(call.in(0))};
}

Result<Facts> infer_bias_dropout(const Call& call, InferContext& context) {
  TRY_OK(check_bias(call, context, 1));
  if (call.has(2) && call.in(0).dims && call.in(2).dims)
    TRY_OK(require_same_dims(context, *call.in(0).dims, *call.in(2).dims, "data against residual"));
  return Facts{like(call.in(0)), like(call.in(0), DType::boolean)};
}

}  // namespace

constexpr OpDef kMsBiasAdd1{
    .name = "BiasAdd", .domain = kMs, .sig = {kXBiasSkip, kY, "X + bias + skip"}, .infer = infer_bias_add};
constexpr OpDef kMsBiasDropout1{.name = "BiasDropout",
                                .domain = kMs,
                                .sig = {kDropoutIn, kYMask, "Dropout(data + bias) + residual"},
                                .infer = infer_bias_dropout,
                                .pure = false};
constexpr OpDef kMsBiasGelu1{.name = "BiasGelu", .domain = kMs, .sig = {kAB, kY, "Gelu(A + B)"}, .infer = infer_biased};
constexpr OpDef kMsBiasSplitGelu1{.name = "BiasSplitGelu",
                                  .domain = kMs,
                                  .sig = {kXBias, kY, "one half times Gelu of the other"},
                                  .infer = infer_split_gelu};
constexpr OpDef kMsFastGelu1{
    .name = "FastGelu", .domain = kMs, .sig = {kXBias, kY, "Gelu by tanh of X + bias"}, .infer = infer_biased};
constexpr OpDef kMsGelu1{.name = "Gelu", .domain = kMs, .sig = {kX, kY, "Gaussian error unit"}, .infer = infer_same};
constexpr OpDef kMsQuickGelu1{
    .name = "QuickGelu", .domain = kMs, .sig = {kX, kY, "x * sigmoid(alpha * x)"}, .infer = infer_same};
constexpr OpDef kMsSampleOp1{.name = "SampleOp", .domain = kMs, .sig = {kX, kY, "its input"}, .infer = infer_same};

}  // namespace anyshape::ops
