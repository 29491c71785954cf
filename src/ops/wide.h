#pragma once

#include "base/temporary.h"
#include "ir/op.h"

// Reference kernels of floats are written for f32 and f64 only; this brings every other float type there and back.
namespace anyshape::ops {

// The arguments of a kernel with all floats in one type: f64 where an input is f64, else f32.
struct WideArgs {
  DType dtype = DType::f32;
  Temporary<Datum> in, out;
  KernelArgs args;
};
Result<WideArgs> widen_args(const KernelArgs& args);
// Rounds the float outputs to their own types.
Status narrow_outputs(const WideArgs& wide, KernelArgs& args);

// kernel(KernelArgs&) on widened arguments. Tensors of other types are passed as they are.
template <class Kernel>
Status run_wide(KernelArgs& args, Kernel kernel) {
  TRY(WideArgs wide, widen_args(args));
  TRY_OK(kernel(wide.args));
  return narrow_outputs(wide, args);
}

}  // namespace anyshape::ops
