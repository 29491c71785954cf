#pragma once

#include <algorithm>
#include <cstdint>

#include "tensor/tensor.h"

namespace anyshape {

// The elements lie at addresses their type allows; those under 8 bits and strings do everywhere.
inline bool is_aligned(const Tensor& tensor) {
  const auto unit = static_cast<uintptr_t>(std::max(1, bits(tensor.dtype()) / 8));
  return reinterpret_cast<uintptr_t>(tensor.bytes().data()) % unit == 0;
}

}  // namespace anyshape
