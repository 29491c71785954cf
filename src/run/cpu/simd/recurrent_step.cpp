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

// Sums of four gates of as many sequences stay in registers.
constexpr int kMostRows = HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON ? 6 : 2;

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

// R sequences and B blocks of units: start() gives what a gate's sum begins with, cell() takes the sums of all gates.
template <int R, int G, int B, class Start, class Finish>
HWY_INLINE void blocks_step(const Step& s, const float* h, const float* w, int64_t row, int64_t block, Start start,
                            Finish finish) {
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
  accumulate<R, G, B>(s.hidden, h + row * s.padded, s.padded, w + block * w_block, w_block, acc);
  ANYSHAPE_UNROLL
  for (int b = 0; b < B; ++b) {
    ANYSHAPE_UNROLL
    for (int r = 0; r < R; ++r) finish(row + r, block + b, acc[b][r]);
  }
}

template <int R, int G, class Start, class Finish>
HWY_INLINE void rows_step(const Step& s, const float* h, const float* w, int64_t row, Start start, Finish finish) {
  const int64_t blocks = s.padded / kLanes;
  int64_t block = 0;
  // A single sequence needs two blocks at a time to hide the latency of its sums.
  if constexpr (R == 1)
    for (; block + 2 <= blocks; block += 2) blocks_step<R, G, 2>(s, h, w, row, block, start, finish);
  for (; block < blocks; ++block) blocks_step<R, G, 1>(s, h, w, row, block, start, finish);
}

template <int G, int R, class Start, class Finish>
HWY_INLINE void some_rows(const Step& s, const float* h, const float* w, int64_t row, int64_t count, Start start,
                          Finish finish) {
  if constexpr (R > 1)
    if (count < R) return some_rows<G, R - 1>(s, h, w, row, count, start, finish);
  rows_step<R, G>(s, h, w, row, start, finish);
}

template <int G, class Start, class Finish>
HWY_INLINE void all_rows(const Step& s, const float* h, const float* w, Start start, Finish finish) {
  for (int64_t row = 0; row < s.rows;) {
    const int64_t left = s.rows - row, groups = (left + kMostRows - 1) / kMostRows;
    const int64_t count = (left + groups - 1) / groups;
    some_rows<G, kMostRows>(s, h, w, row, count, start, finish);
    row += count;
  }
}

HWY_INLINE V limited(V x, V clip) { return at_most(at_least(x, hn::Neg(clip)), clip); }

void lstm_step(const Layer& layer, const CellWeights& weights, const Step& s) {
  const V clip = splat(layer.clip);
  const float* peep = weights.peepholes;
  const bool input_forget = layer.input_forget;
  all_rows<4>(
      s, s.h, weights.hidden,
      [&](int64_t row, int64_t block, int g)
          HWY_ATTR { return hn::LoadU(F(), s.x + row * s.x_row + (block * 4 + g) * kLanes); },
      [&](int64_t row, int64_t block, V(&gates)[4]) HWY_ATTR {
        const int64_t unit = block * kLanes, at = row * s.padded + unit;
        const V old = hn::LoadU(F(), s.c + at);
        const auto peeped = [&](V x, int which, V cell) HWY_ATTR {
          return peep ? hn::MulAdd(hn::LoadU(F(), peep + which * s.padded + unit), cell, x) : x;
        };
        const V in = sigmoid_v(limited(peeped(gates[0], 0, old), clip));
        const V forget = input_forget ? hn::Sub(splat(1.0f), in) : sigmoid_v(limited(peeped(gates[2], 2, old), clip));
        const V cell = hn::MulAdd(forget, old, hn::Mul(in, tanh_v(limited(gates[3], clip))));
        const V out = sigmoid_v(limited(peeped(gates[1], 1, cell), clip));
        hn::StoreU(cell, F(), s.c + at);
        hn::StoreU(hn::Mul(out, tanh_v(limited(cell, clip))), F(), s.next + at);
      });
}

HWY_INLINE V mixed(V gate, V fresh, V old) { return hn::MulAdd(gate, hn::Sub(old, fresh), fresh); }

// The reset gate multiplies the hidden part of the last gate.
void gru_step_after(const Layer& layer, const CellWeights& weights, const Step& s) {
  const V clip = splat(layer.clip);
  const float* bias = weights.hidden_bias;
  all_rows<3>(
      s, s.h, weights.hidden,
      [&](int64_t row, int64_t block, int g) HWY_ATTR {
        return g == 2 ? hn::LoadU(F(), bias + block * kLanes)
                      : hn::LoadU(F(), s.x + row * s.x_row + (block * 3 + g) * kLanes);
      },
      [&](int64_t row, int64_t block, V(&gates)[3]) HWY_ATTR {
        const int64_t at = row * s.padded + block * kLanes;
        const V x = hn::LoadU(F(), s.x + row * s.x_row + (block * 3 + 2) * kLanes);
        const V update = sigmoid_v(limited(gates[0], clip)), reset = sigmoid_v(limited(gates[1], clip));
        const V fresh = tanh_v(limited(hn::MulAdd(reset, gates[2], x), clip));
        hn::StoreU(mixed(update, fresh, hn::LoadU(F(), s.h + at)), F(), s.next + at);
      });
}

// The reset gate multiplies h itself, so all of it is needed before the last gate.
void gru_step_before(const Layer& layer, const CellWeights& weights, const Step& s) {
  const V clip = splat(layer.clip);
  const float* last = weights.hidden + s.hidden * 2 * s.padded;
  all_rows<2>(
      s, s.h, weights.hidden,
      [&](int64_t row, int64_t block, int g)
          HWY_ATTR { return hn::LoadU(F(), s.x + row * s.x_row + (block * 3 + g) * kLanes); },
      [&](int64_t row, int64_t block, V(&gates)[2]) HWY_ATTR {
        const int64_t at = row * s.padded + block * kLanes;
        hn::StoreU(sigmoid_v(limited(gates[0], clip)), F(), s.gate + at);
        const V reset = sigmoid_v(limited(gates[1], clip));
        hn::StoreU(hn::Mul(reset, hn::LoadU(F(), s.h + at)), F(), s.reset + at);
      });
  all_rows<1>(
      s, s.reset, last,
      [&](int64_t row, int64_t block, int)
          HWY_ATTR { return hn::LoadU(F(), s.x + row * s.x_row + (block * 3 + 2) * kLanes); },
      [&](int64_t row, int64_t block, V(&gates)[1]) HWY_ATTR {
        const int64_t at = row * s.padded + block * kLanes;
        const V fresh = tanh_v(limited(gates[0], clip));
        hn::StoreU(mixed(hn::LoadU(F(), s.gate + at), fresh, hn::LoadU(F(), s.h + at)), F(), s.next + at);
      });
}

HWY_INLINE V apply(RnnFunction function, V x) {
  if (function == RnnFunction::relu) return at_least(x, splat(0.0f));
  return function == RnnFunction::sigmoid ? sigmoid_v(x) : tanh_v(x);
}

void rnn_step(const Layer& layer, const CellWeights& weights, const Step& s) {
  const V clip = splat(layer.clip);
  const RnnFunction function = layer.function;
  all_rows<1>(
      s, s.h, weights.hidden,
      [&](int64_t row, int64_t block, int) HWY_ATTR { return hn::LoadU(F(), s.x + row * s.x_row + block * kLanes); },
      [&](int64_t row, int64_t block, V(&gates)[1]) HWY_ATTR {
        hn::StoreU(apply(function, limited(gates[0], clip)), F(), s.next + row * s.padded + block * kLanes);
      });
}

void any_step(const Layer& layer, const CellWeights& weights, const Step& s) {
  if (layer.cell == Cell::lstm) return lstm_step(layer, weights, s);
  if (layer.cell == Cell::rnn) return rnn_step(layer, weights, s);
  if (layer.linear_before_reset) return gru_step_after(layer, weights, s);
  gru_step_before(layer, weights, s);
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(lanes);
HWY_EXPORT(any_step);

int64_t step_lanes() { return HWY_DYNAMIC_DISPATCH(lanes)(); }

void recurrent_step(const Layer& layer, const CellWeights& weights, const Step& step) {
  HWY_DYNAMIC_DISPATCH(any_step)(layer, weights, step);
}

}  // namespace anyshape::simd
#endif
