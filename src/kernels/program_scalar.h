#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <type_traits>

#include "kernels/elementwise.h"
#include "tensor/element_ops.h"

// The plain meaning of every operation of an elementwise program, one entry at a time.
namespace anyshape::kernels {
namespace element {

template <class T>
T copy(T a) {
  return a;
}
template <class T>
T add(T a, T b) {
  return wrapping(a, b, std::plus<>());
}
template <class T>
T sub(T a, T b) {
  return wrapping(a, b, std::minus<>());
}
template <class T>
T mul(T a, T b) {
  return wrapping(a, b, std::multiplies<>());
}
template <class T>
T div(T a, T b) {
  return a / b;
}
template <class T>
T min(T a, T b) {
  return a != a || a < b ? a : b;
}
template <class T>
T max(T a, T b) {
  return a != a || a > b ? a : b;
}
template <class T>
T pow(T a, T b) {
  return std::pow(a, b);
}
template <class T>
T neg(T a) {
  if constexpr (std::is_floating_point_v<T>) return -a;
  return wrapping(T(0), a, std::minus<>());
}
template <class T>
T abs(T a) {
  if constexpr (std::is_floating_point_v<T>) return std::fabs(a);
  return a < 0 ? neg(a) : a;
}
template <class T>
T sqrt(T a) {
  return std::sqrt(a);
}
template <class T>
T rsqrt(T a) {
  return T(1) / std::sqrt(a);
}
template <class T>
T reciprocal(T a) {
  return T(1) / a;
}
template <class T>
T exp(T a) {
  return std::exp(a);
}
template <class T>
T log(T a) {
  return std::log(a);
}
template <class T>
T tanh(T a) {
  return std::tanh(a);
}
template <class T>
T sigmoid(T a) {
  return T(1) / (T(1) + std::exp(-a));
}
template <class T>
T erf(T a) {
  return std::erf(a);
}
template <class T>
T gelu(T a) {
  return T(0.5) * a * (T(1) + std::erf(a * std::sqrt(T(0.5))));
}
template <class T>
T gelu_tanh(T a) {
  return T(0.5) * a * (T(1) + std::tanh(T(0.79788456080286536) * (a + T(0.044715) * a * a * a)));
}
template <class T>
T relu(T a) {
  return a < 0 ? T(0) : a;
}
template <class T>
T leaky_relu(T a, T slope) {
  return a < 0 ? a * slope : a;
}
template <class T>
T elu(T a, T alpha) {
  return a < 0 ? alpha * std::expm1(a) : a;
}
template <class T>
T celu(T a, T alpha) {
  return a < 0 ? alpha * std::expm1(a / alpha) : a;
}
template <class T>
T clip(T a, T least, T greatest) {
  return a != a ? a : std::min(std::max(a, least), greatest);
}
template <class T>
T hard_sigmoid(T a, T alpha, T beta) {
  return clip(a * alpha + beta, T(0), T(1));
}
template <class T>
T hard_swish(T a) {
  return a * clip(a / T(6) + T(0.5), T(0), T(1));
}
template <class T>
T silu(T a) {
  return a / (T(1) + std::exp(-a));
}
template <class T>
T softplus(T a) {
  return std::max(a, T(0)) + std::log1p(std::exp(-std::fabs(a)));
}
template <class T>
T floor(T a) {
  return std::floor(a);
}
template <class T>
T ceil(T a) {
  return std::ceil(a);
}
template <class T>
T round(T a) {
  return std::nearbyint(a);
}
template <class T>
T sign(T a) {
  return a != a ? a : static_cast<T>((a > 0) - (a < 0));
}
template <class T>
T sin(T a) {
  return std::sin(a);
}
template <class T>
T cos(T a) {
  return std::cos(a);
}
template <class T>
T where(T condition, T a, T b) {
  return condition != 0 ? a : b;
}
template <class T>
T less(T a, T b) {
  return static_cast<T>(a < b);
}
template <class T>
T less_equal(T a, T b) {
  return static_cast<T>(a <= b);
}
template <class T>
T greater(T a, T b) {
  return static_cast<T>(a > b);
}
template <class T>
T greater_equal(T a, T b) {
  return static_cast<T>(a >= b);
}
template <class T>
T equal(T a, T b) {
  return static_cast<T>(a == b);
}
template <class T>
T logical_not(T a) {
  return static_cast<T>(a == 0);
}
template <class T>
T logical_and(T a, T b) {
  return static_cast<T>(a != 0 && b != 0);
}
template <class T>
T logical_or(T a, T b) {
  return static_cast<T>(a != 0 || b != 0);
}
template <class T>
T logical_xor(T a, T b) {
  return static_cast<T>((a != 0) != (b != 0));
}
template <class T>
T is_nan(T a) {
  return static_cast<T>(a != a);
}

}  // namespace element

// REQUIRES: the operation is defined for T.
template <class T>
T scalar(ElementOp op, T a, T b, T c) {
#define ANYSHAPE_CALL_1(name) return element::name(a)
#define ANYSHAPE_CALL_2(name) return element::name(a, b)
#define ANYSHAPE_CALL_3(name) return element::name(a, b, c)
#define ANYSHAPE_ROW(name, operands, result, takes, error)                                           \
  case ElementOp::name:                                                                              \
    if constexpr (ElementOperands::takes == ElementOperands::numbers || std::is_floating_point_v<T>) \
      ANYSHAPE_CALL_##operands(name);                                                                \
    break;
  switch (op) { ANYSHAPE_ELEMENT_OPS(ANYSHAPE_ROW) }
#undef ANYSHAPE_ROW
#undef ANYSHAPE_CALL_3
#undef ANYSHAPE_CALL_2
#undef ANYSHAPE_CALL_1
  return T(0);
}

}  // namespace anyshape::kernels
