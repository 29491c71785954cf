#include "lower/aten/nn.h"
#include "lower/aten/quantize.h"

namespace anyshape::lower {
namespace {

using Quantized = QuantizedTensors::Quantized;

// As an operator of PyTorch computes it from what the integers mean, quantised again: runtimes compute that in
// integers.
Ref requantized(Lowering& l, const Arg& made, Ref like, const Arg& scale, const Arg& zero_point, bool relu = false) {
  const Quantized given = l.quantized().parts(like);
  if (l->failed()) return {};
  const Ref value = relu ? l.op("Relu", {l.ref(made)}) : l.ref(made);
  return l.quantized().quantize(value, l.quantized().scheme(scale, zero_point, l->dtype(given.integers)));
}

template <bool Relu>
Arg linear_quantized(Lowering& l, const Args& a) {
  const Arg made = l.call("linear", "", {a.tensor("X"), a.tensor("W"), a.arg("B")});
  return requantized(l, made, a.tensor("X"), a.arg("Y_scale_i"), a.arg("Y_zero_point_i"), Relu);
}

template <bool Relu>
Arg linear_dynamic(Lowering& l, const Args& a) {
  const Ref x = a.tensor("X");
  const Quantized weight = l.quantized().parts(a.tensor("W"));
  if (l->failed()) return {};
  const DynamicRange range = dynamic_range(l, x, 0, a.flag("reduce_range") ? 127 : 255, DType::u8);
  const Ref integers = l.op("QuantizeLinear", {x, range.scale, range.zero_point});
  const Ref product = l.op(
      "MatMulInteger", {integers, l->transpose(weight.integers, {1, 0}), range.zero_point, weight.scheme.zero_point});
  Ref y = l.op("Mul", {l->cast(product, DType::f32), l.op("Mul", {weight.scheme.scale, range.scale})});
  if (a.has("B")) y = l.op("Add", {y, a.tensor("B")});
  return Relu ? l.op("Relu", {y}) : y;
}

template <bool Relu>
Arg conv(Lowering& l, const Args& a) {
  const Ref x = a.tensor("X");
  if (l->failed()) return {};
  const size_t spatial = l->rank(x) - 2;
  const Arguments zeros(spatial, Arg(Dim(0)));
  const Arg made = l.call("convolution", "",
                          {x, a.tensor("W"), a.arg("B"), a.arg("stride"), a.arg("padding"), a.arg("dilation"),
                           Arg(false), Arg(zeros), a.arg("groups")});
  return requantized(l, made, x, a.arg("output_scale"), a.arg("output_zero_point"), Relu);
}

struct Pair {
  const char* op;
  bool relu;
};
constexpr Pair kAdd{"add", false}, kAddRelu{"add", true}, kMul{"mul", false}, kMulRelu{"mul", true},
    kMatMul{"matmul", false};

template <const Pair& Of>
Arg pair(Lowering& l, const Args& a) {
  const Arg made = l.call(Of.op, "", {a.tensor("qa"), a.tensor("qb")});
  return requantized(l, made, a.tensor("qa"), a.arg("scale"), a.arg("zero_point"), Of.relu);
}

template <bool Relu>
Arg cat(Lowering& l, const Args& a) {
  const Refs parts = a.tensors("qx");
  if (parts.empty()) return {};
  const Quantized first = l.quantized().parts(parts[0]);
  if (l->failed()) return {};
  const Ref made = l->concat(parts, a.i("dim"));
  if (a.has("scale")) return requantized(l, made, parts[0], a.arg("scale"), a.arg("zero_point"), Relu);
  return l.quantized().quantize(Relu ? l.op("Relu", {made}) : made, first.scheme);
}

// One tensor through an operator of PyTorch whose other arguments it is given in order.
Arg through(Lowering& l, const Args& a, std::string_view op, Arguments others) {
  const Ref x = a.self();
  others.insert(others.begin(), Arg(x));
  const Arg made = l.call(op, "", std::move(others));
  return requantized(l, made, x, a.arg("output_scale"), a.arg("output_zero_point"));
}

Arg celu(Lowering& l, const Args& a) { return through(l, a, "celu", {a.arg("alpha")}); }
Arg elu(Lowering& l, const Args& a) {
  return through(l, a, "elu", {a.arg("alpha"), a.arg("scale"), a.arg("input_scale")});
}
Arg hardswish(Lowering& l, const Args& a) { return through(l, a, "hardswish", {}); }
Arg leaky_relu(Lowering& l, const Args& a) { return through(l, a, "leaky_relu", {a.arg("negative_slope")}); }
Arg sigmoid(Lowering& l, const Args& a) { return through(l, a, "sigmoid", {}); }
Arg layer_norm(Lowering& l, const Args& a) {
  return through(l, a, "layer_norm", {a.arg("normalized_shape"), a.arg("weight"), a.arg("bias"), a.arg("eps")});
}
Arg batch_norm(Lowering& l, const Args& a) {
  return through(
      l, a, "batch_norm",
      {a.arg("weight"), a.arg("bias"), a.arg("mean"), a.arg("var"), Arg(false), Arg(0.1), a.arg("eps"), Arg(false)});
}

Arg relu6(Lowering& l, const Args& a) {
  const Quantized given = l.quantized().parts(a.self());
  if (l->failed()) return {};
  return l.quantized().quantize(l.clip(a.self(), l->number(0.0, DType::f32), l->number(6.0, DType::f32)), given.scheme);
}

constexpr AtenOp kQuantizedOps[] = {
    {"quantized::add", pair<kAdd>},
    {"quantized::add_relu", pair<kAddRelu>},
    {"quantized::batch_norm2d", batch_norm},
    {"quantized::cat", cat<false>},
    {"quantized::cat_relu", cat<true>},
    {"quantized::celu", celu},
    {"quantized::conv1d", conv<false>},
    {"quantized::conv1d_relu", conv<true>},
    {"quantized::conv2d", conv<false>},
    {"quantized::conv2d_relu", conv<true>},
    {"quantized::conv3d", conv<false>},
    {"quantized::conv3d_relu", conv<true>},
    {"quantized::elu", elu},
    {"quantized::hardswish", hardswish},
    {"quantized::layer_norm", layer_norm},
    {"quantized::leaky_relu", leaky_relu},
    {"quantized::linear", linear_quantized<false>},
    {"quantized::linear_dynamic", linear_dynamic<false>},
    {"quantized::linear_relu", linear_quantized<true>},
    {"quantized::linear_relu_dynamic", linear_dynamic<true>},
    {"quantized::matmul", pair<kMatMul>},
    {"quantized::mul", pair<kMul>},
    {"quantized::mul_relu", pair<kMulRelu>},
    {"quantized::relu6", relu6},
    {"quantized::sigmoid", sigmoid},
};

}  // namespace

std::span<const AtenOp> quantized_ops() { return kQuantizedOps; }

}  // namespace anyshape::lower
