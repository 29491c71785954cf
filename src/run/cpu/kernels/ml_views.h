#pragma once

#include <optional>

#include "ir/call.h"
#include "tensor/view.h"

// What kernels of ai.onnx.ml share.
namespace anyshape::cpu {

inline bool reads_as_numbers(const Call& call, size_t input) {
  if (!call.has(input) || !call.in(input).is_tensor()) return false;
  const DType dtype = call.in(input).dtype;
  return (is_float(dtype) && bits(dtype) >= 16) || (is_integer(dtype) && bits(dtype) >= 8);
}

// The number of features of rows, where a plan knows it.
inline std::optional<int64_t> features_of(const Call& call) {
  const auto& dims = call.in(0).dims;
  if (!dims || dims->empty() || dims->size() > 2) return std::nullopt;
  return dims->back().constant();
}

struct FeatureView {
  int64_t count, features;
};
inline FeatureView rows_of(const View& x) { return {x.rank() == 2 ? x.dims[0] : 1, x.dims.back()}; }

// A tensor over the elements of a dense view. The list of its sizes is one that goes round.
inline Result<Tensor> tensor_of(const View& view, std::span<const int64_t> dims) {
  TRY(Tensor out, Tensor::allocate(view.dtype, {0, 0}));
  out.point_at(view.dtype, dims, view.data);
  return out;
}
inline Result<Tensor> tensor_of(const View& view) { return tensor_of(view, view.dims); }

}  // namespace anyshape::cpu
