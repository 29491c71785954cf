#include "run/cpu/simd/linear_f32.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/linear_f32.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

static_assert(kLinearLanes % kLanes == 0);

// Few sets: a vector of them for each row.
using Few = hn::CappedTag<float, kFewSets>;

// The sums of `count` rows, `step` apart, for as many sets from the first as D has lanes.
template <int count, class D>
HWY_INLINE void columns(D d, const LinearModel& m, const float* x, int64_t first, float* y, int64_t step) {
  const int64_t padded = (m.sets + kLinearLanes - 1) / kLinearLanes * kLinearLanes;
  hn::Vec<D> sums[count];
  for (auto& sum : sums) sum = hn::LoadU(d, m.intercepts + first);
  const float* weights = m.by_feature + first;
  for (int64_t k = 0; k < m.features; ++k, weights += padded) {
    const auto w = hn::LoadU(d, weights);
    ANYSHAPE_UNROLL
    for (int r = 0; r < count; ++r) sums[r] = hn::MulAdd(hn::Set(d, x[r * m.features + k]), w, sums[r]);
  }
  for (int r = 0; r < count; ++r) {
    if constexpr (std::is_same_v<D, F>)
      store_n(sums[r], y + r * step + first, m.sets - first);
    else
      hn::StoreU(sums[r], d, y + r * step + first);
  }
}

template <class D>
HWY_INLINE void by_columns(D d, const LinearModel& m, const float* x, int64_t rows, float* y, int64_t step) {
  constexpr int kRows = 8;
  const auto lanes = static_cast<int64_t>(hn::MaxLanes(d));
  int64_t r = 0;
  for (; r + kRows <= rows; r += kRows)
    for (int64_t s = 0; s < m.sets; s += lanes) columns<kRows>(d, m, x + r * m.features, s, y + r * step, step);
  for (; r < rows; ++r)
    for (int64_t s = 0; s < m.sets; s += lanes) columns<1>(d, m, x + r * m.features, s, y + r * step, step);
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

template <class D>
HWY_INLINE void sums_of(D d, const LinearModel& m, const float* x, int64_t rows, float* y, int64_t step) {
  // A sum over lanes costs about as much as ten vectors.
  const auto lanes = static_cast<int64_t>(hn::MaxLanes(d));
  const int64_t columns_cost = m.features * ((m.sets + lanes - 1) / lanes);
  if (columns_cost <= m.sets * (m.features / kLanes + 10)) return by_columns(d, m, x, rows, y, step);
  for (int64_t r = 0; r < rows; ++r, x += m.features, y += step)
    for (int64_t s = 0; s < m.sets; ++s) y[s] = m.intercepts[s] + product(x, m.weights + s * m.features, m.features);
}

void linear(const LinearModel& m, const float* x, int64_t rows, float* y) { sums_of(F(), m, x, rows, y, m.sets); }

// Columns of kLanes rows, of which `rows` are stored.
template <int n>
HWY_INLINE void store_rows(const V* v, int64_t rows, float* to) {
  HWY_ALIGN float part[n * kLanes];
  float* whole = rows < kLanes ? part : to;
  if constexpr (n == 1) hn::StoreU(v[0], F(), whole);
  if constexpr (n == 2) hn::StoreInterleaved2(v[0], v[1], F(), whole);
  if constexpr (n == 3) hn::StoreInterleaved3(v[0], v[1], v[2], F(), whole);
  if constexpr (n == 4) hn::StoreInterleaved4(v[0], v[1], v[2], v[3], F(), whole);
  if (rows < kLanes) std::memcpy(to, part, static_cast<size_t>(n * rows) * sizeof(float));
}

// As many of them as kLanes rows have; those past the last are zeros.
template <int n>
HWY_INLINE void load_rows(const float* from, int64_t rows, V* v) {
  HWY_ALIGN float part[n * kLanes] = {};
  if (rows < kLanes) std::memcpy(part, from, static_cast<size_t>(n * rows) * sizeof(float));
  if (rows < kLanes) from = part;
  if constexpr (n == 2) hn::LoadInterleaved2(F(), from, v[0], v[1]);
  if constexpr (n == 3) hn::LoadInterleaved3(F(), from, v[0], v[1], v[2]);
  if constexpr (n == 4) hn::LoadInterleaved4(F(), from, v[0], v[1], v[2], v[3]);
}

// The first of the largest; a NaN is larger than nothing.
template <int sets>
HWY_INLINE hn::Vec<I> place_of_largest(const V* sums) {
  if constexpr (sets == 1)
    return hn::IfThenElseZero(hn::RebindMask(I(), hn::Gt(sums[0], hn::Zero(F()))), hn::Set(I(), 1));
  V top = sums[0];
  hn::Vec<I> found = hn::Zero(I());
  for (int s = 1; s < sets; ++s) {
    const auto larger = hn::Lt(top, sums[s]);
    top = hn::IfThenElse(larger, sums[s], top);
    found = hn::IfThenElse(hn::RebindMask(I(), larger), hn::Set(I(), s), found);
  }
  return found;
}

template <int sets>
HWY_INLINE void softmax_of(V* sums) {
  V top = sums[0], all = hn::Zero(F());
  for (int s = 1; s < sets; ++s) top = hn::Max(top, sums[s]);
  for (int s = 0; s < sets; ++s) {
    sums[s] = exp_below_zero(hn::Sub(sums[s], top));
    all = hn::Add(all, sums[s]);
  }
  const V by = hn::Div(splat(1.0f), all);
  for (int s = 0; s < sets; ++s) sums[s] = hn::Mul(sums[s], by);
}

template <int sets>
HWY_INLINE void put_scores(const FewScores& how, V* sums, int64_t rows, float* to) {
  if constexpr (sets == 1) {
    if (!how.two_of_one) return store_rows<1>(sums, rows, to);
    const V no =
        how.transform == ScoreTransform::logistic ? sigmoid_v(hn::Neg(sums[0])) : hn::Sub(splat(1.0f), sums[0]);
    const V both[] = {no, how.transform == ScoreTransform::logistic ? sigmoid_v(sums[0]) : sums[0]};
    return store_rows<2>(both, rows, to);
  }
  if (how.transform == ScoreTransform::softmax) softmax_of<sets>(sums);
  for (int s = 0; how.transform == ScoreTransform::logistic && s < sets; ++s) sums[s] = sigmoid_v(sums[s]);
  store_rows<sets>(sums, rows, to);
}

template <int sets>
void few_sets(const LinearModel& m, const FewScores& how, const float* x, int64_t rows, float* scores,
              int32_t* largest) {
  for (int64_t r = 0; r < rows; r += kLanes, x += kLanes * m.features) {
    const int64_t count = std::min(kLanes, rows - r);
    HWY_ALIGN float sums[kFewSets * kLanes] = {};
    HWY_ALIGN int32_t places[kLanes];
    sums_of(Few(), m, x, count, sums, kFewSets);
    V v[kFewSets];
    load_rows<kFewSets>(sums, kLanes, v);
    hn::Store(place_of_largest<sets>(v), I(), places);
    if (largest) std::copy_n(places, count, largest + r);
    if (scores) put_scores<sets>(how, v, count, scores + r * (how.two_of_one ? 2 : sets));
  }
}

void linear_few(const LinearModel& m, const FewScores& how, const float* x, int64_t rows, float* scores,
                int32_t* largest) {
  constexpr decltype(&few_sets<1>) kBySets[kFewSets] = {few_sets<1>, few_sets<2>, few_sets<3>, few_sets<4>};
  kBySets[m.sets - 1](m, how, x, rows, scores, largest);
}

HWY_INLINE V similarity(const SupportVectors& m, V sum) {
  using Kind = SupportVectors::Kind;
  if (m.kind == Kind::linear) return sum;
  if (m.kind == Kind::rbf) return exp_v(hn::Mul(splat(-m.gamma), sum));
  const V t = hn::MulAdd(splat(m.gamma), sum, splat(m.coef0));
  if (m.kind == Kind::sigmoid) return tanh_v(t);
  V power = t;
  for (int64_t i = 1; i < m.degree; ++i) power = hn::Mul(power, t);
  return power;
}

// Of kSupportLanes vectors from the first on; `distance`: by squared distances instead of products.
template <bool distance>
HWY_INLINE void nearness(const SupportVectors& m, const float* x, int64_t first, int64_t step, float* near) {
  constexpr int64_t kVectors = kSupportLanes / kLanes;
  V sums[kVectors];
  for (V& sum : sums) sum = hn::Zero(F());
  const float* vectors = m.by_feature + first;
  for (int64_t k = 0; k < m.features; ++k, vectors += step) {
    const V value = splat(x[k]);
    ANYSHAPE_UNROLL
    for (int64_t i = 0; i < kVectors; ++i) {
      const V other = hn::LoadU(F(), vectors + i * kLanes);
      const V apart = hn::Sub(value, other);
      sums[i] = distance ? hn::MulAdd(apart, apart, sums[i]) : hn::MulAdd(value, other, sums[i]);
    }
  }
  for (int64_t i = 0; i < kVectors; ++i) hn::StoreU(similarity(m, sums[i]), F(), near + first + i * kLanes);
}

void near_vectors(const SupportVectors& m, const float* x, float* near) {
  const int64_t step = (m.count + kSupportLanes - 1) / kSupportLanes * kSupportLanes;
  for (int64_t first = 0; first < step; first += kSupportLanes) {
    if (m.kind == SupportVectors::Kind::rbf)
      nearness<true>(m, x, first, step, near);
    else
      nearness<false>(m, x, first, step, near);
  }
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

// Rows of few entries, kLanes of them at a time.
template <int n>
void normalize_few(RowNorm norm, const float* in, int64_t rows, float* out) {
  for (int64_t r = 0; r < rows; r += kLanes) {
    V x[n];
    load_rows<n>(in + r * n, rows - r, x);
    V size = hn::Zero(F());
    for (const V& each : x) size = norm == RowNorm::l2 ? hn::MulAdd(each, each, size) : hn::Add(size, hn::Abs(each));
    if (norm == RowNorm::l2) size = hn::Sqrt(size);
    const V by = hn::IfThenElse(hn::Eq(size, hn::Zero(F())), splat(1.0f), size);
    for (V& each : x) each = hn::Div(each, by);
    store_rows<n>(x, rows - r, out + r * n);
  }
}

float norm_of(RowNorm norm, const float* x, int64_t n) {
  float size = norm == RowNorm::max ? *std::max_element(x, x + n) : 0;
  for (int64_t i = 0; norm == RowNorm::l1 && i < n; ++i) size += std::fabs(x[i]);
  return norm == RowNorm::l2 ? std::sqrt(product(x, x, n)) : size;
}

void normalize(RowNorm norm, const float* in, int64_t rows, int64_t n, float* out) {
  constexpr decltype(&normalize_few<2>) kFew[] = {normalize_few<2>, normalize_few<3>, normalize_few<4>};
  if (n >= 2 && n <= 4 && norm != RowNorm::max) return kFew[n - 2](norm, in, rows, out);
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
HWY_EXPORT(linear_few);
HWY_EXPORT(logistic);
HWY_EXPORT(near_vectors);
HWY_EXPORT(normalize);
HWY_EXPORT(shift_and_scale);

void linear_rows(const LinearModel& model, const float* x, int64_t rows, float* y) {
  HWY_DYNAMIC_DISPATCH(linear)(model, x, rows, y);
}

void linear_scores(const LinearModel& model, const FewScores& how, const float* x, int64_t rows, float* scores,
                   int32_t* largest) {
  HWY_DYNAMIC_DISPATCH(linear_few)(model, how, x, rows, scores, largest);
}

void similarities(const SupportVectors& vectors, const float* x, float* near) {
  HWY_DYNAMIC_DISPATCH(near_vectors)(vectors, x, near);
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
