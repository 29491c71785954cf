#include "run/cpu/simd/recurrent_step.h"

#include <algorithm>

#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/recurrent_step.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

// Sums that stay in registers.
constexpr int kMostSums = HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON ? 24 : 8;
constexpr int kMostRows = 6;

int64_t lanes() { return kLanes; }

// acc[b][r][g] += sum over k of h[r][k] * w[b][k][g]
template <int R, int G, int B>
HWY_INLINE void accumulate(int64_t k, const float* h, int64_t h_row, const float* w, int64_t w_block,
                           V (&acc)[B][R][G]) {
  for (int64_t i = 0; i < k; ++i, w += G * kLanes) {
    ANYSHAPE_UNROLL
    for (int b = 0; b < B; ++b) {
      V values[G];
      ANYSHAPE_UNROLL
      for (int g = 0; g < G; ++g) values[g] = hn::LoadU(F(), w + b * w_block + g * kLanes);
      ANYSHAPE_UNROLL
      for (int r = 0; r < R; ++r) {
        const V x = splat(h[r * h_row + i]);
        ANYSHAPE_UNROLL
        for (int g = 0; g < G; ++g) acc[b][r][g] = hn::MulAdd(x, values[g], acc[b][r][g]);
      }
    }
  }
}

// Blocks of units that are worked on, and the weights of their gates.
struct Blocks {
  int64_t first, last;
  const float* h;
  const float* w;
};

// R sequences and B blocks of units: start() gives what a gate's sum begins with, finish() takes the sums of all gates.
template <int R, int G, int B, class Start, class Finish>
HWY_INLINE void some_blocks(const Step& s, const Blocks& on, int64_t row, int64_t block, Start start, Finish finish) {
  const int64_t w_block = s.hidden * G * kLanes;
  V acc[B][R][G];
  ANYSHAPE_UNROLL
  for (int b = 0; b < B; ++b) {
    ANYSHAPE_UNROLL
    for (int r = 0; r < R; ++r) {
      ANYSHAPE_UNROLL
      for (int g = 0; g < G; ++g) acc[b][r][g] = start(row + r, block + b, g);
    }
  }
  accumulate<R, G, B>(s.hidden, on.h + row * s.padded, s.padded, on.w + block * w_block, w_block, acc);
  ANYSHAPE_UNROLL
  for (int b = 0; b < B; ++b) {
    ANYSHAPE_UNROLL
    for (int r = 0; r < R; ++r) finish(row + r, block + b, acc[b][r]);
  }
}

template <int R, int G, int B, class Start, class Finish>
HWY_INLINE void some_rows(const Step& s, const Blocks& on, int64_t row, int64_t count, int64_t block, Start start,
                          Finish finish) {
  if constexpr (R > 1)
    if (count < R) return some_rows<R - 1, G, B>(s, on, row, count, block, start, finish);
  some_blocks<R, G, B>(s, on, row, block, start, finish);
}

template <int G, int B, class Start, class Finish>
HWY_INLINE void all_rows(const Step& s, const Blocks& on, int64_t block, Start start, Finish finish) {
  constexpr int kMost = std::min(kMostRows, kMostSums / (G * B));
  for (int64_t row = 0; row < s.rows;) {
    const int64_t left = s.rows - row, groups = (left + kMost - 1) / kMost;
    const int64_t count = (left + groups - 1) / groups;
    some_rows<kMost, G, B>(s, on, row, count, block, start, finish);
    row += count;
  }
}

// Blocks outside, so that their weights stay in the cache for all sequences. Two at a time where a sequence alone, or
// one gate alone, has too few sums to hide their latency. Every other step from the last block to the first: what the
// step before has read last is still in the cache then.
template <int G, class Start, class Finish>
HWY_INLINE void all_blocks(const Step& s, const Blocks& on, Start start, Finish finish) {
  const bool pairs = s.rows == 1 || G == 1;
  const int64_t width = pairs ? 2 : 1, count = (on.last - on.first + width - 1) / width;
  int64_t block = s.backwards ? on.first + (count - 1) * width : on.first;
  const int64_t by = s.backwards ? -width : width;
  for (int64_t i = 0; i < count; ++i, block += by) {
    if (!pairs || block + 1 == on.last)
      all_rows<G, 1>(s, on, block, start, finish);
    else if (s.rows == 1)
      some_blocks<1, G, 2>(s, on, 0, block, start, finish);
    else if constexpr (G == 1)
      all_rows<G, 2>(s, on, block, start, finish);
  }
}

// The new state of a block.
HWY_INLINE void put(const Step& s, int64_t row, int64_t unit, V h) {
  hn::StoreU(h, F(), s.next + row * s.padded + unit);
  if (s.y) store_n(h, s.y + row * s.y_row + unit, s.hidden - unit);
}

HWY_INLINE V limited(V x, V clip) { return at_most(at_least(x, hn::Neg(clip)), clip); }

void lstm_step(const Layer& layer, const CellWeights& weights, const Step& s, int64_t first, int64_t last) {
  const V clip = splat(layer.clip);
  const float* peep = weights.peepholes;
  const bool input_forget = layer.input_forget;
  all_blocks<4>(
      s, {first, last, s.h, weights.hidden},
      [&](int64_t row, int64_t block, int g)
          HWY_ATTR { return hn::LoadU(F(), s.x + row * s.x_row + (block * 4 + g) * kLanes); },
      [&](int64_t row, int64_t block, V(&gates)[4]) HWY_ATTR {
        const int64_t unit = block * kLanes, at = row * s.padded + unit;
        const V old = hn::LoadU(F(), s.c + at);
        const auto peeped = [&](V x, int which, V cell) HWY_ATTR {
          return peep ? hn::MulAdd(hn::LoadU(F(), peep + which * s.padded + unit), cell, x) : x;
        };
        const V in = sigmoid_fast(limited(peeped(gates[0], 0, old), clip));
        const V forget =
            input_forget ? hn::Sub(splat(1.0f), in) : sigmoid_fast(limited(peeped(gates[2], 2, old), clip));
        const V cell = hn::MulAdd(forget, old, hn::Mul(in, tanh_fast(limited(gates[3], clip))));
        const V out = sigmoid_fast(limited(peeped(gates[1], 1, cell), clip));
        hn::StoreU(cell, F(), s.c + at);
        put(s, row, unit, hn::Mul(out, tanh_fast(cell)));
      });
}

HWY_INLINE V mixed(V gate, V fresh, V old) { return hn::MulAdd(gate, hn::Sub(old, fresh), fresh); }

// The reset gate multiplies the hidden part of the last gate.
void gru_step_after(const Layer& layer, const CellWeights& weights, const Step& s, int64_t first, int64_t last) {
  const V clip = splat(layer.clip);
  const float* bias = weights.hidden_bias;
  all_blocks<3>(
      s, {first, last, s.h, weights.hidden},
      [&](int64_t row, int64_t block, int g) HWY_ATTR {
        return g == 2 ? hn::LoadU(F(), bias + block * kLanes)
                      : hn::LoadU(F(), s.x + row * s.x_row + (block * 3 + g) * kLanes);
      },
      [&](int64_t row, int64_t block, V(&gates)[3]) HWY_ATTR {
        const int64_t unit = block * kLanes;
        const V x = hn::LoadU(F(), s.x + row * s.x_row + (block * 3 + 2) * kLanes);
        const V update = sigmoid_fast(limited(gates[0], clip)), reset = sigmoid_fast(limited(gates[1], clip));
        const V fresh = tanh_fast(limited(hn::MulAdd(reset, gates[2], x), clip));
        put(s, row, unit, mixed(update, fresh, hn::LoadU(F(), s.h + row * s.padded + unit)));
      });
}

// The reset gate multiplies h itself, so all of it is needed before the last gate.
void gru_gates_before(const Layer& layer, const CellWeights& weights, const Step& s, int64_t first, int64_t last) {
  const V clip = splat(layer.clip);
  all_blocks<2>(
      s, {first, last, s.h, weights.hidden},
      [&](int64_t row, int64_t block, int g)
          HWY_ATTR { return hn::LoadU(F(), s.x + row * s.x_row + (block * 3 + g) * kLanes); },
      [&](int64_t row, int64_t block, V(&gates)[2]) HWY_ATTR {
        const int64_t at = row * s.padded + block * kLanes;
        hn::StoreU(sigmoid_fast(limited(gates[0], clip)), F(), s.gate + at);
        const V reset = sigmoid_fast(limited(gates[1], clip));
        hn::StoreU(hn::Mul(reset, hn::LoadU(F(), s.h + at)), F(), s.reset + at);
      });
}

void gru_last_gate(const Layer& layer, const CellWeights& weights, const Step& s, int64_t first, int64_t last) {
  const V clip = splat(layer.clip);
  all_blocks<1>(
      s, {first, last, s.reset, weights.hidden + s.hidden * 2 * s.padded},
      [&](int64_t row, int64_t block, int)
          HWY_ATTR { return hn::LoadU(F(), s.x + row * s.x_row + (block * 3 + 2) * kLanes); },
      [&](int64_t row, int64_t block, V(&gates)[1]) HWY_ATTR {
        const int64_t unit = block * kLanes, at = row * s.padded + unit;
        const V fresh = tanh_fast(limited(gates[0], clip));
        put(s, row, unit, mixed(hn::LoadU(F(), s.gate + at), fresh, hn::LoadU(F(), s.h + at)));
      });
}

HWY_INLINE V apply(RnnFunction function, V x) {
  if (function == RnnFunction::relu) return at_least(x, splat(0.0f));
  return function == RnnFunction::sigmoid ? sigmoid_fast(x) : tanh_fast(x);
}

void rnn_step(const Layer& layer, const CellWeights& weights, const Step& s, int64_t first, int64_t last) {
  const V clip = splat(layer.clip);
  const RnnFunction function = layer.function;
  all_blocks<1>(
      s, {first, last, s.h, weights.hidden},
      [&](int64_t row, int64_t block, int) HWY_ATTR { return hn::LoadU(F(), s.x + row * s.x_row + block * kLanes); },
      [&](int64_t row, int64_t block, V(&gates)[1])
          HWY_ATTR { put(s, row, block * kLanes, apply(function, limited(gates[0], clip))); });
}

void any_step(const Layer& layer, const CellWeights& weights, const Step& s) {
  const int64_t first = s.first, last = s.last;
  if (layer.cell == Cell::lstm) return lstm_step(layer, weights, s, first, last);
  if (layer.cell == Cell::rnn) return rnn_step(layer, weights, s, first, last);
  if (layer.linear_before_reset) return gru_step_after(layer, weights, s, first, last);
  if (s.phase == 0) return gru_gates_before(layer, weights, s, first, last);
  gru_last_gate(layer, weights, s, first, last);
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(lanes);
HWY_EXPORT(any_step);

int64_t step_lanes() { return HWY_DYNAMIC_DISPATCH(lanes)(); }

int64_t step_phases(const Layer& layer) { return layer.cell == Cell::gru && !layer.linear_before_reset ? 2 : 1; }

void recurrent_step(const Layer& layer, const CellWeights& weights, const Step& step) {
  HWY_DYNAMIC_DISPATCH(any_step)(layer, weights, step);
}

}  // namespace anyshape::simd
#endif
