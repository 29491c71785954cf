#include "ops/microsoft/common.h"
#include "ops/microsoft/kernel.h"
#include "ops/records.h"

// anyshape.FusedMatMul and FusedGemm: activation(product + bias + residual) as one node. Made by passes, never in
// files.
namespace anyshape::ops {
namespace {

constexpr Port kMatMulIn[] = {{"A"}, {"B"}, {"bias", Port::optional}, {"residual", Port::optional}};
constexpr Port kFusedGemmIn[] = {{"A"}, {"B"}, {"C", Port::optional}, {"residual", Port::optional}};
constexpr Port kFusedMatmulOut[] = {{"Y"}};
constexpr AttributeDef kMatMulAttributes[] = {
    {"activation", AttributeDef::string}, {"activation_params", AttributeDef::reals}, {"alpha", 1.0f}};
constexpr AttributeDef kGemmAttributes[] = {{"activation", AttributeDef::string},
                                            {"activation_params", AttributeDef::reals},
                                            {"alpha", 1.0f},
                                            {"beta", 1.0f},
                                            {"transA", 0},
                                            {"transB", 0}};

Status require_residual(const Call& call, InferContext& context, const Fact& out) {
  if (!call.has(3) || !call.in(3).dims || !out.dims) return {};
  return require_same_dims(context, *out.dims, *call.in(3).dims, "the product and the residual");
}

// One entry for each column, whatever axes of size 1 stand before it.
Status require_bias(const Call& call, InferContext& context, const Fact& out) {
  if (!call.has(2) || !call.in(2).dims || !out.dims) return {};
  const Dims& bias = *call.in(2).dims;
  if (bias.empty() || out.dims->empty()) return refuse("matmul.bias", "a product of matrices needs a bias per column");
  Dims row(bias.size(), Dim(1));
  row.back() = out.dims->back();
  return require_same_dims(context, bias, row, "the bias and a row of the product");
}

Result<Facts> infer_matmul(const Call& call, InferContext& context) {
  TRY(Facts out, rule_of(kMatMul1, 13, call, context, {0, 1}));
  TRY_OK(require_bias(call, context, out[0]));
  TRY_OK(require_residual(call, context, out[0]));
  return out;
}

Result<Facts> infer_fused_gemm(const Call& call, InferContext& context) {
  TRY(Facts out, rule_of(kGemm11, 13, call, context, {0, 1, 2}));
  TRY_OK(require_residual(call, context, out[0]));
  return out;
}

Status reference_matmul(const Call& call, KernelArgs& args) {
  TRY_OK(run_as(kMatMul1, 13, call, {args.in(0), args.in(1)}, args.out(0)));
  const auto alpha = static_cast<double>(call.f("alpha"));
  if (alpha != 1) TRY_OK(map_reals(args.out(0), [=](double x) { return alpha * x; }));
  for (size_t i : {2u, 3u})
    if (args.in(i)) TRY_OK(add_to(args.out(0), args.in(i)));
  return activate_by_list(call, args.out(0));
}

Status reference_fused_gemm(const Call& call, KernelArgs& args) {
  TRY_OK(run_as(kGemm11, 13, call, {args.in(0), args.in(1), args.in(2)}, args.out(0)));
  if (args.in(3)) TRY_OK(add_to(args.out(0), args.in(3)));
  return activate_by_list(call, args.out(0));
}

constexpr Kernel kMatMulKernels[] = {{"reference", reference_matmul}};
constexpr Kernel kFusedGemmKernels[] = {{"reference", reference_fused_gemm}};

}  // namespace

constexpr OpDef kFusedGemm1{.name = "FusedGemm",
                            .since = 1,
                            .domain = "anyshape",
                            .sig = {kFusedGemmIn, kFusedMatmulOut, "Gemm, sum and activation", kGemmAttributes},
                            .infer = infer_fused_gemm,
                            .kernels = kFusedGemmKernels};
constexpr OpDef kFusedMatMul1{
    .name = "FusedMatMul",
    .since = 1,
    .domain = "anyshape",
    .sig = {kMatMulIn, kFusedMatmulOut, "MatMul, bias, sum and activation", kMatMulAttributes},
    .infer = infer_matmul,
    .kernels = kMatMulKernels};

}  // namespace anyshape::ops
