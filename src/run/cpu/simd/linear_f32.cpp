#include "run/cpu/simd/linear_f32.h"

#include <algorithm>
#include <cmath>

#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/linear_f32.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

static_assert(kLinearLanes % kLanes == 0);

// Sets first..first + kLanes - 1 of `count` rows.
template <int count>
HWY_INLINE void columns(const LinearModel& m, const float* x, int64_t first, float* y) {
  const int64_t step = (m.sets + kLinearLanes - 1) / kLinearLanes * kLinearLanes;
  V sums[count];
  for (V& sum : sums) sum = hn::LoadU(F(), m.intercepts + first);
  const float* weights = m.by_feature + first;
  for (int64_t k = 0; k < m.features; ++k, weights += step) {
    const V w = hn::LoadU(F(), weights);
    ANYSHAPE_UNROLL
    for (int r = 0; r < count; ++r) sums[r] = hn::MulAdd(splat(x[r * m.features + k]), w, sums[r]);
  }
  const int64_t sets = std::min(kLanes, m.sets - first);
  for (int r = 0; r < count; ++r) store_n(sums[r], y + r * m.sets + first, sets);
}

void by_columns(const LinearModel& m, const float* x, int64_t rows, float* y) {
  constexpr int kRows = 8;
  int64_t r = 0;
  for (; r + kRows <= rows; r += kRows)
    for (int64_t s = 0; s < m.sets; s += kLanes) columns<kRows>(m, x + r * m.features, s, y + r * m.sets);
  for (; r < rows; ++r)
    for (int64_t s = 0; s < m.sets; s += kLanes) columns<1>(m, x + r * m.features, s, y + r * m.sets);
}

HWY_INLINE float product(const float* a, const float* b, int64_t n) {
  V s0 = hn::Zero(F()), s1 = s0;
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    s0 = hn::MulAdd(hn::LoadU(F(), a + i), hn::LoadU(F(), b + i), s0);
    s1 = hn::MulAdd(hn::LoadU(F(), a + i + kLanes), hn::LoadU(F(), b + i + kLanes), s1);
  }
  for (; i < n; i += kLanes) s0 = hn::MulAdd(load_n(a + i, n - i), load_n(b + i, n - i), s0);
  return hn::GetLane(hn::SumOfLanes(F(), hn::Add(s0, s1)));
}

void linear(const LinearModel& m, const float* x, int64_t rows, float* y) {
  // A sum over lanes costs about as much as ten vectors.
  const int64_t columns_cost = m.features * ((m.sets + kLanes - 1) / kLanes);
  if (columns_cost <= m.sets * (m.features / kLanes + 10)) return by_columns(m, x, rows, y);
  for (int64_t r = 0; r < rows; ++r, x += m.features)
    for (int64_t s = 0; s < m.sets; ++s) *y++ = m.intercepts[s] + product(x, m.weights + s * m.features, m.features);
}

void logistic(const float* in, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += kLanes) store_n(sigmoid_v(load_n(in + i, n - i)), out + i, n - i);
}

void shift_and_scale(const float* x, int64_t rows, int64_t n, const float* offset, const float* scale, int64_t step,
                     float* out) {
  if (step == 0) n *= rows, rows = 1;
  for (int64_t r = 0; r < rows; ++r, x += n, out += n)
    for (int64_t i = 0; i < n; i += kLanes) {
      const V o = step ? load_n(offset + i, n - i) : splat(*offset),
              s = step ? load_n(scale + i, n - i) : splat(*scale);
      store_n(hn::Mul(hn::Sub(load_n(x + i, n - i), o), s), out + i, n - i);
    }
}

#if HWY_TARGET != HWY_SCALAR
// Pairs, as two classes have them: the norm of each beside it.
HWY_INLINE V norms_of_pairs(RowNorm norm, V x) {
  if (norm == RowNorm::l2) x = hn::Mul(x, x);
  if (norm == RowNorm::l1) x = hn::Abs(x);
  const V sum = hn::Add(x, hn::Shuffle2301(x));
  return norm == RowNorm::l2 ? hn::Sqrt(sum) : sum;
}

void pairs(RowNorm norm, const float* in, int64_t n, float* out) {
  const V zero = hn::Zero(F());
  for (int64_t i = 0; i < n; i += kLanes) {
    const V x = load_n(in + i, n - i), size = norms_of_pairs(norm, x);
    store_n(hn::IfThenElse(hn::Eq(size, zero), x, hn::Div(x, size)), out + i, n - i);
  }
}

#endif

float norm_of(RowNorm norm, const float* x, int64_t n) {
  float size = norm == RowNorm::max ? *std::max_element(x, x + n) : 0;
  for (int64_t i = 0; norm == RowNorm::l1 && i < n; ++i) size += std::fabs(x[i]);
  return norm == RowNorm::l2 ? std::sqrt(product(x, x, n)) : size;
}

void normalize(RowNorm norm, const float* in, int64_t rows, int64_t n, float* out) {
#if HWY_TARGET != HWY_SCALAR
  if (n == 2 && norm != RowNorm::max) return pairs(norm, in, 2 * rows, out);
#endif
  for (int64_t r = 0; r < rows && n > 0; ++r, in += n, out += n) {
    const float size = norm_of(norm, in, n);
    const V by = splat(size == 0 ? 1.0f : size);
    for (int64_t i = 0; i < n; i += kLanes) store_n(hn::Div(load_n(in + i, n - i), by), out + i, n - i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(linear);
HWY_EXPORT(logistic);
HWY_EXPORT(normalize);
HWY_EXPORT(shift_and_scale);

void linear_rows(const LinearModel& model, const float* x, int64_t rows, float* y) {
  HWY_DYNAMIC_DISPATCH(linear)(model, x, rows, y);
}

void logistic_row(const float* in, int64_t n, float* out) { HWY_DYNAMIC_DISPATCH(logistic)(in, n, out); }

void shift_and_scale_rows(const float* x, int64_t rows, int64_t n, const float* offset, const float* scale,
                          int64_t step, float* out) {
  HWY_DYNAMIC_DISPATCH(shift_and_scale)(x, rows, n, offset, scale, step, out);
}

void normalize_rows(RowNorm norm, const float* in, int64_t rows, int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(normalize)(norm, in, rows, n, out);
}

}  // namespace anyshape::simd
#endif
