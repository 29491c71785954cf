#include "kernels/program_simd.h"

#include "kernels/program_scalar.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/program_simd.cpp"
#include <hwy/foreach_target.h>

#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

using A = Operand<float>;

HWY_INLINE V load_part_of(A x, int64_t i, int64_t n) {
  return x.step ? load_part(x.data + i, n) : hn::LoadU(F(), x.data);
}

template <class Fn>
HWY_INLINE void unary(int64_t n, A a, float* out, Fn fn) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(fn(hn::LoadU(F(), a.data + i * a.step)), F(), out + i);
  if (i < n) store_part(fn(load_part_of(a, i, n - i)), out + i, n - i);
}

template <class Fn>
HWY_INLINE void binary(int64_t n, A a, A b, float* out, Fn fn) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    hn::StoreU(fn(hn::LoadU(F(), a.data + i * a.step), hn::LoadU(F(), b.data + i * b.step)), F(), out + i);
  if (i < n) store_part(fn(load_part_of(a, i, n - i), load_part_of(b, i, n - i)), out + i, n - i);
}

template <class Fn>
HWY_INLINE void ternary(int64_t n, A a, A b, A c, float* out, Fn fn) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const V x = hn::LoadU(F(), a.data + i * a.step), y = hn::LoadU(F(), b.data + i * b.step);
    hn::StoreU(fn(x, y, hn::LoadU(F(), c.data + i * c.step)), F(), out + i);
  }
  if (i >= n) return;
  const V x = load_part_of(a, i, n - i), y = load_part_of(b, i, n - i);
  store_part(fn(x, y, load_part_of(c, i, n - i)), out + i, n - i);
}

HWY_INLINE V truth(hn::Mask<F> m) { return hn::IfThenElseZero(m, splat(1.0f)); }
HWY_INLINE hn::Mask<F> is_true(V x) { return hn::Not(hn::Eq(x, splat(0.0f))); }
HWY_INLINE V keep_nan(V a, V y) { return hn::IfThenElse(hn::Eq(a, a), y, a); }

HWY_INLINE V sign_v(V x) {
  const V up = truth(hn::Gt(x, splat(0.0f))), down = truth(hn::Lt(x, splat(0.0f)));
  return keep_nan(x, hn::Sub(up, down));
}

HWY_INLINE V expm1_v(V x) {
  constexpr float kQ[] = {0.5f, 0.166666672f, 0.0416662544f, 0.00833326206f, 0.00139472121f, 0.00019919897f};
  const V near = hn::MulAdd(polynomial(kQ, x), hn::Mul(x, x), x);
  return hn::IfThenElse(hn::Lt(hn::Abs(x), splat(0.34f)), near, hn::Sub(exp_v(x), splat(1.0f)));
}

HWY_INLINE V where_negative(V x, V y) { return hn::IfThenElse(hn::Lt(x, splat(0.0f)), y, x); }

void plain(ElementOp op, int64_t n, A a, A b, A c, float* out) {
  for (int64_t i = 0; i < n; ++i)
    out[i] = scalar(op, a.data[i * a.step], b.data ? b.data[i * b.step] : 0.0f, c.data ? c.data[i * c.step] : 0.0f);
}

// Powers that models have: the others are left to the library.
void power(int64_t n, A a, A b, float* out) {
  const float exponent = b.step == 0 && n > 0 ? b.data[0] : 0;
  if (exponent == 2) return unary(n, a, out, [](V x) HWY_ATTR { return hn::Mul(x, x); });
  if (exponent == 3) return unary(n, a, out, [](V x) HWY_ATTR { return hn::Mul(hn::Mul(x, x), x); });
  if (exponent == -1) return unary(n, a, out, [](V x) HWY_ATTR { return hn::Div(splat(1.0f), x); });
  plain(ElementOp::pow, n, a, b, {}, out);
}

#define UNARY(name, expression) \
  case ElementOp::name:         \
    return unary(n, a, out, [](V x) HWY_ATTR { return expression; });
#define BINARY(name, expression) \
  case ElementOp::name:          \
    return binary(n, a, b, out, [](V x, V y) HWY_ATTR { return expression; });
#define TERNARY(name, expression) \
  case ElementOp::name:           \
    return ternary(n, a, b, c, out, [](V x, V y, V z) HWY_ATTR { return expression; });

void run_logic(ElementOp op, int64_t n, A a, A b, A c, float* out) {
  switch (op) {
    TERNARY(where, hn::IfThenElse(is_true(x), y, z))
    BINARY(less, truth(hn::Lt(x, y)))
    BINARY(less_equal, truth(hn::Le(x, y)))
    BINARY(greater, truth(hn::Gt(x, y)))
    BINARY(greater_equal, truth(hn::Ge(x, y)))
    BINARY(equal, truth(hn::Eq(x, y)))
    BINARY(logical_and, truth(hn::And(is_true(x), is_true(y))))
    BINARY(logical_or, truth(hn::Or(is_true(x), is_true(y))))
    BINARY(logical_xor, truth(hn::Xor(is_true(x), is_true(y))))
    UNARY(logical_not, truth(hn::Eq(x, splat(0.0f))))
    UNARY(is_nan, truth(hn::Not(hn::Eq(x, x))))
    default:
      return plain(op, n, a, b, c, out);
  }
}

void run_activation(ElementOp op, int64_t n, A a, A b, A c, float* out) {
  switch (op) {
    UNARY(exp, exp_v(x))
    UNARY(log, log_v(x))
    UNARY(tanh, tanh_v(x))
    UNARY(sigmoid, sigmoid_v(x))
    UNARY(erf, erf_v(x))
    UNARY(gelu, gelu_v(x))
    UNARY(gelu_tanh, gelu_tanh_v(x))
    UNARY(hard_swish, hard_swish_v(x))
    UNARY(silu, silu_v(x))
    UNARY(softplus, softplus_v(x))
    BINARY(leaky_relu, where_negative(x, hn::Mul(x, y)))
    BINARY(elu, where_negative(x, hn::Mul(y, expm1_v(x))))
    BINARY(celu, where_negative(x, hn::Mul(y, expm1_v(hn::Div(x, y)))))
    TERNARY(hard_sigmoid, at_most(at_least(hn::MulAdd(x, y, z), splat(0.0f)), splat(1.0f)))
    default:
      return run_logic(op, n, a, b, c, out);
  }
}

void run(ElementOp op, int64_t n, A a, A b, A c, float* out) {
  switch (op) {
    UNARY(copy, x)
    BINARY(add, hn::Add(x, y))
    BINARY(sub, hn::Sub(x, y))
    BINARY(mul, hn::Mul(x, y))
    BINARY(div, hn::Div(x, y))
    BINARY(min, keep_nan(x, at_most(y, x)))
    BINARY(max, keep_nan(x, at_least(y, x)))
    UNARY(neg, hn::Neg(x))
    UNARY(abs, hn::Abs(x))
    UNARY(sqrt, hn::Sqrt(x))
    UNARY(rsqrt, hn::Div(splat(1.0f), hn::Sqrt(x)))
    UNARY(reciprocal, hn::Div(splat(1.0f), x))
    UNARY(relu, at_least(x, splat(0.0f)))
    UNARY(floor, hn::Floor(x))
    UNARY(ceil, hn::Ceil(x))
    UNARY(round, hn::Round(x))
    UNARY(sign, sign_v(x))
    TERNARY(clip, at_most(at_least(x, y), z))
    case ElementOp::pow:
      return power(n, a, b, out);
    default:
      return run_activation(op, n, a, b, c, out);
  }
}

#undef UNARY
#undef BINARY
#undef TERNARY

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(run);

void run_f32(ElementOp op, int64_t n, Operand<float> a, Operand<float> b, Operand<float> c, float* out) {
  HWY_DYNAMIC_DISPATCH(run)(op, n, a, b, c, out);
}

}  // namespace anyshape::simd
#endif
