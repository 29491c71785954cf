#include <cmath>
#include <numbers>

#include "target/rewrites.h"

namespace anyshape::target::rewrites {
namespace {

Ref like(Builder& b, Ref x, double value) { return b.number(value, b.dtype(x)); }

Ref gelu_by_tanh(Builder& b, Ref x) {
  const Ref cube = b.op("Mul", {b.op("Mul", {x, x}), x});
  const Ref inner = b.op("Add", {x, b.op("Mul", {cube, like(b, x, 0.044715)})});
  const Ref tanh = b.op("Tanh", {b.op("Mul", {inner, like(b, x, std::sqrt(2 / std::numbers::pi))})});
  return b.op("Mul", {b.op("Mul", {x, b.op("Add", {tanh, like(b, x, 1)})}), like(b, x, 0.5)});
}

}  // namespace

Refs gelu(Builder& b, const Call& call, const Refs& in) {
  const Ref x = in[0];
  if (call.s("approximate") == "tanh") return {gelu_by_tanh(b, x)};
  const Ref erf = b.op("Erf", {b.op("Div", {x, like(b, x, std::numbers::sqrt2)})});
  return {b.op("Mul", {b.op("Mul", {x, b.op("Add", {erf, like(b, x, 1)})}), like(b, x, 0.5)})};
}

Refs swish(Builder& b, const Call& call, const Refs& in) {
  const double alpha = static_cast<double>(call.f("alpha"));
  const Ref inner = alpha == 1 ? in[0] : b.op("Mul", {in[0], like(b, in[0], alpha)});
  return {b.op("Mul", {in[0], b.op("Sigmoid", {inner})})};
}

Refs is_inf(Builder& b, const Call& call, const Refs& in) {
  if (b.dtype(in[0]) != DType::f16 && b.dtype(in[0]) != DType::bf16) return {};
  return {
      b.op("IsInf", {b.cast(in[0], DType::f32)},
           {attr("detect_negative", call.i("detect_negative")), attr("detect_positive", call.i("detect_positive"))})};
}

// The rest of a division with the sign of the divisor, from the one with the sign of the dividend.
Refs mod(Builder& b, const Call& call, const Refs& in) {
  if (call.i("fmod") != 0 || !is_float(b.dtype(in[0]))) return {};
  const Ref rest = b.op("Mod", {in[0], in[1]}, {attr("fmod", 1)}), zero = like(b, in[0], 0);
  const Ref other_sign = b.op("Xor", {b.op("Less", {rest, zero}), b.op("Less", {in[1], zero})});
  const Ref is_some = b.op("Not", {b.op("Equal", {rest, zero})});
  return {b.op("Where", {b.op("And", {is_some, other_sign}), b.op("Add", {rest, in[1]}), rest})};
}

// A type that only output_dtype tells is told by a zero point.
Refs quantize(Builder& b, const Call& call, const Refs& in) {
  const auto dtype = dtype_from_onnx(call.i("output_dtype"));
  if (call.has(2) || !dtype || *dtype == DType::undefined || *dtype == DType::u8) return {};
  auto zero = Tensor::allocate(*dtype, std::initializer_list<int64_t>{1});
  if (!zero) {
    b.fail(std::move(zero).error());
    return {};
  }
  return {b.op("QuantizeLinear", {in[0], in[1], b.full(b.dims(in[1]), *zero)}, {attr("axis", call.i("axis"))})};
}

Refs extreme_of_bools(Builder& b, const Call& call, const Refs& in) {
  if (b.dtype(in[0]) != DType::boolean) return {};
  Refs numbers = in;
  numbers[0] = b.cast(in[0], DType::u8);
  const Ref reduced =
      b.op(call.type(), numbers,
           {attr("keepdims", call.i("keepdims")), attr("noop_with_empty_axes", call.i("noop_with_empty_axes"))});
  return {b.cast(reduced, DType::boolean)};
}

}  // namespace anyshape::target::rewrites
