// Loads and stores of parts of vectors, and functions of float vectors. Included once per instruction set.
#if defined(ANYSHAPE_KERNELS_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ANYSHAPE_KERNELS_SIMD_INL_H_
#undef ANYSHAPE_KERNELS_SIMD_INL_H_
#else
#define ANYSHAPE_KERNELS_SIMD_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>
#include <limits>

#ifndef ANYSHAPE_UNROLL
#ifdef __clang__
#define ANYSHAPE_UNROLL _Pragma("clang loop unroll(full)")
#else
#define ANYSHAPE_UNROLL _Pragma("GCC unroll 16")
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;
using I = hn::RebindToSigned<F>;
using V = hn::Vec<F>;
inline constexpr int64_t kLanes = HWY_LANES(float);

HWY_INLINE V splat(float x) { return hn::Set(F(), x); }

// The first n floats, zeros after them. REQUIRES: 0 < n <= kLanes.
HWY_INLINE V load_part(const float* from, int64_t n) {
  const F d;
#if HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(n)), d, from);
#else
  HWY_ALIGN float whole[kLanes] = {};
  std::memcpy(whole, from, static_cast<size_t>(n) * sizeof(float));
  return hn::Load(d, whole);
#endif
}

HWY_INLINE void store_part(V v, float* to, int64_t n) {
  const F d;
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(n)), d, to);
#else
  HWY_ALIGN float whole[kLanes];
  hn::Store(v, d, whole);
  std::memcpy(to, whole, static_cast<size_t>(n) * sizeof(float));
#endif
}

HWY_INLINE V load_n(const float* from, int64_t n) { return n >= kLanes ? hn::LoadU(F(), from) : load_part(from, n); }
HWY_INLINE void store_n(V v, float* to, int64_t n) {
  if (n >= kLanes)
    hn::StoreU(v, F(), to);
  else
    store_part(v, to, n);
}

// c[0] + c[1] x + ... + c[N - 1] x^(N - 1)
template <int N>
HWY_INLINE V polynomial(const float (&c)[N], V x) {
  V sum = splat(c[N - 1]);
  ANYSHAPE_UNROLL
  for (int i = N - 2; i >= 0; --i) sum = hn::MulAdd(sum, x, splat(c[i]));
  return sum;
}

// 2^e. REQUIRES: -126 <= e <= 127.
HWY_INLINE V power_of_two(hn::Vec<I> e) { return hn::BitCast(F(), hn::ShiftLeft<23>(hn::Add(e, hn::Set(I(), 127)))); }

// The greater and the smaller one; x where x is NaN (and NEON also gives a NaN limit).
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
HWY_INLINE V at_least(V x, V low) { return hn::IfThenElse(hn::Lt(x, low), low, x); }
HWY_INLINE V at_most(V x, V high) { return hn::IfThenElse(hn::Gt(x, high), high, x); }
#else
HWY_INLINE V at_least(V x, V low) { return hn::Max(low, x); }
HWY_INLINE V at_most(V x, V high) { return hn::Min(high, x); }
#endif

// exp(r) for |r| <= 0.35.
HWY_INLINE V exp_near_zero(V r) {
  constexpr float kQ[] = {0.5f, 0.166666672f, 0.0416662544f, 0.00833326206f, 0.00139472121f, 0.00019919897f};
  return hn::Add(hn::MulAdd(polynomial(kQ, r), hn::Mul(r, r), r), splat(1.0f));
}

HWY_INLINE V exp_v(V x) {
  // Beyond these the result is 0 or infinite.
  const V clamped = at_most(at_least(x, splat(-104.0f)), splat(89.0f));
  const V n = hn::Round(hn::Mul(clamped, splat(1.44269504f)));
  V r = hn::NegMulAdd(n, splat(0.693359375f), clamped);
  r = hn::NegMulAdd(n, splat(-2.12194440e-4f), r);
  // Two factors, as the result may be subnormal.
  const auto e = hn::ConvertTo(I(), n);
  const auto half = hn::ShiftRight<1>(e);
  const V p = hn::Mul(hn::Mul(exp_near_zero(r), power_of_two(half)), power_of_two(hn::Sub(e, half)));
  return hn::IfThenElse(hn::Eq(x, x), p, x);
}

// exp(x) for x <= 0, with a relative error of 2.2e-7: what softmax takes of differences to the largest entry. Results
// below the smallest normal number are 0.
HWY_INLINE V exp_below_zero(V x) {
  constexpr float kQ[] = {0.499992311f, 0.166671157f, 0.0418903977f, 0.00831249449f};
  // The last bits of `shifted` are the exponent of the power of two, biased.
  const V magic = splat(12582912.0f + 127);
  const V shifted = hn::MulAdd(x, splat(1.44269504f), magic);
  const V n = hn::Sub(shifted, magic);
  V r = hn::NegMulAdd(n, splat(0.693359375f), x);
  r = hn::NegMulAdd(n, splat(-2.12194440e-4f), r);
  const V p = hn::MulAdd(polynomial(kQ, r), hn::Mul(r, r), hn::Add(r, splat(1.0f)));
  const V scale = hn::BitCast(F(), hn::ShiftLeft<23>(hn::BitCast(I(), shifted)));
  return hn::IfThenZeroElse(hn::Lt(x, splat(-87.3365f)), hn::Mul(p, scale));
}

// The natural logarithm of positive normal numbers.
HWY_INLINE V log_normal(V x, V extra_exponent) {
  constexpr float kQ[] = {0.333333105f,  -0.249999866f, 0.200022265f,  -0.166692495f, 0.142186552f,
                          -0.123843722f, 0.118730202f,  -0.117896847f, 0.06915126f};
  const I i;
  // The mantissa in sqrt(1/2)..sqrt(2).
  const auto bits = hn::BitCast(i, x);
  const auto e = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(i, 0x3f3504f3)));
  const V m = hn::BitCast(F(), hn::Sub(bits, hn::ShiftLeft<23>(e)));
  const V exponent = hn::Add(hn::ConvertTo(F(), e), extra_exponent);
  const V f = hn::Sub(m, splat(1.0f));
  const V ff = hn::Mul(f, f);
  V tail = hn::Mul(hn::Mul(ff, f), polynomial(kQ, f));
  tail = hn::MulAdd(exponent, splat(-2.12194440e-4f), tail);
  tail = hn::NegMulAdd(ff, splat(0.5f), tail);
  return hn::MulAdd(exponent, splat(0.693359375f), hn::Add(f, tail));
}

HWY_INLINE V log_v(V x) {
  const auto tiny = hn::Lt(x, splat(std::numeric_limits<float>::min()));
  const V scaled = hn::IfThenElse(tiny, hn::Mul(x, splat(0x1p25f)), x);
  V y = log_normal(scaled, hn::IfThenElseZero(tiny, splat(-25.0f)));
  const float infinity = std::numeric_limits<float>::infinity();
  y = hn::IfThenElse(hn::Eq(x, splat(infinity)), x, y);
  y = hn::IfThenElse(hn::Eq(x, splat(0.0f)), splat(-infinity), y);
  y = hn::IfThenElse(hn::Lt(x, splat(0.0f)), splat(std::numeric_limits<float>::quiet_NaN()), y);
  return hn::IfThenElse(hn::Eq(x, x), y, x);
}

// log(1 + x) for x >= 0: what rounding 1 + x lost is put back.
HWY_INLINE V log1p_v(V x) {
  const V u = hn::Add(splat(1.0f), x);
  const V lost = hn::Div(hn::Sub(x, hn::Sub(u, splat(1.0f))), u);
  return hn::Add(log_normal(u, splat(0.0f)), lost);
}

HWY_INLINE V sigmoid_v(V x) {
  // exp(-|x|) never overflows; small results keep their relative accuracy.
  const V e = exp_v(hn::Neg(hn::Abs(x)));
  const auto negative = hn::Lt(x, splat(0.0f));
  const V sum = hn::Add(splat(1.0f), e);
  const V y = hn::Div(hn::IfThenElse(negative, e, splat(1.0f)), sum);
  // What rounding the sum lost is put back, as a part of the sum.
  const V lost = hn::Sub(e, hn::Sub(sum, splat(1.0f)));
  const V inverse = hn::IfThenElse(negative, hn::Sub(splat(1.0f), y), y);
  return hn::NegMulAdd(hn::Mul(lost, y), inverse, y);
}

// x P(x^2) / Q(x^2) up to |x| = end, 1 or -1 from there on. Of NaN: NaN.
template <int N, int M>
HWY_INLINE V odd_ratio(const float (&p)[N], const float (&q)[M], float end, V x) {
  const V u = hn::Mul(x, x);
  const V y = hn::Div(hn::Mul(x, polynomial(p, u)), polynomial(q, u));
  return hn::IfThenElse(hn::Ge(hn::Abs(x), splat(end)), hn::CopySign(splat(1.0f), x), y);
}

// tanh(x) with an absolute error of 4e-7: a rational function instead of an exponential.
HWY_INLINE V tanh_fast(V x) {
  constexpr float kP[] = {1.0f, 0.133810222f, 0.00349558401f, 2.06090172e-05f, 1.33545743e-08f};
  constexpr float kQ[] = {1.0f, 0.467143387f, 0.0258769672f, 0.000328562834f, 7.7765219e-07f};
  return odd_ratio(kP, kQ, 9.0f, x);
}

// 1 / (1 + exp(-x)) with an absolute error of 2.5e-7.
HWY_INLINE V sigmoid_fast(V x) {
  const V half = splat(0.5f);
  return hn::MulAdd(tanh_fast(hn::Mul(x, half)), half, half);
}

HWY_INLINE V tanh_v(V x) {
  constexpr float kQ[] = {-0.333333284f, 0.133331582f, -0.0539405644f, 0.0216663461f, -0.00809196848f, 0.00206466508f};
  const V u = hn::Mul(x, x), size = hn::Abs(x);
  const V small = hn::MulAdd(hn::Mul(polynomial(kQ, u), u), x, x);
  const V e = exp_v(hn::Add(size, size));
  const V large = hn::Sub(splat(1.0f), hn::Div(splat(2.0f), hn::Add(e, splat(1.0f))));
  return hn::IfThenElse(hn::Lt(size, splat(0.625f)), small, hn::CopySign(large, x));
}

HWY_INLINE V erf_v(V x) {
  constexpr float kNear[] = {0.128379166f,   -0.376126379f,    0.112837829f,    -0.0268654451f,
                             0.00522107491f, -0.000848471187f, 0.000112705457f, -9.68013956e-06f};
  constexpr float kFar[] = {0.000170550935f, -1.12949514f,    -0.633386672f,   -0.108236603f,
                            0.0250914861f,   -0.00416052295f, 0.000432302128f, -2.09094742e-05f};
  const V size = hn::Abs(x);
  const V near = hn::MulAdd(polynomial(kNear, hn::Mul(x, x)), x, x);
  // The complement is exp of a polynomial; past 4 the result rounds to 1.
  const V far = hn::Sub(splat(1.0f), exp_v(polynomial(kFar, at_most(size, splat(4.0f)))));
  const V y = hn::IfThenElse(hn::Lt(size, splat(1.0f)), near, hn::CopySign(far, x));
  return hn::IfThenElse(hn::Eq(x, x), y, x);
}

// erf(x) with an absolute error of 4.5e-7: a rational function instead of an exponential.
HWY_INLINE V erf_fast(V x) {
  constexpr float kP[] = {1.12837899f, 0.191941112f, 0.05296693f, 0.00383688021f, 0.000287457311f, 2.05038577e-06f};
  constexpr float kQ[] = {1.0f, 0.503435135f, 0.114758238f, 0.0151092121f, 0.00118173542f, 3.82307298e-05f};
  return odd_ratio(kP, kQ, 3.9f, x);
}

HWY_INLINE V gelu_v(V x) {
  const V half = hn::Mul(x, splat(0.5f));
  return hn::MulAdd(half, erf_fast(hn::Mul(x, splat(0.707106781f))), half);
}

HWY_INLINE V gelu_tanh_v(V x) {
  const V inner = hn::MulAdd(hn::Mul(hn::Mul(x, x), x), splat(0.044715f), x);
  const V half = hn::Mul(x, splat(0.5f));
  return hn::MulAdd(half, tanh_fast(hn::Mul(inner, splat(0.797884561f))), half);
}

HWY_INLINE V silu_v(V x) { return hn::Mul(x, sigmoid_v(x)); }

HWY_INLINE V hard_swish_v(V x) {
  const V gate = at_most(at_least(hn::MulAdd(x, splat(1.0f / 6), splat(0.5f)), splat(0.0f)), splat(1.0f));
  return hn::Mul(x, gate);
}

HWY_INLINE V softplus_v(V x) {
  const V positive = at_least(x, splat(0.0f));
  return hn::Add(positive, log1p_v(exp_v(hn::Neg(hn::Abs(x)))));
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#endif
