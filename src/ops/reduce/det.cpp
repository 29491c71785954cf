#include "kernels/matmul.h"
#include "ops/elementwise/elementwise.h"
#include "ops/records.h"
#include "ops/wide.h"

namespace anyshape::ops {
namespace {

constexpr Port kDetIn[] = {{"X"}};
constexpr Port kDetOut[] = {{"Y"}};

Result<Facts> infer_det(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, kMaskFloat));
  TRY_OK(require_min_rank(call, 0, 2));
  const Dims& in = *call.in(0).dims;
  TRY_OK(context.require(Condition::eq(in[in.size() - 2], in.back()), "det.square", "the matrices of {} must be square",
                         text(in)));
  return Facts{Fact::tensor(call.in(0).dtype, Dims(in.begin(), in.end() - 2))};
}

Status reference_det(const Call&, KernelArgs& args) {
  return run_wide(args, [](KernelArgs& wide) { return kernels::determinants(wide.in(0), wide.out(0)); });
}

constexpr Kernel kDetKernels[] = {{"reference", reference_det}};

}  // namespace

constexpr OpDef kDet11{
    .name = "Det", .since = 11, .sig = {kDetIn, kDetOut, "determinants"}, .infer = infer_det, .kernels = kDetKernels};

}  // namespace anyshape::ops
