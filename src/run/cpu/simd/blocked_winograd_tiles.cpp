#include <cstring>
#include <utility>

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

// Weights are transformed in double.
using D = hn::ScalableTag<double>;
using VD = hn::Vec<D>;
using OfDouble = hn::Rebind<float, D>;
constexpr int64_t kDoubles = HWY_LANES(double);

// One axis of F(4x4, 3x3), points 0, 1, -1, 2, -2 and infinity. What `at` gives is the number at that place, or at that
// point, of the axis; pairs are those results that have most in common.
struct Four {
  static constexpr int kOut = 4, kPoints = 6, kTaps = 3;
  static constexpr int kInPairs[3][2] = {{1, 2}, {3, 4}, {0, 5}}, kOutPairs[2][2] = {{0, 2}, {1, 3}};

  template <int P, class At>
  static HWY_INLINE void in_pair(At at, V& first, V& second) {
    if constexpr (P == 0) {
      const V even = hn::NegMulAdd(splat(4.0f), at(2), at(4)), odd = hn::NegMulAdd(splat(4.0f), at(1), at(3));
      first = hn::Add(even, odd);
      second = hn::Sub(even, odd);
    } else if constexpr (P == 1) {
      const V even = hn::Sub(at(4), at(2)), step = hn::Sub(at(3), at(1)), odd = hn::Add(step, step);
      first = hn::Add(even, odd);
      second = hn::Sub(even, odd);
    } else {
      first = hn::MulAdd(splat(4.0f), at(0), hn::NegMulAdd(splat(5.0f), at(2), at(4)));
      second = hn::MulAdd(splat(4.0f), at(1), hn::NegMulAdd(splat(5.0f), at(3), at(5)));
    }
  }
  static HWY_INLINE void filter(const VD (&g)[3], VD (&u)[6]) {
    const VD a = g[0], b = g[1], c = g[2];
    const VD even = hn::Add(a, c), far_even = hn::MulAdd(hn::Set(D(), 4.0), c, a), far_odd = hn::Add(b, b);
    const VD sixth = hn::Set(D(), -1.0 / 6), far = hn::Set(D(), 1.0 / 24);
    u[0] = hn::Mul(hn::Set(D(), 0.25), a);
    u[1] = hn::Mul(sixth, hn::Add(even, b));
    u[2] = hn::Mul(sixth, hn::Sub(even, b));
    u[3] = hn::Mul(far, hn::Add(far_even, far_odd));
    u[4] = hn::Mul(far, hn::Sub(far_even, far_odd));
    u[5] = c;
  }
  template <int P, class At>
  static HWY_INLINE void out_pair(At at, V& first, V& second) {
    if constexpr (P == 0) {
      const V sum = hn::Add(at(1), at(2)), far_sum = hn::Add(at(3), at(4));
      first = hn::Add(at(0), hn::Add(sum, far_sum));
      second = hn::MulAdd(splat(4.0f), far_sum, sum);
    } else {
      const V difference = hn::Sub(at(1), at(2)), far_difference = hn::Sub(at(3), at(4));
      first = hn::MulAdd(splat(2.0f), far_difference, difference);
      second = hn::Add(hn::MulAdd(splat(8.0f), far_difference, difference), at(5));
    }
  }
};

// One axis of F(3x3, 4x4), which has the points of F(4x4, 3x3).
struct Three : Four {
  static constexpr int kOut = 3, kTaps = 4;

  static HWY_INLINE void filter(const VD (&g)[4], VD (&u)[6]) {
    const VD even = hn::Add(g[0], g[2]), odd = hn::Add(g[1], g[3]);
    const VD far_even = hn::MulAdd(hn::Set(D(), 4.0), g[2], g[0]);
    const VD far_odd = hn::Mul(hn::Set(D(), 2.0), hn::MulAdd(hn::Set(D(), 4.0), g[3], g[1]));
    const VD sixth = hn::Set(D(), -1.0 / 6), far = hn::Set(D(), 1.0 / 24);
    u[0] = hn::Mul(hn::Set(D(), 0.25), g[0]);
    u[1] = hn::Mul(sixth, hn::Add(even, odd));
    u[2] = hn::Mul(sixth, hn::Sub(even, odd));
    u[3] = hn::Mul(far, hn::Add(far_even, far_odd));
    u[4] = hn::Mul(far, hn::Sub(far_even, far_odd));
    u[5] = g[3];
  }
  template <int P, class At>
  static HWY_INLINE void out_pair(At at, V& first, V& second) {
    Four::out_pair<P>(at, first, second);
    if constexpr (P == 0) second = hn::Add(second, at(5));
  }
};

// One axis of F(2x2, 3x3), points 0, 1, -1 and infinity.
struct Two {
  static constexpr int kOut = 2, kPoints = 4, kTaps = 3;
  static constexpr int kInPairs[2][2] = {{1, 2}, {0, 3}}, kOutPairs[1][2] = {{0, 1}};

  template <int P, class At>
  static HWY_INLINE void in_pair(At at, V& first, V& second) {
    if constexpr (P == 0) {
      first = hn::Add(at(1), at(2));
      second = hn::Sub(at(2), at(1));
    } else {
      first = hn::Sub(at(0), at(2));
      second = hn::Sub(at(1), at(3));
    }
  }
  static HWY_INLINE void filter(const VD (&g)[3], VD (&u)[4]) {
    const VD half = hn::Set(D(), 0.5), even = hn::Add(g[0], g[2]);
    u[0] = g[0];
    u[1] = hn::Mul(half, hn::Add(even, g[1]));
    u[2] = hn::Mul(half, hn::Sub(even, g[1]));
    u[3] = g[2];
  }
  template <int P, class At>
  static HWY_INLINE void out_pair(At at, V& first, V& second) {
    first = hn::Add(at(0), hn::Add(at(1), at(2)));
    second = hn::Sub(hn::Sub(at(1), at(2)), at(3));
  }
};

// All points of an axis, one place after the other.
template <class X, int... P>
HWY_INLINE void in_all(V (&d)[X::kPoints], std::integer_sequence<int, P...>) {
  V points[X::kPoints];
  (X::template in_pair<P>([&](int i) { return d[i]; }, points[X::kInPairs[P][0]], points[X::kInPairs[P][1]]), ...);
  ANYSHAPE_UNROLL
  for (int i = 0; i < X::kPoints; ++i) d[i] = points[i];
}
template <class X, int... P>
HWY_INLINE void out_all(const V (&m)[X::kPoints], V (&y)[2 * sizeof...(P)], std::integer_sequence<int, P...>) {
  (X::template out_pair<P>([&](int i) { return m[i]; }, y[X::kOutPairs[P][0]], y[X::kOutPairs[P][1]]), ...);
}

template <class X>
using InPairs = std::make_integer_sequence<int, X::kPoints / 2>;
template <class X>
using OutPairs = std::make_integer_sequence<int, (X::kOut + 1) / 2>;

// Two rows of points of a tile, `at` gives its window: so few numbers stay in registers.
template <class X, int P, class At>
HWY_INLINE void rows_in(At at, float* to, int64_t point_step) {
  constexpr int N = X::kPoints;
  V rows[2][N];
  ANYSHAPE_UNROLL
  for (int x = 0; x < N; ++x) X::template in_pair<P>([&](int y) { return at(y, x); }, rows[0][x], rows[1][x]);
  ANYSHAPE_UNROLL
  for (int i = 0; i < 2; ++i) {
    in_all<X>(rows[i], InPairs<X>());
    float* row = to + X::kInPairs[P][i] * N * point_step;
    ANYSHAPE_UNROLL
    for (int x = 0; x < N; ++x) hn::StoreU(rows[i][x], F(), row + x * point_step);
  }
}

template <class X, int... P, class At>
HWY_INLINE void block_in(At at, float* to, int64_t point_step, std::integer_sequence<int, P...>) {
  (rows_in<X, P>(at, to, point_step), ...);
}

// Where the numbers of a window over the edge are: zeros outside.
template <int N>
struct EdgeWindow {
  const float* at[N][N];
  int64_t plane[N][N];  // to the next block of channels

  HWY_INLINE EdgeWindow(const WinogradIn& t, const float* zeros) {
    const int64_t block = t.height * t.width * kLanes;
    for (int y = 0; y < N; ++y)
      for (int x = 0; x < N; ++x) {
        const int64_t row = t.y + y, column = t.x + x;
        const bool inside = row >= 0 && row < t.height && column >= 0 && column < t.width;
        at[y][x] = inside ? t.in + (row * t.width + column) * kLanes : zeros;
        plane[y][x] = inside ? block : 0;
      }
  }
};

template <class X>
HWY_NOINLINE void edge_in(const WinogradIn& t) {
  HWY_ALIGN static constexpr float kZeros[kLanes] = {};
  const EdgeWindow<X::kPoints> window(t, kZeros);
  for (int64_t b = 0; b < t.blocks; ++b)
    block_in<X>([&](int y, int x) { return hn::LoadU(F(), window.at[y][x] + b * window.plane[y][x]); },
                t.out + b * kLanes, t.point_step, InPairs<X>());
}

template <class X>
void tile_in(const WinogradIn& t) {
  constexpr int N = X::kPoints;
  if (t.y < 0 || t.x < 0 || t.y + N > t.height || t.x + N > t.width) return edge_in<X>(t);
  const int64_t row = t.width * kLanes;
  const float* from = t.in + t.y * row + t.x * kLanes;
  for (int64_t b = 0; b < t.blocks; ++b, from += t.height * row)
    block_in<X>([&](int y, int x) { return hn::LoadU(F(), from + y * row + x * kLanes); }, t.out + b * kLanes,
                t.point_step, InPairs<X>());
}

// What is done to the sums of a place.
struct Finish {
  V bias, low, high;
  explicit HWY_INLINE Finish(const WinogradOut& t)
      : bias(t.biases > 0 ? load_n(t.bias, t.biases) : hn::Zero(F())), low(splat(t.low)), high(splat(t.high)) {}
  HWY_INLINE void store(V sum, const float* residual, float* to) const {
    sum = hn::Add(sum, bias);
    if (residual) sum = hn::Add(sum, hn::LoadU(F(), residual));
    hn::StoreU(at_most(at_least(sum, low), high), F(), to);
  }
};

// Two rows of the output.
template <class X, int P>
HWY_INLINE void rows_out(const WinogradOut& t, const Finish& finish) {
  constexpr int N = X::kPoints, M = X::kOut;
  V rows[2][N];
  ANYSHAPE_UNROLL
  for (int x = 0; x < N; ++x)
    X::template out_pair<P>([&](int y) { return hn::LoadU(F(), t.in + (y * N + x) * t.point_step); }, rows[0][x],
                            rows[1][x]);
  ANYSHAPE_UNROLL
  for (int i = 0; i < 2; ++i) {
    const int y = X::kOutPairs[P][i];
    if (y >= t.rows) return;
    V sums[(M + 1) / 2 * 2];
    out_all<X>(rows[i], sums, OutPairs<X>());
    const int64_t row = y * t.row_step;
    ANYSHAPE_UNROLL
    for (int x = 0; x < M; ++x) {
      if (x >= t.columns) break;
      finish.store(sums[x], t.residual ? t.residual + row + x * kLanes : nullptr, t.out + row + x * kLanes);
    }
  }
}

template <class X, int... P>
HWY_INLINE void block_out(const WinogradOut& t, std::integer_sequence<int, P...>) {
  const Finish finish(t);
  (rows_out<X, P>(t, finish), ...);
}

template <class X>
void tile_out(const WinogradOut& t) {
  block_out<X>(t, OutPairs<X>());
}

// kDoubles filters at one channel, `from` has kLanes of each weight.
template <class X>
HWY_INLINE void points_of_filters(const float* from, float* to, int64_t point_step) {
  constexpr int N = X::kPoints, T = X::kTaps;
  VD columns[N][T], points[N];
  ANYSHAPE_UNROLL
  for (int x = 0; x < T; ++x) {
    VD weights[T];
    ANYSHAPE_UNROLL
    for (int y = 0; y < T; ++y) weights[y] = hn::PromoteTo(D(), hn::Load(OfDouble(), from + (y * T + x) * kLanes));
    X::filter(weights, points);
    ANYSHAPE_UNROLL
    for (int y = 0; y < N; ++y) columns[y][x] = points[y];
  }
  ANYSHAPE_UNROLL
  for (int y = 0; y < N; ++y) {
    X::filter(columns[y], points);
    ANYSHAPE_UNROLL
    for (int x = 0; x < N; ++x, to += point_step) hn::StoreU(hn::DemoteTo(OfDouble(), points[x]), OfDouble(), to);
  }
}

template <class X>
void filters_of(const WinogradFilters& t) {
  constexpr int kWeights = X::kTaps * X::kTaps;
  HWY_ALIGN float weights[kWeights * kLanes] = {};
  for (int64_t channel = 0; channel < t.channels; ++channel) {
    for (int64_t k = 0; k < t.count; ++k) {
      float one[kWeights];
      const int64_t matrix = k * t.filter_step + channel * kWeights;
      std::memcpy(one, t.from + matrix * static_cast<int64_t>(sizeof(float)), sizeof one);
      ANYSHAPE_UNROLL
      for (int i = 0; i < kWeights; ++i) weights[i * kLanes + k] = one[i];
    }
    for (int64_t k = 0; k < kLanes; k += kDoubles)
      points_of_filters<X>(weights + k, t.out + channel * t.channel_step + k, t.point_step);
  }
}

template <class T>
using OfTile = void (*)(const T&);
template <class T>
HWY_INLINE void by_tile(int64_t tile, const T& t, OfTile<T> two, OfTile<T> three, OfTile<T> four) {
  (tile == 4 ? four : tile == 3 ? three : two)(t);
}

void weights_in(int64_t tile, const WinogradFilters& t) {
  by_tile(tile, t, filters_of<Two>, filters_of<Three>, filters_of<Four>);
}
void window_in(int64_t tile, const WinogradIn& t) { by_tile(tile, t, tile_in<Two>, tile_in<Four>, tile_in<Four>); }
void window_out(int64_t tile, const WinogradOut& t) {
  by_tile(tile, t, tile_out<Two>, tile_out<Three>, tile_out<Four>);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(weights_in);
HWY_EXPORT(window_in);
HWY_EXPORT(window_out);

void winograd_filters(int64_t tile, const WinogradFilters& t) { HWY_DYNAMIC_DISPATCH(weights_in)(tile, t); }
void winograd_in(int64_t tile, const WinogradIn& t) { HWY_DYNAMIC_DISPATCH(window_in)(tile, t); }
void winograd_out(int64_t tile, const WinogradOut& t) { HWY_DYNAMIC_DISPATCH(window_out)(tile, t); }

}  // namespace anyshape::simd
#endif
