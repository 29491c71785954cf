#include "fma_peak.h"

#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fma_peak.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "run/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

double multiply_add(int rounds) {
  constexpr int kSums = 12;
  V sums[kSums];
  ANYSHAPE_UNROLL
  for (int i = 0; i < kSums; ++i) sums[i] = splat(static_cast<float>(i));
  const V x = splat(0.999f), y = splat(1e-3f);
  for (int n = 0; n < rounds; ++n) {
    ANYSHAPE_UNROLL
    for (int i = 0; i < kSums; ++i) sums[i] = hn::MulAdd(sums[i], x, y);
  }
  V all = sums[0];
  ANYSHAPE_UNROLL
  for (int i = 1; i < kSums; ++i) all = hn::Add(all, sums[i]);
  volatile float sink = hn::GetLane(all);
  (void)sink;
  return 2.0 * kSums * kLanes * rounds;
}

float add_up(const float* data, int64_t count) {
  constexpr int kSums = 8;
  V sums[kSums];
  ANYSHAPE_UNROLL
  for (int i = 0; i < kSums; ++i) sums[i] = splat(0);
  for (int64_t at = 0; at + kSums * kLanes <= count; at += kSums * kLanes) {
    ANYSHAPE_UNROLL
    for (int i = 0; i < kSums; ++i) sums[i] = hn::Add(sums[i], hn::LoadU(F(), data + at + i * kLanes));
  }
  V all = sums[0];
  ANYSHAPE_UNROLL
  for (int i = 1; i < kSums; ++i) all = hn::Add(all, sums[i]);
  volatile float sink = hn::GetLane(all);
  return sink;
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {
HWY_EXPORT(multiply_add);
HWY_EXPORT(add_up);
}  // namespace anyshape::simd
namespace anyshape::bench {
double multiply_add(int rounds) {
  using namespace simd;
  return HWY_DYNAMIC_DISPATCH(multiply_add)(rounds);
}

float add_up(const float* data, int64_t count) {
  using namespace simd;
  return HWY_DYNAMIC_DISPATCH(add_up)(data, count);
}
}  // namespace anyshape::bench
#endif
