#include "run/cpu/simd/program_simd.h"

#include "kernels/program_scalar.h"
#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/program_simd.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/simd-inl.h"

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

HWY_INLINE V truth_of(hn::Mask<F> m) { return hn::IfThenElseZero(m, splat(1.0f)); }
HWY_INLINE hn::Mask<F> is_true(V x) { return hn::Not(hn::Eq(x, splat(0.0f))); }
HWY_INLINE V keep_nan(V a, V y) { return hn::IfThenElse(hn::Eq(a, a), y, a); }
HWY_INLINE V where_negative(V x, V y) { return hn::IfThenElse(hn::Lt(x, splat(0.0f)), y, x); }

HWY_INLINE V expm1_v(V x) {
  constexpr float kQ[] = {0.5f, 0.166666672f, 0.0416662544f, 0.00833326206f, 0.00139472121f, 0.00019919897f};
  const V near = hn::MulAdd(polynomial(kQ, x), hn::Mul(x, x), x);
  return hn::IfThenElse(hn::Lt(hn::Abs(x), splat(0.34f)), near, hn::Sub(exp_v(x), splat(1.0f)));
}

// What is left to the library, lane by lane.
template <class Fn>
HWY_INLINE V by_lanes(V x, V y, Fn fn) {
  HWY_ALIGN float a[kLanes], b[kLanes];
  hn::Store(x, F(), a);
  hn::Store(y, F(), b);
  for (int64_t i = 0; i < kLanes; ++i) a[i] = fn(a[i], b[i]);
  return hn::Load(F(), a);
}

// The vector function of each row of the table.
namespace element {

HWY_INLINE V copy(V x) { return x; }
HWY_INLINE V add(V x, V y) { return hn::Add(x, y); }
HWY_INLINE V sub(V x, V y) { return hn::Sub(x, y); }
HWY_INLINE V mul(V x, V y) { return hn::Mul(x, y); }
HWY_INLINE V div(V x, V y) { return hn::Div(x, y); }
HWY_INLINE V min(V x, V y) { return keep_nan(x, at_most(y, x)); }
HWY_INLINE V max(V x, V y) { return keep_nan(x, at_least(y, x)); }
HWY_INLINE V pow(V x, V y) {
  return by_lanes(x, y, [](float a, float b) { return kernels::element::pow(a, b); });
}
HWY_INLINE V neg(V x) { return hn::Neg(x); }
HWY_INLINE V abs(V x) { return hn::Abs(x); }
HWY_INLINE V sqrt(V x) { return hn::Sqrt(x); }
HWY_INLINE V rsqrt(V x) { return hn::Div(splat(1.0f), hn::Sqrt(x)); }
HWY_INLINE V reciprocal(V x) { return hn::Div(splat(1.0f), x); }
HWY_INLINE V exp(V x) { return exp_v(x); }
HWY_INLINE V log(V x) { return log_v(x); }
HWY_INLINE V tanh(V x) { return tanh_v(x); }
HWY_INLINE V sigmoid(V x) { return sigmoid_v(x); }
HWY_INLINE V erf(V x) { return erf_v(x); }
HWY_INLINE V gelu(V x) { return gelu_v(x); }
HWY_INLINE V gelu_tanh(V x) { return gelu_tanh_v(x); }
HWY_INLINE V relu(V x) { return at_least(x, splat(0.0f)); }
HWY_INLINE V leaky_relu(V x, V slope) { return where_negative(x, hn::Mul(x, slope)); }
HWY_INLINE V elu(V x, V alpha) { return where_negative(x, hn::Mul(alpha, expm1_v(x))); }
HWY_INLINE V celu(V x, V alpha) { return where_negative(x, hn::Mul(alpha, expm1_v(hn::Div(x, alpha)))); }
HWY_INLINE V clip(V x, V least, V greatest) { return at_most(at_least(x, least), greatest); }
HWY_INLINE V hard_sigmoid(V x, V alpha, V beta) { return clip(hn::MulAdd(x, alpha, beta), splat(0.0f), splat(1.0f)); }
HWY_INLINE V hard_swish(V x) { return hard_swish_v(x); }
HWY_INLINE V silu(V x) { return silu_v(x); }
HWY_INLINE V softplus(V x) { return softplus_v(x); }
HWY_INLINE V floor(V x) { return hn::Floor(x); }
HWY_INLINE V ceil(V x) { return hn::Ceil(x); }
HWY_INLINE V round(V x) { return hn::Round(x); }
HWY_INLINE V sign(V x) {
  const V up = truth_of(hn::Gt(x, splat(0.0f))), down = truth_of(hn::Lt(x, splat(0.0f)));
  return keep_nan(x, hn::Sub(up, down));
}
HWY_INLINE V sin(V x) {
  return by_lanes(x, x, [](float a, float) { return kernels::element::sin(a); });
}
HWY_INLINE V cos(V x) {
  return by_lanes(x, x, [](float a, float) { return kernels::element::cos(a); });
}
HWY_INLINE V where(V condition, V x, V y) { return hn::IfThenElse(is_true(condition), x, y); }
HWY_INLINE V less(V x, V y) { return truth_of(hn::Lt(x, y)); }
HWY_INLINE V less_equal(V x, V y) { return truth_of(hn::Le(x, y)); }
HWY_INLINE V greater(V x, V y) { return truth_of(hn::Gt(x, y)); }
HWY_INLINE V greater_equal(V x, V y) { return truth_of(hn::Ge(x, y)); }
HWY_INLINE V equal(V x, V y) { return truth_of(hn::Eq(x, y)); }
HWY_INLINE V logical_not(V x) { return truth_of(hn::Eq(x, splat(0.0f))); }
HWY_INLINE V logical_and(V x, V y) { return truth_of(hn::And(is_true(x), is_true(y))); }
HWY_INLINE V logical_or(V x, V y) { return truth_of(hn::Or(is_true(x), is_true(y))); }
HWY_INLINE V logical_xor(V x, V y) { return truth_of(hn::Xor(is_true(x), is_true(y))); }
HWY_INLINE V is_nan(V x) { return truth_of(hn::Not(hn::Eq(x, x))); }

}  // namespace element

// Powers that models have, all with one exponent; false: another one.
bool run_common_power(int64_t n, A a, float exponent, float* out) {
  if (exponent == 2)
    unary(n, a, out, [](V x) HWY_ATTR { return hn::Mul(x, x); });
  else if (exponent == 3)
    unary(n, a, out, [](V x) HWY_ATTR { return hn::Mul(hn::Mul(x, x), x); });
  else if (exponent == -1)
    unary(n, a, out, [](V x) HWY_ATTR { return hn::Div(splat(1.0f), x); });
  else
    return false;
  return true;
}

void run(ElementOp op, int64_t n, A a, A b, A c, float* out) {
  if (op == ElementOp::pow && b.step == 0 && run_common_power(n, a, b.data[0], out)) return;
#define ANYSHAPE_RUN_1(name) unary(n, a, out, [](V x) HWY_ATTR { return element::name(x); })
#define ANYSHAPE_RUN_2(name) binary(n, a, b, out, [](V x, V y) HWY_ATTR { return element::name(x, y); })
#define ANYSHAPE_RUN_3(name) ternary(n, a, b, c, out, [](V x, V y, V z) HWY_ATTR { return element::name(x, y, z); })
#define ANYSHAPE_ROW(name, operands, ...) \
  case ElementOp::name:                   \
    return ANYSHAPE_RUN_##operands(name);
  switch (op) { ANYSHAPE_ELEMENT_OPS(ANYSHAPE_ROW) }
#undef ANYSHAPE_ROW
#undef ANYSHAPE_RUN_3
#undef ANYSHAPE_RUN_2
#undef ANYSHAPE_RUN_1
}

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
