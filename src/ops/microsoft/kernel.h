#pragma once

#include <optional>
#include <string_view>

#include "base/temporary.h"
#include "ir/call.h"
#include "ir/op.h"

// What the reference kernels of com.microsoft share; most are another operator's kernel with something before or after.
namespace anyshape::ops {

// Runs the reference kernel of another operator, as of that version, on these inputs (an empty Datum: absent); the
// attributes are those of the node. Outputs are allocated where their sizes are known.
Status run_as(const OpDef& op, int64_t version, const Call& call, Temporary<Datum> in, std::span<Datum> out);
Status run_as(const OpDef& op, int64_t version, const Call& call, Temporary<Datum> in, Tensor& out);

// Axis i of the result is axis order[i] of the tensor. Any dtype.
Result<Tensor> permuted(const Tensor& tensor, std::span<const size_t> order);
inline Result<Tensor> permuted(const Tensor& tensor, std::initializer_list<size_t> order) {
  return permuted(tensor, std::span(order.begin(), order.size()));
}
// [N, C, D...] from [N, D..., C], and back.
Result<Tensor> channels_to_front(const Tensor& tensor);
Result<Tensor> channels_to_back(const Tensor& tensor);

// The elements of one tensor into another. Error "kernel.shape" when that has another type or number of elements.
Status put(const Tensor& from, Tensor& to);

// tensor[i] = fn(tensor[i]) on doubles.
template <class Fn>
Status map_reals(Tensor& tensor, Fn fn);

// tensor += addend, which broadcasts to it; floats.
Status add_to(Tensor& tensor, const Tensor& addend);

// What a fused node does at the end, with the parameters ONNX's operator of that name has; "": nothing. Error
// "fused.activation".
Status activate(std::string_view name, std::optional<double> alpha, std::optional<double> beta, Tensor& out);
// The same by the attributes `activation` and `activation_params`.
Status activate_by_list(const Call& call, Tensor& out);

// (x - zero) * scale as f32. One parameter, or one per entry of `axis`. `zero` may be absent. Codes "quantize.scale",
// "quantize.zero_point".
Result<Tensor> dequantized(const Tensor& x, const Tensor& scale, const Tensor& zero, size_t axis = 0);
// The opposite, rounded to nearest even and saturated.
Status quantize_to(const Tensor& x, const Tensor& scale, const Tensor& zero, Tensor& out);

}  // namespace anyshape::ops

#include "kernels/reals.h"

namespace anyshape::ops {

template <class Fn>
Status map_reals(Tensor& tensor, Fn fn) {
  TRY(Temporary<double> values, kernels::to_reals(tensor));
  for (double& value : values) value = fn(value);
  return kernels::from_reals(values, tensor);
}

}  // namespace anyshape::ops
