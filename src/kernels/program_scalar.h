#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>

#include "kernels/elementwise.h"
#include "kernels/program.h"

// The plain meaning of every operation of an elementwise program, one entry at a time.
namespace anyshape::simd {

template <class T>
T scalar_logic(ElementOp op, T a, T b) {
  switch (op) {
    case ElementOp::less:
      return static_cast<T>(a < b);
    case ElementOp::less_equal:
      return static_cast<T>(a <= b);
    case ElementOp::greater:
      return static_cast<T>(a > b);
    case ElementOp::greater_equal:
      return static_cast<T>(a >= b);
    case ElementOp::equal:
      return static_cast<T>(a == b);
    case ElementOp::logical_not:
      return static_cast<T>(a == 0);
    case ElementOp::logical_and:
      return static_cast<T>(a != 0 && b != 0);
    case ElementOp::logical_or:
      return static_cast<T>(a != 0 || b != 0);
    case ElementOp::logical_xor:
      return static_cast<T>((a != 0) != (b != 0));
    default:
      return static_cast<T>(a != a);
  }
}

// The operations that integers have as well.
template <class T>
T scalar_number(ElementOp op, T a, T b, T c) {
  const bool nan = a != a;
  switch (op) {
    case ElementOp::copy:
      return a;
    case ElementOp::add:
      return kernels::wrapping(a, b, std::plus<>());
    case ElementOp::sub:
      return kernels::wrapping(a, b, std::minus<>());
    case ElementOp::mul:
      return kernels::wrapping(a, b, std::multiplies<>());
    case ElementOp::min:
      return nan || a < b ? a : b;
    case ElementOp::max:
      return nan || a > b ? a : b;
    case ElementOp::neg:
      if constexpr (std::is_floating_point_v<T>) return -a;
      return kernels::wrapping(T(0), a, std::minus<>());
    case ElementOp::abs:
      if constexpr (std::is_floating_point_v<T>) return std::fabs(a);
      return a < 0 ? kernels::wrapping(T(0), a, std::minus<>()) : a;
    case ElementOp::relu:
      return a < 0 ? T(0) : a;
    case ElementOp::clip:
      return nan ? a : std::min(std::max(a, b), c);
    case ElementOp::sign:
      return nan ? a : static_cast<T>((a > 0) - (a < 0));
    case ElementOp::where:
      return a != 0 ? b : c;
    default:
      return scalar_logic(op, a, b);
  }
}

template <class T>
T scalar_function(ElementOp op, T a, T b) {
  switch (op) {
    case ElementOp::div:
      return a / b;
    case ElementOp::pow:
      return std::pow(a, b);
    case ElementOp::sqrt:
      return std::sqrt(a);
    case ElementOp::rsqrt:
      return T(1) / std::sqrt(a);
    case ElementOp::reciprocal:
      return T(1) / a;
    case ElementOp::exp:
      return std::exp(a);
    case ElementOp::log:
      return std::log(a);
    case ElementOp::tanh:
      return std::tanh(a);
    case ElementOp::erf:
      return std::erf(a);
    case ElementOp::floor:
      return std::floor(a);
    case ElementOp::ceil:
      return std::ceil(a);
    case ElementOp::round:
      return std::nearbyint(a);
    case ElementOp::sin:
      return std::sin(a);
    default:
      return std::cos(a);
  }
}

template <class T>
T scalar_activation(ElementOp op, T a, T b, T c) {
  const T half(0.5);
  switch (op) {
    case ElementOp::sigmoid:
      return T(1) / (T(1) + std::exp(-a));
    case ElementOp::gelu:
      return half * a * (T(1) + std::erf(a * std::sqrt(half)));
    case ElementOp::gelu_tanh:
      return half * a * (T(1) + std::tanh(T(0.79788456080286536) * (a + T(0.044715) * a * a * a)));
    case ElementOp::leaky_relu:
      return a < 0 ? a * b : a;
    case ElementOp::elu:
      return a < 0 ? b * std::expm1(a) : a;
    case ElementOp::celu:
      return a < 0 ? b * std::expm1(a / b) : a;
    case ElementOp::hard_sigmoid:
      return scalar_number(ElementOp::clip, a * b + c, T(0), T(1));
    case ElementOp::hard_swish:
      return a * scalar_number(ElementOp::clip, a / T(6) + half, T(0), T(1));
    case ElementOp::silu:
      return a / (T(1) + std::exp(-a));
    case ElementOp::softplus:
      return std::max(a, T(0)) + std::log1p(std::exp(-std::fabs(a)));
    default:
      return scalar_function(op, a, b);
  }
}

// REQUIRES: the operation is defined for T.
template <class T>
T scalar(ElementOp op, T a, T b, T c) {
  if (info(op).on_integers) return scalar_number(op, a, b, c);
  if constexpr (std::is_floating_point_v<T>) return scalar_activation(op, a, b, c);
  return T(0);
}

}  // namespace anyshape::simd
