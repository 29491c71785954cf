#include <cmath>
#include <numbers>

#include "lower/aten/families.h"
#include "lower/aten/numeric.h"

namespace anyshape::lower {
namespace {

Arg relu(Lowering& l, const Args& a) {
  const Ref x = a.self();
  return is_float(l->dtype(x)) ? l.op("Relu", {x}) : larger(l, x, like(l, x, 0));
}

Arg relu6(Lowering& l, const Args& a) {
  const Ref x = a.self();
  return l.clip(x, like(l, x, 0), like(l, x, 6));
}

Arg hardtanh(Lowering& l, const Args& a) {
  const Ref x = a.self();
  return l.clip(x, like(l, x, a.f("min_val", -1)), like(l, x, a.f("max_val", 1)));
}

// x where it is positive, else `below`.
Ref positive_or(Lowering& l, Ref x, Ref below) { return l.op("Where", {greater(l, x, like(l, x, 0)), x, below}); }

Ref leaky(Lowering& l, Ref x, double slope) {
  if (l.kernel_type("LeakyRelu", l->dtype(x)) == l->dtype(x)) return l.op("LeakyRelu", {x}, {attr("alpha", slope)});
  return positive_or(l, x, l.op("Mul", {x, like(l, x, slope)}));
}

Arg leaky_relu(Lowering& l, const Args& a) { return leaky(l, a.self(), a.f("negative_slope", 0.01)); }

Arg rrelu(Lowering& l, const Args& a) {
  if (a.flag("training")) {
    l->refuse("export.training", "rrelu is in training mode: call model.eval() before the export");
    return {};
  }
  return leaky(l, a.self(), (a.f("lower", 1.0 / 8) + a.f("upper", 1.0 / 3)) / 2);
}

Arg prelu(Lowering& l, const Args& a) {
  const Ref x = a.self();
  Ref slope = a.tensor("weight");
  if (l->rank(slope) == 1 && l->rank(x) > 2 && l->dim(slope, 0) != Dim(1)) {
    std::vector<int64_t> behind;
    for (size_t i = 2; i < l->rank(x); ++i) behind.push_back(static_cast<int64_t>(i) - 1);
    slope = l->unsqueeze(slope, behind);
  }
  if (l->rank(slope) > l->rank(x)) slope = l->reshape(slope, {});
  if (l->dtype(x) == DType::f64) return positive_or(l, x, l.op("Mul", {x, slope}));
  return l.op("PRelu", {x, slope});
}

Arg elu(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const double alpha = a.f("alpha", 1), scale = a.f("scale", 1), inner = a.f("input_scale", 1);
  Ref out;
  if (inner == 1 && l->dtype(x) != DType::f64) {
    out = l.op("Elu", {x}, {attr("alpha", alpha)});
  } else {
    const Ref power = l.op("Exp", {inner == 1 ? x : l.op("Mul", {x, like(l, x, inner)})});
    out = positive_or(l, x, l.op("Mul", {l.op("Sub", {power, like(l, x, 1)}), like(l, x, alpha)}));
  }
  return scale == 1 ? out : l.op("Mul", {out, like(l, x, scale)});
}

Arg selu(Lowering& l, const Args& a) {
  const Ref x = a.self();
  constexpr double kAlpha = 1.6732632423543772848170429916717, kScale = 1.0507009873554804934193349852946;
  if (l->dtype(x) != DType::f64) return l.op("Selu", {x});
  const Ref below = l.op("Mul", {l.op("Sub", {l.op("Exp", {x}), like(l, x, 1)}), like(l, x, kAlpha)});
  return l.op("Mul", {positive_or(l, x, below), like(l, x, kScale)});
}

Arg celu(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const double alpha = a.f("alpha", 1);
  if (alpha == 1 && l->dtype(x) != DType::f64) return l.op("Elu", {x});
  if (l->opset() >= 12 && l->dtype(x) != DType::f64) return l.op("Celu", {x}, {attr("alpha", alpha)});
  const Ref power = l.op("Exp", {l.op("Div", {x, like(l, x, alpha)})});
  return positive_or(l, x, l.op("Mul", {l.op("Sub", {power, like(l, x, 1)}), like(l, x, alpha)}));
}

Ref gelu_by_tanh(Lowering& l, Ref x) {
  const Ref cube = l.op("Mul", {l.op("Mul", {x, x}), x});
  const Ref inner = l.op("Add", {x, l.op("Mul", {cube, like(l, x, 0.044715)})});
  const Ref tanh = l.op("Tanh", {l.op("Mul", {inner, like(l, x, std::sqrt(2 / std::numbers::pi))})});
  return l.op("Mul", {l.op("Mul", {x, l.op("Add", {tanh, like(l, x, 1)})}), like(l, x, 0.5)});
}

Arg gelu(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const std::string approximate = a.s("approximate", "none");
  if (l->opset() >= 20 && l->dtype(x) != DType::f64) return l.op("Gelu", {x}, {attr("approximate", approximate)});
  if (approximate == "tanh") return gelu_by_tanh(l, x);
  const Ref erf = l.op("Erf", {l.op("Div", {x, like(l, x, std::numbers::sqrt2)})});
  return l.op("Mul", {l.op("Mul", {x, l.op("Add", {erf, like(l, x, 1)})}), like(l, x, 0.5)});
}

Arg silu(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.self());
  return l.op("Mul", {x, l.op("Sigmoid", {x})});
}

Arg mish(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (l->opset() >= 18 && l->dtype(x) != DType::f64) return l.op("Mish", {x});
  return l.op("Mul", {x, l.op("Tanh", {softplus_of(l, x)})});
}

Ref hard_sigmoid(Lowering& l, Ref x) {
  if (l->dtype(x) != DType::f64) return l.op("HardSigmoid", {x}, {attr("alpha", 1.0 / 6), attr("beta", 0.5)});
  const Ref shifted = l.op("Add", {x, like(l, x, 3)});
  return l.op("Div", {l.clip(shifted, like(l, x, 0), like(l, x, 6)), like(l, x, 6)});
}

Arg hardsigmoid(Lowering& l, const Args& a) { return hard_sigmoid(l, a.self()); }

Arg hardswish(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (l->opset() >= 14 && l->dtype(x) != DType::f64) return l.op("HardSwish", {x});
  return l.op("Mul", {x, hard_sigmoid(l, x)});
}

// Beyond a threshold of 20 the function and x are the same single-precision number.
Arg softplus(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const double beta = a.f("beta", 1), threshold = a.f("threshold", 20);
  const Ref inner = beta == 1 ? x : l.op("Mul", {x, like(l, x, beta)});
  const Ref soft = softplus_of(l, inner);
  const Ref out = beta == 1 ? soft : l.op("Div", {soft, like(l, x, beta)});
  if (threshold >= 20 && l->dtype(x) != DType::f64) return out;
  return l.op("Where", {greater(l, inner, like(l, x, threshold)), x, out});
}

// ONNX Runtime computes Shrink in single precision.
Ref shrunk(Lowering& l, Ref x, double lambda, double bias) {
  if (l->dtype(x) != DType::f64) return l.op("Shrink", {x}, {attr("lambd", lambda), attr("bias", bias)});
  const Ref moved = bias == 0 ? x : l.op("Sub", {x, l.op("Mul", {l.op("Sign", {x}), like(l, x, bias)})});
  return l.op("Where", {greater(l, l.op("Abs", {x}), like(l, x, lambda)), moved, like(l, x, 0)});
}

Arg softshrink(Lowering& l, const Args& a) { return shrunk(l, a.self(), a.f("lambd", 0.5), a.f("lambd", 0.5)); }
Arg hardshrink(Lowering& l, const Args& a) { return shrunk(l, a.self(), a.f("lambd", 0.5), 0); }

Arg threshold(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Ref limit = l.operand(a.arg("threshold"), l->dtype(x)), value = l.operand(a.arg("value"), l->dtype(x));
  return l.op("Where", {greater(l, x, limit), x, value});
}

Ref log_sigmoid_of(Lowering& l, Ref x) { return l.op("Neg", {softplus_of(l, l.op("Neg", {x}))}); }

Arg log_sigmoid(Lowering& l, const Args& a) { return log_sigmoid_of(l, a.self()); }

Arg log_sigmoid_forward(Lowering& l, const Args& a) {
  const Ref x = a.self();
  return Refs{log_sigmoid_of(l, x), l.op("Exp", {l.op("Neg", {l.op("Abs", {x})})})};
}

Arg glu(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!l.need_rank(x, 1, 64)) return {};
  const int64_t axis = l.axis(x, a.i("dim", -1));
  const Dim size = l->dim(x, static_cast<size_t>(axis));
  const auto exact = l->assumptions().exact_div(size, 2);
  const Dim half = exact ? *exact : floordiv(size, 2);
  const Refs parts = l->split(x, axis, {half, half});
  return l.op("Mul", {parts[0], l.op("Sigmoid", {parts[1]})});
}

// softmax over an axis; a tensor of rank 0 counts as one of one entry.
template <bool Logarithm>
Arg softmax(Lowering& l, const Args& a) {
  Ref x = a.self();
  if (const auto wanted = a.dtype("dtype")) x = l->cast(x, *wanted);
  if (a.flag("half_to_float")) x = l->cast(x, DType::f32);
  x = l.as_float(x);
  if (l->rank(x) > 0) return l.softmax(x, l.axis(x, a.i("dim")), Logarithm);
  return l->squeeze(l.softmax(l->unsqueeze(x, {0}), 0, Logarithm), {0});
}

constexpr AtenOp kActivationOps[] = {
    {"_log_softmax", softmax<true>},
    {"_prelu_kernel", prelu},
    {"_softmax", softmax<false>},
    {"celu", celu},
    {"elu", elu},
    {"gelu", gelu},
    {"glu", glu},
    {"hardshrink", hardshrink},
    {"hardsigmoid", hardsigmoid},
    {"hardswish", hardswish},
    {"hardtanh", hardtanh},
    {"leaky_relu", leaky_relu},
    {"log_sigmoid", log_sigmoid},
    {"log_sigmoid_forward", log_sigmoid_forward},
    {"log_softmax", softmax<true>},
    {"mish", mish},
    {"prelu", prelu},
    {"relu", relu},
    {"relu6", relu6},
    {"rrelu", rrelu},
    {"selu", selu},
    {"silu", silu},
    {"softmax", softmax<false>},
    {"softplus", softplus},
    {"softshrink", softshrink},
    {"special_log_softmax", softmax<true>},
    {"special_softmax", softmax<false>},
    {"threshold", threshold},
};

}  // namespace

std::span<const AtenOp> activation_ops() { return kActivationOps; }

}  // namespace anyshape::lower
