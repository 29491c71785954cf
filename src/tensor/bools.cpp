#include "tensor/bools.h"

#include <algorithm>

namespace anyshape {

Result<Tensor> clean_bools(Tensor tensor) {
  if (tensor.dtype() != DType::boolean) return tensor;
  const auto bytes = tensor.bytes();
  std::byte all{0};
  for (std::byte b : bytes) all |= b;
  if (all <= std::byte{1}) return tensor;
  TRY(Tensor out, Tensor::allocate(DType::boolean, tensor.dims()));
  std::transform(bytes.begin(), bytes.end(), out.data(),
                 [](std::byte b) { return b != std::byte{0} ? std::byte{1} : std::byte{0}; });
  return out;
}

}  // namespace anyshape
