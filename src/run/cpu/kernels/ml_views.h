#pragma once

#include "ir/call.h"
#include "tensor/view.h"

// Kernels of ai.onnx.ml that work on tensors like the reference kernels.
namespace anyshape::cpu {

inline bool reads_as_numbers(const Call& call, size_t input) {
  if (!call.has(input) || !call.in(input).is_tensor()) return false;
  const DType dtype = call.in(input).dtype;
  return (is_float(dtype) && bits(dtype) >= 16) || (is_integer(dtype) && bits(dtype) >= 8);
}

// A tensor over the elements of a dense view. The list of its sizes is one that goes round.
inline Result<Tensor> tensor_of(const View& view, std::span<const int64_t> dims) {
  TRY(Tensor out, Tensor::allocate(view.dtype, {0, 0}));
  out.point_at(view.dtype, dims, view.data);
  return out;
}
inline Result<Tensor> tensor_of(const View& view) { return tensor_of(view, view.dims); }

}  // namespace anyshape::cpu
