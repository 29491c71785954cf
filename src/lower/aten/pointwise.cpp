#include "lower/aten/families.h"

namespace anyshape::lower {
namespace {

// A function of one tensor that has the same name and meaning in ONNX, on floating-point numbers.
template <const char* Type>
Arg float_unary(Lowering& l, const Args& a) {
  return l.op(Type, {l.as_float(a.self())});
}

template <const char* Type>
Arg unary(Lowering& l, const Args& a) {
  return l.op(Type, {a.self()});
}

// alpha * other
Ref scaled(Lowering& l, const Args& a, Ref other) {
  if (!a.has("alpha") || a.f("alpha", 1) == 1) return other;
  return l.op("Mul", {other, l.operand(a.arg("alpha"), l.dtype(other))});
}

Arg add(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  if (l.dtype(x) == DType::boolean) return l.op("Or", {x, y});
  return l.op("Add", {x, scaled(l, a, y)});
}

Arg sub(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  return l.op("Sub", {x, scaled(l, a, y)});
}

Arg mul(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  if (l.dtype(x) == DType::boolean) return l.op("And", {x, y});
  return l.op("Mul", {x, y});
}

constexpr char kRelu[] = "Relu", kSigmoid[] = "Sigmoid", kTanh[] = "Tanh", kNeg[] = "Neg";

constexpr AtenOp kOps[] = {
    {"add", add},
    {"mul", mul},
    {"neg", unary<kNeg>},
    {"relu", unary<kRelu>},
    {"sigmoid", float_unary<kSigmoid>},
    {"sub", sub},
    {"tanh", float_unary<kTanh>},
};

}  // namespace

std::span<const AtenOp> pointwise_ops() { return kOps; }

}  // namespace anyshape::lower
