#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

// The operations of elementwise programs. The order is part of the attribute `code` of anyshape.Elementwise.
//
// ROW(name, operands, what it gives, what it takes, error): kernels/program_scalar.h has the plain function of that
// name, kernels/program_simd.cpp the vector one, for floats. A row without either does not compile. The error is how
// far the vector function may be from the plain one, computed in double or in float.
#define ANYSHAPE_ELEMENT_OPS(ROW)                                               \
  ROW(copy, 1, number, numbers, within(0))                                      \
  ROW(add, 2, number, numbers, within(0.5))                                     \
  ROW(sub, 2, number, numbers, within(0.5))                                     \
  ROW(mul, 2, number, numbers, within(0.5))                                     \
  ROW(div, 2, number, reals, within(0.5))                                       \
  ROW(min, 2, number, numbers, within(0)) /* min and max: NaN when either is */ \
  ROW(max, 2, number, numbers, within(0))                                       \
  ROW(pow, 2, number, reals, within(1))                                         \
  ROW(neg, 1, number, numbers, within(0))                                       \
  ROW(abs, 1, number, numbers, within(0))                                       \
  ROW(sqrt, 1, number, reals, within(0.5))                                      \
  ROW(rsqrt, 1, number, reals, within(1.5))                                     \
  ROW(reciprocal, 1, number, reals, within(0.5))                                \
  ROW(exp, 1, number, reals, within(2))                                         \
  ROW(log, 1, number, reals, within(2))                                         \
  ROW(tanh, 1, number, reals, within(2))                                        \
  ROW(sigmoid, 1, number, reals, within(2))                                     \
  ROW(erf, 1, number, reals, within(2))                                         \
  ROW(gelu, 1, number, reals, cancels(3.5))                                     \
  ROW(gelu_tanh, 1, number, reals, cancels(3.5))                                \
  ROW(relu, 1, number, numbers, within(0))                                      \
  ROW(leaky_relu, 2, number, reals, within(0.5)) /* x, slope */                 \
  ROW(elu, 2, number, reals, within(4))          /* x, alpha */                 \
  ROW(celu, 2, number, reals, within(4))         /* x, alpha */                 \
  ROW(hard_sigmoid, 3, number, reals, within(1)) /* x, alpha, beta */           \
  ROW(hard_swish, 1, number, reals, cancels(2))                                 \
  ROW(silu, 1, number, reals, underflows(4))                                    \
  ROW(softplus, 1, number, reals, within(4))                                    \
  ROW(clip, 3, number, numbers, within(0)) /* x, least, greatest */             \
  ROW(floor, 1, number, reals, within(0))                                       \
  ROW(ceil, 1, number, reals, within(0))                                        \
  ROW(round, 1, number, reals, within(0)) /* ties to even */                    \
  ROW(sign, 1, number, numbers, within(0))                                      \
  ROW(sin, 1, number, reals, within(1))                                         \
  ROW(cos, 1, number, reals, within(1))                                         \
  ROW(where, 3, number, numbers, within(0)) /* condition, x, y */               \
  ROW(less, 2, truth, numbers, within(0))                                       \
  ROW(less_equal, 2, truth, numbers, within(0))                                 \
  ROW(greater, 2, truth, numbers, within(0))                                    \
  ROW(greater_equal, 2, truth, numbers, within(0))                              \
  ROW(equal, 2, truth, numbers, within(0))                                      \
  ROW(logical_not, 1, truth, numbers, within(0))                                \
  ROW(logical_and, 2, truth, numbers, within(0))                                \
  ROW(logical_or, 2, truth, numbers, within(0))                                 \
  ROW(logical_xor, 2, truth, numbers, within(0))                                \
  ROW(is_nan, 1, truth, numbers, within(0))

namespace anyshape {

enum class ElementOp : uint8_t {
#define ANYSHAPE_ROW(name, ...) name,
  ANYSHAPE_ELEMENT_OPS(ANYSHAPE_ROW)
#undef ANYSHAPE_ROW
};

enum class ElementResult : uint8_t { number, truth };     // truth: 1 or 0
enum class ElementOperands : uint8_t { reals, numbers };  // numbers: integers as well

struct ElementError {
  // What `ulps` are units of: the value; or the first operand where that is larger, for differences of numbers of its
  // size; or the smallest number times the first operand where that is larger, for products of it and a function.
  enum class Of : uint8_t { value, operand, underflow };
  double ulps = 0;
  Of of = Of::value;

  static constexpr ElementError within(double ulps) { return {ulps, Of::value}; }
  static constexpr ElementError cancels(double ulps) { return {ulps, Of::operand}; }
  static constexpr ElementError underflows(double ulps) { return {ulps, Of::underflow}; }
};

struct ElementOpInfo {
  std::string_view name;
  int operands;
  ElementResult result;
  ElementOperands takes;
  ElementError error;
};

inline constexpr ElementOpInfo kElementOps[] = {
#define ANYSHAPE_ROW(name, operands, result, takes, error) \
  {#name, operands, ElementResult::result, ElementOperands::takes, ElementError::error},
    ANYSHAPE_ELEMENT_OPS(ANYSHAPE_ROW)
#undef ANYSHAPE_ROW
};

constexpr const ElementOpInfo& info_of(ElementOp op) { return kElementOps[static_cast<size_t>(op)]; }

}  // namespace anyshape
