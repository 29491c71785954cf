#include "ops/common.h"
#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kIdentityIn[] = {{"input"}};
constexpr Port kIdentityOut[] = {{"output"}};

Result<Facts> infer_identity(const Call& call, InferContext&) {
  Fact out = call.in(0);
  return Facts{out};
}

Status reference_identity(const Call&, KernelArgs& args) {
  args.outputs[0] = args.inputs[0];
  return {};
}

constexpr Kernel kIdentityKernels[] = {{"reference", reference_identity}};

}  // namespace

constexpr OpDef kIdentity1{.name = "Identity",
                           .since = 1,
                           .sig = {kIdentityIn, kIdentityOut, "the same value"},
                           .infer = infer_identity,
                           .kernels = kIdentityKernels,
                           .view = same_elements_view};

}  // namespace anyshape::ops
