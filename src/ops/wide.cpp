#include "ops/wide.h"

#include "kernels/wide.h"

namespace anyshape::ops {

Result<WideArgs> widen_args(const KernelArgs& args) {
  WideArgs wide;
  for (const Datum& in : args.inputs)
    if (in.is_tensor() && in.dtype() == DType::f64) wide.dtype = DType::f64;
  for (const Datum& in : args.inputs) {
    if (!in.is_tensor() || !is_float(in.dtype())) {
      wide.in.push_back(in);
      continue;
    }
    TRY(Tensor tensor, kernels::converted(in.tensor(), wide.dtype));
    wide.in.emplace_back(std::move(tensor));
  }
  for (const Datum& out : args.outputs) {
    const Tensor& tensor = out.tensor();
    if (!is_float(tensor.dtype()) || tensor.dtype() == wide.dtype) {
      wide.out.push_back(out);
      continue;
    }
    TRY(Tensor result, Tensor::allocate(wide.dtype, tensor.dims()));
    wide.out.emplace_back(std::move(result));
  }
  wide.args = KernelArgs{wide.in, wide.out, args.bodies, args.seed};
  return wide;
}

Status narrow_outputs(const WideArgs& wide, KernelArgs& args) {
  for (size_t i = 0; i < args.outputs.size(); ++i) {
    const Tensor& from = wide.out[i].tensor();
    if (from && from.dtype() != args.out(i).dtype()) TRY_OK(kernels::convert(from, args.out(i)));
  }
  return {};
}

}  // namespace anyshape::ops
