#include "ops/common.h"
#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kIn[] = {{"input"}};
constexpr Port kOut[] = {{"output"}};

Result<Facts> infer(const Call& call, InferContext&) {
  Fact out = call.in(0);
  return Facts{out};
}

Status reference(const Call&, KernelArgs& args) {
  args.outputs[0] = args.inputs[0];
  return {};
}

constexpr Kernel kKernels[] = {{"reference", reference}};

}  // namespace

constexpr OpDef kIdentity1{.name = "Identity",
                           .since = 1,
                           .sig = {kIn, kOut, "the same value"},
                           .infer = infer,
                           .kernels = kKernels,
                           .view = same_elements_view};

}  // namespace anyshape::ops
