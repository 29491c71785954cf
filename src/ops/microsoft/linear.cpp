#include <utility>

#include "ops/given.h"
#include "ops/microsoft/ports.h"
#include "ops/nn/matmul.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kFusedConvIn[] = {{"X"}, {"W"}, {"B", Port::optional}, {"Z", Port::optional}};
constexpr Port kLinearGemmIn[] = {{"A"}, {"B"}, {"C", Port::optional}};
constexpr Port kDynamicIn[] = {{"A"}, {"B"}, {"b_scale"}, {"b_zero_point", Port::optional}, {"bias", Port::optional}};
constexpr Port kIntegerIn[] = {{"A"},
                               {"B"},
                               {"a_scale"},
                               {"b_scale"},
                               {"a_zero_point", Port::optional},
                               {"b_zero_point", Port::optional},
                               {"bias", Port::optional}};
constexpr Port kNBitsIn[] = {
    {"A"}, {"B"}, {"scales"}, {"zero_points", Port::optional}, {"g_idx", Port::optional}, {"bias", Port::optional}};
constexpr Port kBnb4In[] = {{"A"}, {"B"}, {"absmax"}};
constexpr Port kNhwcConvIn[] = {{"X"}, {"W"}, {"B", Port::optional}, {"S", Port::optional}};
constexpr Port kNhwcPoolIn[] = {{"x"}};
constexpr Port kPadsIn[] = {{"X"}, {"W"}, {"Pads", Port::optional | Port::value}, {"B", Port::optional}};
constexpr AttributeDef kConvTransposeWithDynamicPadsAttributes[] = {
    {"auto_pad", "NOTSET"},
    {"dilations", AttributeDef::integers},
    {"group", 1},
    {"kernel_shape", AttributeDef::integers},
    {"output_padding", AttributeDef::integers},
    {"strides", AttributeDef::integers},
};
constexpr AttributeDef kFusedConvAttributes[] = {
    {"activation", AttributeDef::string},
    {"activation_params", AttributeDef::reals},
    {"auto_pad", "NOTSET"},
    {"dilations", AttributeDef::integers},
    {"group", 1},
    {"kernel_shape", AttributeDef::integers},
    {"pads", AttributeDef::integers},
    {"strides", AttributeDef::integers},
};
constexpr AttributeDef kFusedGemmAttributes[] = {
    {"activation", AttributeDef::string},
    {"activation_alpha", AttributeDef::real},
    {"activation_beta", AttributeDef::real},
    {"activation_gamma", AttributeDef::real},
    {"alpha", 1.0f},
    {"beta", 1.0f},
    {"transA", 0},
    {"transB", 0},
};
constexpr AttributeDef kFusedMatMulAttributes[] = {
    {"alpha", 1.0f}, {"transA", 0}, {"transB", 0}, {"transBatchA", 0}, {"transBatchB", 0},
};
constexpr AttributeDef kFusedMatMulActivationAttributes[] = {
    {"activation", AttributeDef::string, AttributeDef::required},
    {"activation_alpha", AttributeDef::real},
    {"activation_axis", AttributeDef::integer},
    {"activation_beta", AttributeDef::real},
    {"activation_gamma", AttributeDef::real},
    {"alpha", 1.0f},
    {"transA", 0},
    {"transB", 0},
    {"transBatchA", 0},
    {"transBatchB", 0},
};
constexpr AttributeDef kMatMulBnb4Attributes[] = {
    {"K", AttributeDef::integer, AttributeDef::required},
    {"N", AttributeDef::integer, AttributeDef::required},
    {"block_size", 64},
    {"quant_type", 1},
    {"training_mode", 0},
    {"transB", 1},
};
constexpr AttributeDef kMatMulNBitsAttributes[] = {
    {"K", AttributeDef::integer, AttributeDef::required},
    {"N", AttributeDef::integer, AttributeDef::required},
    {"accuracy_level", 0},
    {"bits", 4},
    {"block_size", 128},
    {"weight_prepacked", 0},
};
constexpr AttributeDef kNhwcConvAttributes[] = {
    {"auto_pad", "NOTSET"},
    {"dilations", AttributeDef::integers},
    {"group", 1},
    {"kernel_shape", AttributeDef::integers},
    {"pads", AttributeDef::integers},
    {"strides", AttributeDef::integers},
};
constexpr AttributeDef kNhwcMaxPoolAttributes[] = {
    {"auto_pad", "NOTSET"},
    {"ceil_mode", 0},
    {"dilations", AttributeDef::integers},
    {"kernel_shape", AttributeDef::integers, AttributeDef::required},
    {"pads", AttributeDef::integers},
    {"strides", AttributeDef::integers},
};
constexpr AttributeDef kTransposeMatMulAttributes[] = {
    {"alpha", 1.0f},
    {"transA", 0},
    {"transB", 0},
};

// transBatch moves the first axis behind the other batch axes; trans swaps the last two of what there is then.
Dims arranged_linear(Dims dims, bool swap_last, bool batch_inside) {
  const size_t n = dims.size();
  if (batch_inside && n > 2) {
    const Dim first = dims[0];
    for (size_t i = 0; i + 2 < n; ++i) dims[i] = dims[i + 1];
    dims[n - 2] = first;
  }
  if (swap_last && n >= 2) std::swap(dims[n - 1], dims[n - 2]);
  return dims;
}

Result<Facts> infer_fused_matmul(const Call& call, InferContext& context) {
  TRY(Dims a, call.dims(0));
  TRY(Dims b, call.dims(1));
  a = arranged_linear(std::move(a), call.i("transA") != 0, is_set(call, "transBatchA"));
  b = arranged_linear(std::move(b), call.i("transB") != 0, is_set(call, "transBatchB"));
  TRY(Dims out, matmul_dims(context, a, b));
  return Facts{Fact::tensor(call.in(0).dtype, std::move(out))};
}

Result<Facts> infer_fused_conv(const Call& call, InferContext& context) {
  TRY(Facts out, rule_of(kConv1, 11, call, context, {0, 1, 2}));
  if (call.has(3) && call.in(3).dims && out[0].dims)
    TRY_OK(require_same_dims(context, *out[0].dims, *call.in(3).dims, "the convolution and Z"));
  return out;
}

Result<Facts> infer_fused_gemm(const Call& call, InferContext& context) {
  return rule_of(kGemm11, 13, call, context, {0, 1, 2});
}

Result<Facts> matmul_of(const Call& call, InferContext& context, DType dtype, size_t bias) {
  TRY(const Dims a, call.dims(0));
  TRY(const Dims b, call.dims(1));
  TRY(Dims out, matmul_dims(context, a, b));
  if (!out.empty()) TRY_OK(require_entries(call, context, bias, out.back(), "matmul.bias"));
  return Facts{Fact::tensor(dtype, std::move(out))};
}

Result<Facts> infer_dynamic_matmul(const Call& call, InferContext& context) {
  return matmul_of(call, context, call.in(0).dtype, 4);
}
Result<Facts> infer_integer_to_float(const Call& call, InferContext& context) {
  return matmul_of(call, context, call.in(2).dtype, 6);
}

// B is packed; its logical size is in the attributes.
Result<Facts> infer_packed_linear(const Call& call, InferContext& context) {
  const int64_t k = call.i("K"), n = call.i("N");
  if (k < 1 || n < 1) return refuse("matmul.packed", "K is {} and N is {}", k, n);
  TRY_OK(require_min_rank(call, 0, 1));
  Dims dims = *call.in(0).dims;
  const bool transposed = call.type() != "MatMulBnb4" || call.i("transB") != 0;
  TRY_OK(context.require(Condition::eq(dims.back(), transposed ? k : n), "matmul.inner",
                         "rows of A {} must be as long as B has rows: {}", text(dims), transposed ? k : n));
  dims.back() = transposed ? n : k;
  return Facts{Fact::tensor(call.in(0).dtype, std::move(dims))};
}

Fact channels_first(const Fact& fact) {
  Fact out = like(fact);
  if (!out.dims || out.dims->size() < 3) return out;
  const Dim channels = out.dims->back();
  out.dims->pop_back();
  out.dims->insert(out.dims->begin() + 1, channels);
  return out;
}

Fact channels_last(Fact fact) {
  if (!fact.dims || fact.dims->size() < 3) return fact;
  const Dim channels = (*fact.dims)[1];
  fact.dims->erase(fact.dims->begin() + 1);
  fact.dims->push_back(channels);
  return fact;
}

Result<Facts> infer_nhwc_conv(const Call& call, InferContext& context) {
  const Fact x = channels_first(call.in(0));
  std::vector<const Fact*> in{&x, &call.in(1)};
  if (call.has(2)) in.push_back(&call.in(2));
  TRY(Facts out, kConv1.infer(Call(call, kConv1, 11, in), context));
  out[0] = channels_last(std::move(out[0]));
  if (call.has(3) && call.in(3).dims && out[0].dims)
    TRY_OK(require_same_dims(context, *out[0].dims, *call.in(3).dims, "the convolution and S"));
  return out;
}

Result<Facts> infer_nhwc_pool(const Call& call, InferContext& context) {
  const Fact x = channels_first(call.in(0));
  const std::vector<const Fact*> in{&x};
  TRY(Facts out, kMaxPool1.infer(Call(call, kMaxPool1, 12, in), context));
  out.resize(1);
  out[0] = channels_last(std::move(out[0]));
  return out;
}

// Pads that are not known leave the sizes open.
Result<Facts> infer_dynamic_pads(const Call& call, InferContext& context) {
  if (!call.has(2)) return rule_of(kConvTranspose1, 11, call, context, {0, 1, 3});
  TRY_OK(require_min_rank(call, 0, 3));
  TRY_OK(require_min_rank(call, 1, 3));
  const Dims &x = *call.in(0).dims, &w = *call.in(1).dims;
  if (x.size() != w.size()) return refuse("convtranspose.rank", "X is {} and W {}", text(x), text(w));
  TRY_OK(context.require(Condition::eq(x[1], w[0]), "convtranspose.channels",
                         "the channels of X {} and W {} must be equal", text(x), text(w)));
  const int64_t group = call.i("group");
  if (group < 1) return refuse("convtranspose.group", "group is {}", group);
  Dims dims{x[0], w[1] * Dim(group)};
  for (size_t i = 2; i < x.size(); ++i) dims.push_back(context.fresh(call.in(2), "convtranspose"));
  return Facts{Fact::tensor(call.in(0).dtype, std::move(dims))};
}

constexpr Kernel kConvTransposePadsKernels[] = {{"reference", run_ms_conv_transpose_pads}};
constexpr Kernel kDynamicMatmulKernels[] = {{"reference", run_ms_dynamic_matmul}};
constexpr Kernel kFusedConvKernels[] = {{"reference", run_ms_fused_conv}};
constexpr Kernel kFusedGemmKernels[] = {{"reference", run_ms_fused_gemm}};
constexpr Kernel kFusedMatmulKernels[] = {{"reference", run_ms_fused_matmul}};
constexpr Kernel kIntegerToFloatKernels[] = {{"reference", run_ms_integer_to_float}};
constexpr Kernel kMatmulBnb4Kernels[] = {{"reference", run_ms_matmul_bnb4}};
constexpr Kernel kMatmulNbitsKernels[] = {{"reference", run_ms_matmul_nbits}};
constexpr Kernel kNhwcConvKernels[] = {{"reference", run_ms_nhwc_conv}};
constexpr Kernel kNhwcMaxPoolKernels[] = {{"reference", run_ms_nhwc_max_pool}};

}  // namespace

constexpr OpDef kMsConvTransposeWithDynamicPads1{
    .name = "ConvTransposeWithDynamicPads",
    .domain = kMs,
    .sig = {kPadsIn, kY, "ConvTranspose with pads as an input", kConvTransposeWithDynamicPadsAttributes},
    .infer = infer_dynamic_pads,
    .kernels = kConvTransposePadsKernels};
constexpr OpDef kMsDynamicQuantizeMatMul1{.name = "DynamicQuantizeMatMul",
                                          .domain = kMs,
                                          .sig = {kDynamicIn, kY, "product with A quantised on the way"},
                                          .infer = infer_dynamic_matmul,
                                          .kernels = kDynamicMatmulKernels};
constexpr OpDef kMsFusedConv1{.name = "FusedConv",
                              .domain = kMs,
                              .sig = {kFusedConvIn, kY, "Conv, sum and activation", kFusedConvAttributes},
                              .infer = infer_fused_conv,
                              .kernels = kFusedConvKernels};
constexpr OpDef kMsFusedGemm1{.name = "FusedGemm",
                              .domain = kMs,
                              .sig = {kLinearGemmIn, kY, "Gemm and activation", kFusedGemmAttributes},
                              .infer = infer_fused_gemm,
                              .kernels = kFusedGemmKernels};
constexpr OpDef kMsFusedMatMul1{.name = "FusedMatMul",
                                .domain = kMs,
                                .sig = {kAB, kY, "product of transposed matrices", kFusedMatMulAttributes},
                                .infer = infer_fused_matmul,
                                .kernels = kFusedMatmulKernels};
constexpr OpDef kMsFusedMatMulActivation1{
    .name = "FusedMatMulActivation",
    .domain = kMs,
    .sig = {kAB, kY, "FusedMatMul and activation", kFusedMatMulActivationAttributes},
    .infer = infer_fused_matmul,
    .kernels = kFusedMatmulKernels};
constexpr OpDef kMsMatMulBnbFour1{.name = "MatMulBnb4",
                                  .domain = kMs,
                                  .sig = {kBnb4In, kY, "product with 4-bit float weights", kMatMulBnb4Attributes},
                                  .infer = infer_packed_linear,
                                  .kernels = kMatmulBnb4Kernels};
constexpr OpDef kMsMatMulIntegerToFloat1{.name = "MatMulIntegerToFloat",
                                         .domain = kMs,
                                         .sig = {kIntegerIn, kY, "integer product, scaled"},
                                         .infer = infer_integer_to_float,
                                         .kernels = kIntegerToFloatKernels};
constexpr OpDef kMsMatMulNBits1{.name = "MatMulNBits",
                                .domain = kMs,
                                .sig = {kNBitsIn, kY, "product with weights of few bits", kMatMulNBitsAttributes},
                                .infer = infer_packed_linear,
                                .kernels = kMatmulNbitsKernels};
constexpr OpDef kMsNhwcConv1{.name = "NhwcConv",
                             .domain = kMs,
                             .sig = {kNhwcConvIn, kY, "Conv, channels last", kNhwcConvAttributes},
                             .infer = infer_nhwc_conv,
                             .kernels = kNhwcConvKernels};
constexpr OpDef kMsNhwcFusedConv1{
    .name = "NhwcFusedConv",
    .domain = kMs,
    .sig = {kNhwcConvIn, kY, "Conv, sum and activation, channels last", kFusedConvAttributes},
    .infer = infer_nhwc_conv,
    .kernels = kNhwcConvKernels};
constexpr OpDef kMsNhwcMaxPool1{.name = "NhwcMaxPool",
                                .domain = kMs,
                                .sig = {kNhwcPoolIn, kY, "MaxPool, channels last", kNhwcMaxPoolAttributes},
                                .infer = infer_nhwc_pool,
                                .kernels = kNhwcMaxPoolKernels};
constexpr OpDef kMsTransposeMatMul1{.name = "TransposeMatMul",
                                    .domain = kMs,
                                    .sig = {kAB, kY, "product of transposed matrices", kTransposeMatMulAttributes},
                                    .infer = infer_fused_matmul,
                                    .kernels = kFusedMatmulKernels};

}  // namespace anyshape::ops
