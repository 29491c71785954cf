#include "kernels/wide.h"

namespace anyshape::kernels {

Result<Tensor> converted(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  TRY(Tensor out, Tensor::allocate(dtype, tensor.dims()));
  TRY_OK(convert(tensor, out));
  return out;
}

Status require_one_type(std::initializer_list<const Tensor*> tensors) {
  const Tensor* first = nullptr;
  for (const Tensor* tensor : tensors) {
    if (!*tensor) continue;
    if (!first) first = tensor;
    if (tensor->dtype() != first->dtype())
      return unknown("dtype", "no kernel for {} beside {}", name(tensor->dtype()), name(first->dtype()));
  }
  return {};
}

}  // namespace anyshape::kernels
