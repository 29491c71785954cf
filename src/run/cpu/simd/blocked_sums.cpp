#include <algorithm>
#include <limits>
#include <utility>

#include "run/cpu/simd/blocked_parts.h"
#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/blocked_sums.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {
namespace {

constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON;
constexpr int64_t kMostVectors = kManyRegisters ? 4 : 2;

// Sums of so many places stay in registers, beside the filters and one input.
constexpr int most_places(int vectors) { return vectors == 4 || (vectors == 2 && !kManyRegisters) ? 6 : 12; }

int64_t lanes() { return kLanes; }
int64_t vectors_at_most() { return kMostVectors; }

// Keeps the compiler from working out every address ahead of the loop, which takes more registers than there are.
#define ANYSHAPE_OPAQUE(x) asm("" : "+r"(x))

// Where the inputs of R places are: three places to a pointer, as one index register then reaches them all.
template <int R>
struct PlacePointers {
  static constexpr int kGroups = (R + 2) / 3;
  const float* at[kGroups];
  int64_t step;

  HWY_INLINE PlacePointers(const float* in, int64_t place_step) : step(place_step) {
    ANYSHAPE_UNROLL
    for (int i = 0; i < kGroups; ++i) at[i] = in + 3 * i * place_step;
  }
  HWY_INLINE void hide() {
    ANYSHAPE_UNROLL
    for (int i = 0; i < kGroups; ++i) ANYSHAPE_OPAQUE(at[i]);
    ANYSHAPE_OPAQUE(step);
  }
  HWY_INLINE float get(int r, int ahead) const { return at[r / 3][r % 3 * step + ahead]; }
  HWY_INLINE void advance(int steps) {
    ANYSHAPE_UNROLL
    for (int i = 0; i < kGroups; ++i) at[i] += steps;
  }
};

template <int R, int W>
HWY_INLINE void add_products(const PlacePointers<R>& in, int ahead, const float* weights, V (&sums)[R][W]) {
  V filters[W];
  ANYSHAPE_UNROLL
  for (int v = 0; v < W; ++v) filters[v] = hn::LoadU(F(), weights + v * kLanes);
  ANYSHAPE_UNROLL
  for (int r = 0; r < R; ++r) {
    const V x = splat(in.get(r, ahead));
    ANYSHAPE_UNROLL
    for (int v = 0; v < W; ++v) sums[r][v] = hn::MulAdd(x, filters[v], sums[r][v]);
  }
}

// The products of `run` neighbouring inputs; gives the weights that follow.
template <int R, int W>
HWY_INLINE const float* add_run(PlacePointers<R> in, int64_t run, const float* weights, int64_t weight_step,
                                V (&sums)[R][W]) {
  int64_t k = 0;
  for (; k + 4 <= run; k += 4) {
    in.hide();
    ANYSHAPE_UNROLL
    for (int u = 0; u < 4; ++u) {
      ANYSHAPE_OPAQUE(weights);
      add_products<R, W>(in, u, weights, sums);
      weights += weight_step;
    }
    in.advance(4);
  }
  for (; k < run; ++k) {
    in.hide();
    add_products<R, W>(in, 0, weights, sums);
    weights += weight_step;
    in.advance(1);
  }
  return weights;
}

template <int R, int W>
HWY_INLINE void store_sums(const PlaceSums& s, const float* bias, int64_t first, const V (&sums)[R][W]) {
  if (!bias) {
    ANYSHAPE_UNROLL
    for (int v = 0; v < W; ++v) {
      float* out = s.out + v * s.out_step + first * s.out_place_step;
      ANYSHAPE_UNROLL
      for (int r = 0; r < R; ++r, out += s.out_place_step) hn::StoreU(sums[r][v], F(), out);
    }
    return;
  }
  const V low = splat(s.low), high = splat(s.high);
  ANYSHAPE_UNROLL
  for (int v = 0; v < W; ++v) {
    int64_t at = v * s.out_step + first * s.out_place_step;
    const V b = hn::Load(F(), bias + v * kLanes);
    ANYSHAPE_UNROLL
    for (int r = 0; r < R; ++r, at += s.out_place_step) {
      V x = hn::Add(sums[r][v], b);
      if (s.residual) x = hn::Add(x, hn::LoadU(F(), s.residual + at));
      hn::StoreU(at_most(at_least(x, low), high), F(), s.out + at);
    }
  }
}

// R places from `first` on; `bias` null: there are only the sums to be stored. Every sum is in the same order, however
// many places are summed at once.
template <int R, int W>
HWY_NOINLINE void sum_block(const PlaceSums& s, const float* bias, int64_t first) {
  V sums[R][W];
  ANYSHAPE_UNROLL
  for (int r = 0; r < R; ++r) ANYSHAPE_UNROLL
  for (int v = 0; v < W; ++v) sums[r][v] = hn::Zero(F());
  const float* in = s.in + first * s.place_step;
  const float* weights = s.weights;
  const int64_t weight_step = s.weight_step;
  for (int64_t b = 0; b < s.blocks; ++b) {
    const int64_t run = b + 1 < s.blocks ? s.run : s.last_run;
    for (int64_t y = 0; y < s.rows; ++y) {
      const float* at = in + b * s.block_step + y * s.row_step;
      for (int64_t x = 0; x < s.cells; ++x, at += s.cell_step)
        weights = add_run<R, W>(PlacePointers<R>(at, s.place_step), run, weights, weight_step, sums);
    }
  }
  store_sums<R, W>(s, bias, first, sums);
}

using SumBlock = void (*)(const PlaceSums&, const float*, int64_t);

template <int W, int... R>
HWY_INLINE SumBlock block_of(int64_t places, std::integer_sequence<int, R...>) {
  static constexpr SumBlock kBlocks[] = {sum_block<R + 1, W>...};
  return kBlocks[places - 1];
}

// Places are cut into ranges that differ by one at most.
template <int W>
void sum_row(PlaceSums s, const float* bias) {
  constexpr int kMost = most_places(W);
  const int64_t parts = (s.places + kMost - 1) / kMost, least = s.places / parts, longer = s.places % parts;
  const SumBlock block = block_of<W>(least, std::make_integer_sequence<int, kMost>());
  const SumBlock longer_block = longer > 0 ? block_of<W>(least + 1, std::make_integer_sequence<int, kMost>()) : block;
  for (int64_t time = 0; time < s.times; ++time) {
    int64_t part = 0, first = 0;
    for (; part < longer; ++part, first += least + 1) longer_block(s, bias, first);
    for (; part < parts; ++part, first += least) block(s, bias, first);
    s.in += s.next_in;
    s.weights += s.next_weights;
    s.out += s.next_out;
    s.residual += s.residual ? s.next_out : 0;
  }
}

void sum_row_of(const PlaceSums& s, const float* bias) {
  if constexpr (kMostVectors == 4) {
    if (s.vectors == 4) return sum_row<4>(s, bias);
  }
  s.vectors == 2 ? sum_row<2>(s, bias) : sum_row<1>(s, bias);
}

void sum(const PlaceSums& s) {
  if (s.places == 0) return;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (!s.bias && !s.residual && s.low == -kInfinity && s.high == kInfinity) return sum_row_of(s, nullptr);
  HWY_ALIGN float bias[4 * kLanes] = {};
  if (s.bias) std::copy_n(s.bias, std::min(s.biases, s.vectors * kLanes), bias);
  sum_row_of(s, bias);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(lanes);
HWY_EXPORT(vectors_at_most);
HWY_EXPORT(sum);

int64_t block_lanes() { return HWY_DYNAMIC_DISPATCH(lanes)(); }
int64_t most_vectors() { return HWY_DYNAMIC_DISPATCH(vectors_at_most)(); }
void sum_places(const PlaceSums& s) { HWY_DYNAMIC_DISPATCH(sum)(s); }

}  // namespace anyshape::simd
#endif
