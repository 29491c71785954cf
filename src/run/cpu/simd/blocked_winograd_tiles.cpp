#include <algorithm>

#include "run/cpu/simd/blocked_winograd.h"
#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/blocked_winograd_tiles.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {
namespace {

// One axis of F(4x4, 3x3), points 0, 1, -1, 2, -2 and infinity.
struct Four {
  static constexpr int kOut = 4, kPoints = 6;
  static HWY_INLINE void in(V (&d)[6]) {
    const V four = splat(4.0f), five = splat(5.0f);
    const V even = hn::NegMulAdd(four, d[2], d[4]), odd = hn::NegMulAdd(four, d[1], d[3]);
    const V far_even = hn::Sub(d[4], d[2]), step = hn::Sub(d[3], d[1]), far_odd = hn::Add(step, step);
    d[0] = hn::MulAdd(four, d[0], hn::NegMulAdd(five, d[2], d[4]));
    d[5] = hn::MulAdd(four, d[1], hn::NegMulAdd(five, d[3], d[5]));
    d[1] = hn::Add(even, odd);
    d[2] = hn::Sub(even, odd);
    d[3] = hn::Add(far_even, far_odd);
    d[4] = hn::Sub(far_even, far_odd);
  }
  static HWY_INLINE void out(V (&m)[6]) {
    const V sum = hn::Add(m[1], m[2]), difference = hn::Sub(m[1], m[2]);
    const V far_sum = hn::Add(m[3], m[4]), far_difference = hn::Sub(m[3], m[4]);
    m[0] = hn::Add(m[0], hn::Add(sum, far_sum));
    m[1] = hn::MulAdd(splat(2.0f), far_difference, difference);
    m[2] = hn::MulAdd(splat(4.0f), far_sum, sum);
    m[3] = hn::Add(hn::MulAdd(splat(8.0f), far_difference, difference), m[5]);
  }
};

// One axis of F(2x2, 3x3), points 0, 1, -1 and infinity.
struct Two {
  static constexpr int kOut = 2, kPoints = 4;
  static HWY_INLINE void in(V (&d)[4]) {
    const V second = d[1];
    d[0] = hn::Sub(d[0], d[2]);
    d[1] = hn::Add(second, d[2]);
    d[2] = hn::Sub(d[2], second);
    d[3] = hn::Sub(second, d[3]);
  }
  static HWY_INLINE void out(V (&m)[4]) {
    m[0] = hn::Add(m[0], hn::Add(m[1], m[2]));
    m[1] = hn::Sub(hn::Sub(m[1], m[2]), m[3]);
  }
};

// The part of a tile's window that is inside the input.
struct Inside {
  int64_t y0, y1, x0, x1;
  HWY_INLINE Inside(const WinogradIn& t, int64_t n) {
    y0 = std::clamp<int64_t>(-t.y, 0, n), y1 = std::clamp<int64_t>(t.height - t.y, y0, n);
    x0 = std::clamp<int64_t>(-t.x, 0, n), x1 = std::clamp<int64_t>(t.width - t.x, x0, n);
  }
};

template <class X>
void tile_in(const WinogradIn& t) {
  constexpr int N = X::kPoints;
  HWY_ALIGN float window[N * N * kLanes], half[N * N * kLanes];
  const Inside k(t, N);
  const bool whole = (k.y1 - k.y0) * (k.x1 - k.x0) == N * N;
  if (!whole) std::fill_n(window, N * N * kLanes, 0.0f);
  for (int64_t b = 0; b < t.blocks; ++b) {
    const float* from = t.in + b * t.height * t.width * kLanes;
    int64_t row = t.width * kLanes;
    if (whole) {
      from += t.y * row + t.x * kLanes;
    } else {
      for (int64_t y = k.y0; y < k.y1; ++y)
        for (int64_t x = k.x0; x < k.x1; ++x)
          hn::Store(hn::LoadU(F(), from + (t.y + y) * row + (t.x + x) * kLanes), F(), window + (y * N + x) * kLanes);
      from = window;
      row = N * kLanes;
    }
    V d[N];
    ANYSHAPE_UNROLL
    for (int x = 0; x < N; ++x) {
      ANYSHAPE_UNROLL
      for (int y = 0; y < N; ++y) d[y] = hn::LoadU(F(), from + y * row + x * kLanes);
      X::in(d);
      ANYSHAPE_UNROLL
      for (int y = 0; y < N; ++y) hn::Store(d[y], F(), half + (y * N + x) * kLanes);
    }
    float* to = t.out + b * kLanes;
    ANYSHAPE_UNROLL
    for (int y = 0; y < N; ++y) {
      ANYSHAPE_UNROLL
      for (int x = 0; x < N; ++x) d[x] = hn::Load(F(), half + (y * N + x) * kLanes);
      X::in(d);
      ANYSHAPE_UNROLL
      for (int x = 0; x < N; ++x) hn::StoreU(d[x], F(), to + (y * N + x) * t.point_step);
    }
  }
}

template <class X>
void tile_out(const WinogradOut& t) {
  constexpr int N = X::kPoints, M = X::kOut;
  HWY_ALIGN float half[M * N * kLanes];
  V m[N];
  ANYSHAPE_UNROLL
  for (int x = 0; x < N; ++x) {
    ANYSHAPE_UNROLL
    for (int y = 0; y < N; ++y) m[y] = hn::LoadU(F(), t.in + (y * N + x) * t.point_step);
    X::out(m);
    ANYSHAPE_UNROLL
    for (int y = 0; y < M; ++y) hn::Store(m[y], F(), half + (y * N + x) * kLanes);
  }
  const V bias = t.biases > 0 ? load_n(t.bias, t.biases) : hn::Zero(F());
  const V low = splat(t.low), high = splat(t.high);
  for (int64_t y = 0; y < t.rows; ++y) {
    ANYSHAPE_UNROLL
    for (int x = 0; x < N; ++x) m[x] = hn::Load(F(), half + (y * N + x) * kLanes);
    X::out(m);
    const int64_t row = y * t.row_step;
    ANYSHAPE_UNROLL
    for (int x = 0; x < M; ++x) {
      if (x >= t.columns) break;
      V sum = hn::Add(m[x], bias);
      if (t.residual) sum = hn::Add(sum, hn::LoadU(F(), t.residual + row + x * kLanes));
      hn::StoreU(at_most(at_least(sum, low), high), F(), t.out + row + x * kLanes);
    }
  }
}

void window_in(int64_t tile, const WinogradIn& t) { tile == 4 ? tile_in<Four>(t) : tile_in<Two>(t); }
void window_out(int64_t tile, const WinogradOut& t) { tile == 4 ? tile_out<Four>(t) : tile_out<Two>(t); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(window_in);
HWY_EXPORT(window_out);

void winograd_in(int64_t tile, const WinogradIn& t) { HWY_DYNAMIC_DISPATCH(window_in)(tile, t); }
void winograd_out(int64_t tile, const WinogradOut& t) { HWY_DYNAMIC_DISPATCH(window_out)(tile, t); }

}  // namespace anyshape::simd
#endif
