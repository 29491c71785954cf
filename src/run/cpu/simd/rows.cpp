#include "run/cpu/simd/rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/rows.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

HWY_INLINE float total(V v) { return hn::GetLane(hn::SumOfLanes(F(), v)); }

HWY_INLINE V max_nan(V a, V b) { return hn::IfThenElse(hn::Eq(a, a), at_least(b, a), a); }
HWY_INLINE V min_nan(V a, V b) { return hn::IfThenElse(hn::Eq(a, a), at_most(b, a), a); }

template <class Join>
HWY_INLINE float joined(V v, Join join) {
  HWY_ALIGN float lanes[kLanes];
  hn::Store(v, F(), lanes);
  V all = splat(lanes[0]);
  for (int64_t i = 1; i < kLanes; ++i) all = join(all, splat(lanes[i]));
  return hn::GetLane(all);
}

// The first n entries of v, `rest` in the other lanes.
HWY_INLINE V only(V v, int64_t n, V rest) {
  return n >= kLanes ? v : hn::IfThenElse(hn::FirstN(F(), static_cast<size_t>(n)), v, rest);
}

// join over map(x) of n entries, four sums at a time.
template <class Map, class Join>
HWY_INLINE V fold(const float* x, int64_t n, V start, Map map, Join join) {
  V s0 = start, s1 = start, s2 = start, s3 = start;
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    s0 = join(s0, map(hn::LoadU(F(), x + i)));
    s1 = join(s1, map(hn::LoadU(F(), x + i + kLanes)));
    s2 = join(s2, map(hn::LoadU(F(), x + i + 2 * kLanes)));
    s3 = join(s3, map(hn::LoadU(F(), x + i + 3 * kLanes)));
  }
  for (; i < n; i += kLanes) s0 = join(s0, only(map(load_n(x + i, n - i)), n - i, start));
  return join(join(s0, s1), join(s2, s3));
}

float largest(const float* x, int64_t n) {
  const auto join = [](V a, V b) HWY_ATTR { return max_nan(a, b); };
  const V start = splat(-std::numeric_limits<float>::infinity());
  return joined(fold(
                    x, n, start, [](V v) HWY_ATTR { return v; }, join),
                join);
}

float smallest(const float* x, int64_t n) {
  const auto join = [](V a, V b) HWY_ATTR { return min_nan(a, b); };
  const V start = splat(std::numeric_limits<float>::infinity());
  return joined(fold(
                    x, n, start, [](V v) HWY_ATTR { return v; }, join),
                join);
}

template <class Map>
HWY_INLINE float sum_of(const float* x, int64_t n, Map map) {
  return total(fold(x, n, hn::Zero(F()), map, [](V a, V b) HWY_ATTR { return hn::Add(a, b); }));
}

template <class Map>
HWY_INLINE void map_row(const float* in, float* out, int64_t n, Map map) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(map(hn::LoadU(F(), in + i), i), F(), out + i);
  if (i < n) store_part(map(load_part(in + i, n - i), i), out + i, n - i);
}

// The largest of n entries in every lane; any number where one is NaN. REQUIRES: n > 0.
HWY_INLINE V top_of(const float* x, int64_t n) {
  if (n < kLanes) {
    const V low = splat(-std::numeric_limits<float>::infinity());
    return hn::MaxOfLanes(F(), only(load_part(x, n), n, low));
  }
  V a = hn::LoadU(F(), x), b = hn::LoadU(F(), x + n - kLanes);
  int64_t i = kLanes;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    a = hn::Max(a, hn::LoadU(F(), x + i));
    b = hn::Max(b, hn::LoadU(F(), x + i + kLanes));
  }
  if (i + kLanes <= n) a = hn::Max(a, hn::LoadU(F(), x + i));
  return hn::MaxOfLanes(F(), hn::Max(a, b));
}

// A NaN needs no care: its own term makes the sum NaN, whatever the largest entry is found to be.
void softmax_row(const float* in, float* out, int64_t n) {
  const V top = top_of(in, n);
  V sum = hn::Zero(F());
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const V e = exp_below_zero(hn::Sub(hn::LoadU(F(), in + i), top));
    sum = hn::Add(sum, e);
    hn::StoreU(e, F(), out + i);
  }
  if (i < n) {
    const V e = only(exp_below_zero(hn::Sub(load_part(in + i, n - i), top)), n - i, hn::Zero(F()));
    sum = hn::Add(sum, e);
    store_part(e, out + i, n - i);
  }
  const V by = hn::Div(splat(1.0f), hn::SumOfLanes(F(), sum));
  for (i = 0; i + kLanes <= n; i += kLanes) hn::StoreU(hn::Mul(hn::LoadU(F(), out + i), by), F(), out + i);
  if (i < n) store_part(hn::Mul(load_part(out + i, n - i), by), out + i, n - i);
}

void log_softmax_row(const float* in, float* out, int64_t n) {
  const V top = top_of(in, n);
  const float sum = sum_of(in, n, [top](V x) HWY_ATTR { return exp_below_zero(hn::Sub(x, top)); });
  const V log_sum = splat(std::log(sum));
  map_row(in, out, n, [=](V x, int64_t) HWY_ATTR { return hn::Sub(hn::Sub(x, top), log_sum); });
}

void softmax(const float* in, float* out, int64_t first, int64_t last, int64_t n, bool logarithm) {
  if (n == 0) return;
  for (int64_t r = first; r < last; ++r) {
    if (logarithm)
      log_softmax_row(in + r * n, out + r * n, n);
    else
      softmax_row(in + r * n, out + r * n, n);
  }
}

// One column in each lane, `left` of them. A NaN needs no care, as above.
HWY_INLINE void softmax_lanes(const float* in, float* out, int64_t n, int64_t inner, int64_t left, bool logarithm) {
  V top = load_n(in, left), sum = hn::Zero(F());
  for (int64_t i = 1; i < n; ++i) top = hn::Max(top, load_n(in + i * inner, left));
  for (int64_t i = 0; i < n; ++i) {
    const V x = hn::Sub(load_n(in + i * inner, left), top), e = exp_below_zero(x);
    sum = hn::Add(sum, e);
    store_n(logarithm ? x : e, out + i * inner, left);
  }
  HWY_ALIGN float logs[kLanes];
  hn::Store(sum, F(), logs);
  for (int64_t k = 0; logarithm && k < kLanes; ++k) logs[k] = std::log(logs[k]);
  const V by = logarithm ? hn::Load(F(), logs) : hn::Div(splat(1.0f), sum);
  for (int64_t i = 0; i < n; ++i) {
    const V x = load_n(out + i * inner, left);
    store_n(logarithm ? hn::Sub(x, by) : hn::Mul(x, by), out + i * inner, left);
  }
}

void softmax_middle(const float* in, float* out, int64_t first, int64_t last, int64_t n, int64_t inner,
                    bool logarithm) {
  for (int64_t r = first; n > 0 && r < last; ++r)
    for (int64_t j = 0; j < inner; j += kLanes)
      softmax_lanes(in + r * n * inner + j, out + r * n * inner + j, n, inner, inner - j, logarithm);
}

HWY_INLINE V parameter(const float* data, int64_t step, int64_t i, int64_t n) {
  return step ? load_n(data + i, n) : splat(*data);
}

void layer_norm(const LayerNorm& x, int64_t first, int64_t last) {
  const float count = static_cast<float>(x.n);
  for (int64_t r = first; r < last; ++r) {
    const float* in = x.in + r * x.n;
    const float mean = x.subtract_mean ? sum_of(in, x.n, [](V v) HWY_ATTR { return v; }) / count : 0.0f;
    const V middle = splat(mean);
    const float squares = sum_of(in, x.n, [middle](V v) HWY_ATTR {
      const V d = hn::Sub(v, middle);
      return hn::Mul(d, d);
    });
    const float inverse = 1 / std::sqrt(squares / count + x.epsilon);
    const V by = splat(inverse);
    map_row(in, x.out + r * x.n, x.n, [&, middle, by](V v, int64_t i) HWY_ATTR {
      V y = hn::Mul(hn::Sub(v, middle), by);
      if (x.scale) y = hn::Mul(y, parameter(x.scale, x.scale_step, i, x.n - i));
      return x.bias ? hn::Add(y, parameter(x.bias, x.bias_step, i, x.n - i)) : y;
    });
    if (x.mean) x.mean[r] = mean;
    if (x.deviation) x.deviation[r] = inverse;
  }
}

template <class Map>
HWY_INLINE double long_mean(const float* x, int64_t n, Map map) {
  double sum = 0;
  for (int64_t i = 0; i < n; i += kNormRun) sum += static_cast<double>(sum_of(x + i, std::min(n - i, kNormRun), map));
  return sum / static_cast<double>(n);
}

void channel_norm(const ChannelNorm& x, int64_t first, int64_t last) {
  for (int64_t r = first; r < last; ++r) {
    const float* in = x.in + r * x.n;
    const V middle = splat(static_cast<float>(long_mean(in, x.n, [](V v) HWY_ATTR { return v; })));
    const double variance = long_mean(in, x.n, [middle](V v) HWY_ATTR {
      const V d = hn::Sub(v, middle);
      return hn::Mul(d, d);
    });
    const V by = splat(static_cast<float>(1 / std::sqrt(variance + static_cast<double>(x.epsilon))));
    for (int64_t e = 0; e < x.n;) {
      const int64_t at = r * x.n + e, piece = std::min(x.n - e, x.repeat - at % x.repeat);
      const int64_t channel = at / x.repeat % x.count;
      const V scale = splat(x.scale[channel]), bias = splat(x.bias[channel]);
      map_row(in + e, x.out + at, piece,
              [=](V v, int64_t) HWY_ATTR { return hn::Add(hn::Mul(hn::Mul(hn::Sub(v, middle), by), scale), bias); });
      e += piece;
    }
  }
}

float reduced(Reduction reduction, const float* in, int64_t n) {
  switch (reduction) {
    case Reduction::max:
      return largest(in, n);
    case Reduction::min:
      return smallest(in, n);
    case Reduction::sum_square:
    case Reduction::l2:
      return sum_of(in, n, [](V v) HWY_ATTR { return hn::Mul(v, v); });
    case Reduction::l1:
      return sum_of(in, n, [](V v) HWY_ATTR { return hn::Abs(v); });
    default:
      return sum_of(in, n, [](V v) HWY_ATTR { return v; });
  }
}

HWY_INLINE V finished(Reduction reduction, V x, int64_t n) {
  if (reduction == Reduction::l2) return hn::Sqrt(x);
  if (reduction == Reduction::log_sum) return log_v(x);
  return reduction == Reduction::mean && n > 0 ? hn::Div(x, splat(static_cast<float>(n))) : x;
}

float start_of(Reduction reduction) {
  const float infinity = std::numeric_limits<float>::infinity();
  return reduction == Reduction::max ? -infinity : reduction == Reduction::min ? infinity : 0.0f;
}

// Columns of n entries that are `inner` apart, a vector of columns and four entries at a time.
template <class Map, class Join>
HWY_INLINE void join_columns(Reduction reduction, const float* in, float* out, int64_t n, int64_t inner, Map map,
                             Join join) {
  for (int64_t j = 0; j < inner; j += kLanes) {
    const auto entry = [=](int64_t i) HWY_ATTR { return map(load_n(in + i * inner + j, inner - j)); };
    V sums[4] = {splat(start_of(reduction)), splat(start_of(reduction)), splat(start_of(reduction)),
                 splat(start_of(reduction))};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
      ANYSHAPE_UNROLL
      for (int k = 0; k < 4; ++k) sums[k] = join(sums[k], entry(i + k));
    }
    for (; i < n; ++i) sums[0] = join(sums[0], entry(i));
    const V sum = join(join(sums[0], sums[1]), join(sums[2], sums[3]));
    store_n(finished(reduction, sum, n), out + j, inner - j);
  }
}

void reduce_columns(Reduction reduction, const float* in, float* out, int64_t n, int64_t inner) {
  const auto same = [](V x) HWY_ATTR { return x; };
  const auto add = [](V a, V b) HWY_ATTR { return hn::Add(a, b); };
  switch (reduction) {
    case Reduction::max:
      return join_columns(reduction, in, out, n, inner, same, [](V a, V b) HWY_ATTR { return max_nan(a, b); });
    case Reduction::min:
      return join_columns(reduction, in, out, n, inner, same, [](V a, V b) HWY_ATTR { return min_nan(a, b); });
    case Reduction::sum_square:
    case Reduction::l2:
      return join_columns(
          reduction, in, out, n, inner, [](V x) HWY_ATTR { return hn::Mul(x, x); }, add);
    case Reduction::l1:
      return join_columns(
          reduction, in, out, n, inner, [](V x) HWY_ATTR { return hn::Abs(x); }, add);
    default:
      return join_columns(reduction, in, out, n, inner, same, add);
  }
}

// What exponents are taken relative to: the largest entry where that is a number.
HWY_INLINE V base_of(V top) { return hn::IfThenElseZero(hn::Lt(hn::Abs(top), splat(kInfinity)), top); }

float log_sum_exp_row(const float* in, int64_t n) {
  const V base = base_of(splat(largest(in, n)));
  const float sum = sum_of(in, n, [base](V x) HWY_ATTR { return exp_v(hn::Sub(x, base)); });
  return hn::GetLane(hn::Add(log_v(splat(sum)), base));
}

void log_sum_exp_columns(const float* in, float* out, int64_t n, int64_t inner) {
  for (int64_t j = 0; j < inner; j += kLanes) {
    const int64_t left = inner - j;
    V top = splat(-kInfinity), sum = hn::Zero(F());
    for (int64_t i = 0; i < n; ++i) top = max_nan(top, load_n(in + i * inner + j, left));
    const V base = base_of(top);
    for (int64_t i = 0; i < n; ++i) sum = hn::Add(sum, exp_v(hn::Sub(load_n(in + i * inner + j, left), base)));
    store_n(hn::Add(log_v(sum), base), out + j, left);
  }
}

void log_sum_exp(const float* in, float* out, int64_t n, int64_t inner) {
  if (inner == 1)
    *out = log_sum_exp_row(in, n);
  else
    log_sum_exp_columns(in, out, n, inner);
}

void reduce(Reduction reduction, const float* in, float* out, int64_t first, int64_t last, int64_t n, int64_t inner) {
  for (int64_t r = first; r < last; ++r) {
    if (reduction == Reduction::log_sum_exp)
      log_sum_exp(in + r * n * inner, out + r * inner, n, inner);
    else if (inner == 1)
      out[r] = hn::GetLane(finished(reduction, splat(reduced(reduction, in + r * n, n)), n));
    else
      reduce_columns(reduction, in + r * n * inner, out + r * inner, n, inner);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(softmax);
HWY_EXPORT(softmax_middle);
HWY_EXPORT(layer_norm);
HWY_EXPORT(channel_norm);
HWY_EXPORT(reduce);

void softmax_rows(const float* in, float* out, int64_t first, int64_t last, int64_t n, bool logarithm) {
  HWY_DYNAMIC_DISPATCH(softmax)(in, out, first, last, n, logarithm);
}

void softmax_columns(const float* in, float* out, int64_t first, int64_t last, int64_t n, int64_t inner,
                     bool logarithm) {
  HWY_DYNAMIC_DISPATCH(softmax_middle)(in, out, first, last, n, inner, logarithm);
}

void layer_norm_rows(const LayerNorm& norm, int64_t first, int64_t last) {
  HWY_DYNAMIC_DISPATCH(layer_norm)(norm, first, last);
}

void channel_norm_rows(const ChannelNorm& norm, int64_t first, int64_t last) {
  HWY_DYNAMIC_DISPATCH(channel_norm)(norm, first, last);
}

void reduce_rows(Reduction reduction, const float* in, float* out, int64_t first, int64_t last, int64_t n,
                 int64_t inner) {
  HWY_DYNAMIC_DISPATCH(reduce)(reduction, in, out, first, last, n, inner);
}

}  // namespace anyshape::simd
#endif
