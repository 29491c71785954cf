#include "kernels/matmul.h"
#include "ops/elementwise/elementwise.h"
#include "ops/records.h"
#include "ops/shown.h"
#include "ops/wide.h"

namespace anyshape::ops {
namespace {

constexpr Port kIn1[] = {{"A"}, {"B"}, {"C"}};
constexpr Port kIn11[] = {{"A"}, {"B"}, {"C", Port::optional}};
constexpr Port kGemmOut[] = {{"Y"}};
constexpr AttributeDef kGemm1Attributes[] = {
    {"alpha", 1.0f}, {"beta", 1.0f}, {"transA", 0}, {"transB", 0}, {"broadcast", 0, {1, 6}},
};
constexpr AttributeDef kGemm11Attributes[] = {
    {"alpha", 1.0f},
    {"beta", 1.0f},
    {"transA", 0},
    {"transB", 0},
};

Result<Facts> infer_gemm(const Call& call, InferContext& context) {
  for (size_t i = 0; i < call.inputs(); ++i) TRY_OK(require_tensor(call, i, kMaskNumber));
  TRY(const DType dtype, common_dtype(call, 0, 2));
  TRY_OK(require_rank(call, 0, 2));
  TRY_OK(require_rank(call, 1, 2));
  const Dims &a = *call.in(0).dims, &b = *call.in(1).dims;
  const bool trans_a = call.i("transA") != 0, trans_b = call.i("transB") != 0;
  const Dim inner_a = a[trans_a ? 0 : 1], inner_b = b[trans_b ? 1 : 0];
  TRY_OK(context.require(Condition::eq(inner_a, inner_b), "gemm.inner",
                         "the inner sizes of {} and {} must be equal: {} and {}", shown(a), shown(b), shown(inner_a),
                         shown(inner_b)));
  const Dims out{a[trans_a ? 1 : 0], b[trans_b ? 0 : 1]};
  if (call.has(2)) {
    TRY(const Dims c, call.dims(2));
    const bool broadcasts = call.version() >= 7 || call.i("broadcast") != 0;
    if (broadcasts)
      TRY_OK(require_broadcastable_to(context, c, out, "the bias"));
    else
      TRY_OK(require_same_dims(context, c, out, "the bias has the shape of the product"));
  }
  return Facts{Fact::tensor(dtype, out)};
}

Status reference_gemm(const Call& call, KernelArgs& args) {
  const kernels::Gemm gemm{.transpose_a = call.i("transA") != 0,
                           .transpose_b = call.i("transB") != 0,
                           .alpha = call.f("alpha"),
                           .beta = call.f("beta")};
  return run_wide(
      args, [&](KernelArgs& wide) { return kernels::gemm(gemm, wide.in(0), wide.in(1), wide.in(2), wide.out(0)); });
}

constexpr Kernel kGemmKernels[] = {{"reference", reference_gemm}};

}  // namespace

constexpr OpDef kGemm1{.name = "Gemm",
                       .since = 1,
                       .sig = {kIn1, kGemmOut, "alpha A B + beta C", kGemm1Attributes},
                       .infer = infer_gemm,
                       .kernels = kGemmKernels};
constexpr OpDef kGemm11{.name = "Gemm",
                        .since = 11,
                        .sig = {kIn11, kGemmOut, "alpha A B + beta C", kGemm11Attributes},
                        .infer = infer_gemm,
                        .kernels = kGemmKernels};

}  // namespace anyshape::ops
