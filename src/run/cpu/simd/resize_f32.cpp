#include "run/cpu/simd/resize_f32.h"

#include <cstring>

#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/resize_f32.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

// The entries of the row that kLanes places ask for.
HWY_INLINE V entries(const ResizeTable& t, const float* row, const int32_t* from) {
  const auto at = hn::LoadU(I(), from);
  const int32_t first = from[0];
  if (first + kLanes > t.in_order || from[kLanes - 1] - first >= kLanes) return hn::GatherIndex(F(), row, at);
  const auto lanes = hn::IndicesFromVec(F(), hn::Sub(at, hn::Set(I(), first)));
  return hn::TableLookupLanes(hn::LoadU(F(), row + first), lanes);
}

// Weights of kLanes places times their entries. Where a weight is 0, so is the product: the entry may be infinite.
HWY_INLINE V add_tap(const ResizeTable& t, const float* row, int64_t at, V sum) {
  const V weight = hn::LoadU(F(), t.weights + at);
  const V x = hn::IfThenElseZero(hn::Ne(weight, hn::Zero(F())), entries(t, row, t.from + at));
  return hn::MulAdd(weight, x, sum);
}

template <int taps>
HWY_INLINE void mix_row(const ResizeTable& t, const float* row, float* to) {
  int64_t i = 0;
  for (; i + kLanes <= t.out; i += kLanes) {
    V sum = hn::Zero(F());
    for (int64_t k = 0; k < taps; ++k) sum = add_tap(t, row, k * t.out + i, sum);
    hn::StoreU(sum, F(), to + i);
  }
  for (; i < t.out; ++i) {
    float sum = 0;
    for (int64_t k = 0; k < taps; ++k)
      if (const float weight = t.weights[k * t.out + i]; weight != 0) sum += weight * row[t.from[k * t.out + i]];
    to[i] = sum;
  }
}

void resize(const ResizeTable& t, const float* row, float* to) {
  if (t.weights && t.taps == 1) return mix_row<1>(t, row, to);
  if (t.weights) return t.taps == 2 ? mix_row<2>(t, row, to) : mix_row<4>(t, row, to);
  int64_t i = 0;
  for (; i + kLanes <= t.out; i += kLanes) hn::StoreU(entries(t, row, t.from + i), F(), to + i);
  for (; i < t.out; ++i) to[i] = row[t.from[i]];
}

HWY_INLINE void mix_of(const float* const* rows, const float* weights, int64_t count, int64_t n, bool add, float* to) {
  for (int64_t i = 0; i < n; i += kLanes) {
    V sum = add ? load_n(to + i, n - i) : hn::Zero(F());
    for (int64_t k = 0; k < count; ++k) sum = hn::MulAdd(splat(weights[k]), load_n(rows[k] + i, n - i), sum);
    store_n(sum, to + i, n - i);
  }
}

void mix(const float* const* rows, const float* weights, int64_t count, int64_t n, bool add, float* to) {
  if (count == 2) return mix_of(rows, weights, 2, n, add, to);
  mix_of(rows, weights, count, n, add, to);
}

HWY_INLINE void mix_entries(const ResizeTable& t, const float* row, int64_t inner, int64_t place, float* to) {
  const float* from[4];
  float weights[4];
  int64_t used = 0;
  for (int64_t k = 0; k < t.taps; ++k) {
    const int64_t at = k * t.out + place;
    if (t.weights[at] == 0) continue;
    from[used] = row + t.from[at] * inner;
    weights[used++] = t.weights[at];
  }
  mix_of(from, weights, used, inner, false, to);
}

void resize_of(const ResizeTable& t, const float* row, int64_t inner, float* to) {
  for (int64_t place = 0; place < t.out; ++place, to += inner) {
    if (t.weights)
      mix_entries(t, row, inner, place, to);
    else
      std::memcpy(to, row + t.from[place] * inner, static_cast<size_t>(inner) * sizeof(float));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(resize);
HWY_EXPORT(resize_of);
HWY_EXPORT(mix);

void resize_row(const ResizeTable& table, const float* row, float* to) { HWY_DYNAMIC_DISPATCH(resize)(table, row, to); }

void resize_row_of(const ResizeTable& table, const float* row, int64_t inner, float* to) {
  HWY_DYNAMIC_DISPATCH(resize_of)(table, row, inner, to);
}

void mix_rows(const float* const* rows, const float* weights, int64_t count, int64_t n, bool add, float* to) {
  HWY_DYNAMIC_DISPATCH(mix)(rows, weights, count, n, add, to);
}

}  // namespace anyshape::simd
#endif
