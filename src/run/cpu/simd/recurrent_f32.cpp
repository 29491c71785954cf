#include "run/cpu/simd/recurrent_f32.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "run/cpu/simd/gemm.h"
#include "run/cpu/simd/recurrent_step.h"

namespace anyshape::simd {
namespace {

constexpr int64_t kStepsAtOnce = 32;  // whose input part is made by one product

float read(const std::byte* from, int64_t i) {
  float x;
  std::memcpy(&x, from + i * static_cast<int64_t>(sizeof(float)), sizeof(float));
  return x;
}

// Column of unit u of gate g when `gates` stand side by side.
int64_t column_of(int64_t gates, int64_t g, int64_t u) {
  const int64_t lanes = step_lanes();
  return (u / lanes * gates + g) * lanes + u % lanes;
}

// Gates g0..g0 + count - 1 of R as blocks [unit / lanes][k][gate][unit % lanes].
void pack_hidden(const Layer& layer, const std::byte* r, int64_t g0, int64_t count, float* to) {
  const int64_t n = layer.hidden, lanes = step_lanes();
  for (int64_t g = 0; g < count; ++g)
    for (int64_t u = 0; u < n; ++u)
      for (int64_t k = 0; k < n; ++k)
        to[((u / lanes * n + k) * count + g) * lanes + u % lanes] = read(r, ((g0 + g) * n + u) * n + k);
}

void pack_bias(const Layer& layer, const std::byte* bias, const PackTarget& to) {
  const int64_t n = layer.hidden, gates = layer.gates();
  const bool apart = layer.cell == Cell::gru && layer.linear_before_reset;
  for (int64_t g = 0; g < gates; ++g) {
    for (int64_t u = 0; u < n; ++u) {
      const float input = read(bias, g * n + u), hidden = read(bias, (gates + g) * n + u);
      const bool split = apart && g == 2;
      to.bias[column_of(gates, g, u)] = split ? input : input + hidden;
      if (split) to.hidden_bias[u] = hidden;
    }
  }
}

// A block of sequences of one direction.
struct Piece {
  int64_t direction, first, rows;
};

int64_t parts_of(const LayerRun& run) { return std::clamp<int64_t>(run.batch / 4, 1, 4); }
int64_t rows_of_part(const LayerRun& run) { return (run.batch + parts_of(run) - 1) / parts_of(run); }

class Pass {
 public:
  Pass(const Layer& layer, const LayerRun& run, const Piece& piece, float* scratch)
      : layer_(layer), run_(run), piece_(piece), weights_(layer.weights[piece.direction]) {
    padded_ = padded_units(layer.hidden);
    columns_ = recurrent_columns(layer);
    const int64_t state = rows_of_part(run) * padded_;
    h_ = scratch;
    next_ = h_ + state;
    c_ = next_ + state;
    gate_ = c_ + state;
    reset_ = gate_ + state;
    x_ = reset_ + state;
    gemm_scratch_ = x_ + kStepsAtOnce * rows_of_part(run) * columns_;
  }

  void run() {
    load(run_.first_h, h_);
    load(run_.first_c, c_);
    for (int64_t s = 0; s < run_.steps; s += kStepsAtOnce) {
      const int64_t end = std::min(run_.steps, s + kStepsAtOnce);
      multiply_inputs(s, end);
      for (int64_t i = s; i < end; ++i) step(i, x_ + (i - s) * piece_.rows * columns_);
    }
    store(h_, run_.last_h);
    store(c_, run_.last_c);
  }

 private:
  int64_t length(int64_t row) const { return run_.lengths ? run_.lengths[piece_.first + row] : run_.steps; }
  bool reverse() const { return layer_.reverse[piece_.direction]; }
  // The time that sequence `row` is at in step s. REQUIRES: s < length(row).
  int64_t time(int64_t row, int64_t s) const { return reverse() ? length(row) - 1 - s : s; }

  int64_t state_at(int64_t row) const {
    return piece_.direction * run_.state_direction + (piece_.first + row) * run_.state_row;
  }
  void load(const float* from, float* to) const {
    std::fill_n(to, piece_.rows * padded_, 0.0f);
    for (int64_t r = 0; from && r < piece_.rows; ++r) std::copy_n(from + state_at(r), layer_.hidden, to + r * padded_);
  }
  void store(const float* from, float* to) const {
    for (int64_t r = 0; to && r < piece_.rows; ++r) std::copy_n(from + r * padded_, layer_.hidden, to + state_at(r));
  }

  Gemm product() const {
    Gemm g;
    g.n = columns_;
    g.k = layer_.input;
    g.b = weights_.input;
    g.epilogue.bias = Addend::per_column(weights_.bias);
    return g;
  }

  const float* input_at(int64_t row, int64_t t) const {
    return run_.x + t * run_.x_step + (piece_.first + row) * run_.x_row;
  }

  // The input part of all gates for steps s0..s1 - 1: sequence by sequence, or step by step where that is more rows.
  void multiply_inputs(int64_t s0, int64_t s1) {
    if (!run_.lengths && s1 - s0 < piece_.rows) return multiply_by_steps(s0, s1);
    for (int64_t r = 0; r < piece_.rows; ++r) {
      const int64_t end = std::min(s1, length(r));
      if (s0 >= end) continue;
      Gemm g = product();
      g.m = end - s0;
      g.a = input_at(r, time(r, s0));
      g.a_row = reverse() ? -run_.x_step : run_.x_step;
      g.c = x_ + r * columns_;
      g.c_row = piece_.rows * columns_;
      gemm_tile(g, 0, g.m, 0, g.n, gemm_scratch_);
    }
  }

  void multiply_by_steps(int64_t s0, int64_t s1) {
    for (int64_t s = s0; s < s1; ++s) {
      Gemm g = product();
      g.m = piece_.rows;
      g.a = input_at(0, time(0, s));
      g.a_row = run_.x_row;
      g.c = x_ + (s - s0) * piece_.rows * columns_;
      g.c_row = columns_;
      gemm_tile(g, 0, g.m, 0, g.n, gemm_scratch_);
    }
  }

  // Runs of sequences that are not over yet are worked on together.
  void step(int64_t s, const float* x) {
    for (int64_t r = 0; r < piece_.rows;) {
      int64_t end = r;
      while (end < piece_.rows && s < length(end)) ++end;
      if (end > r) step_rows(r, end, x);
      for (; end < piece_.rows && s >= length(end); ++end)
        std::copy_n(h_ + end * padded_, padded_, next_ + end * padded_);
      r = end;
    }
    std::swap(h_, next_);
    for (int64_t r = 0; run_.y && r < piece_.rows; ++r) {
      const bool over = s >= length(r);
      float* to = run_.y + (over ? s : time(r, s)) * run_.y_step + (piece_.first + r) * run_.y_row +
                  piece_.direction * run_.y_direction;
      if (over)
        std::fill_n(to, layer_.hidden, 0.0f);
      else
        std::copy_n(h_ + r * padded_, layer_.hidden, to);
    }
  }

  void step_rows(int64_t first, int64_t last, const float* x) {
    const int64_t at = first * padded_;
    Step s;
    s.hidden = layer_.hidden;
    s.padded = padded_;
    s.rows = last - first;
    s.x = x + first * columns_;
    s.x_row = columns_;
    s.h = h_ + at;
    s.next = next_ + at;
    s.c = c_ + at;
    s.gate = gate_ + at;
    s.reset = reset_ + at;
    recurrent_step(layer_, weights_, s);
  }

  const Layer& layer_;
  const LayerRun& run_;
  Piece piece_;
  const CellWeights& weights_;
  int64_t padded_, columns_;
  float *h_, *next_, *c_, *gate_, *reset_, *x_, *gemm_scratch_;
};

}  // namespace

int64_t padded_units(int64_t hidden) {
  const int64_t lanes = step_lanes();
  return (hidden + lanes - 1) / lanes * lanes;
}

int64_t recurrent_columns(const Layer& layer) { return padded_units(layer.hidden) * layer.gates(); }

PackedSizes packed_sizes(const Layer& layer) {
  const int64_t columns = recurrent_columns(layer), padded = padded_units(layer.hidden);
  return {gemm_packed_size(layer.input, columns), layer.hidden * columns, columns, padded, 3 * padded};
}

void pack_recurrent(const Layer& layer, const std::byte* w, const std::byte* r, const std::byte* bias,
                    const std::byte* peepholes, const PackTarget& to) {
  const int64_t n = layer.hidden, gates = layer.gates(), columns = recurrent_columns(layer);
  const PackedSizes sizes = packed_sizes(layer);
  std::vector<float> turned(static_cast<size_t>(layer.input * columns), 0.0f);
  for (int64_t g = 0; g < gates; ++g)
    for (int64_t u = 0; u < n; ++u)
      for (int64_t k = 0; k < layer.input; ++k)
        turned[static_cast<size_t>(k * columns + column_of(gates, g, u))] = read(w, (g * n + u) * layer.input + k);
  gemm_pack(reinterpret_cast<const std::byte*>(turned.data()), layer.input, columns, columns, 1, 1, to.input);
  std::fill_n(to.hidden, sizes.hidden, 0.0f);
  if (layer.cell == Cell::gru && !layer.linear_before_reset) {
    pack_hidden(layer, r, 0, 2, to.hidden);
    pack_hidden(layer, r, 2, 1, to.hidden + n * 2 * padded_units(n));
  } else {
    pack_hidden(layer, r, 0, gates, to.hidden);
  }
  std::fill_n(to.bias, sizes.bias, 0.0f);
  std::fill_n(to.hidden_bias, sizes.hidden_bias, 0.0f);
  std::fill_n(to.peepholes, sizes.peepholes, 0.0f);
  if (bias) pack_bias(layer, bias, to);
  for (int64_t i = 0; peepholes && i < 3 * n; ++i) to.peepholes[i / n * padded_units(n) + i % n] = read(peepholes, i);
}

int64_t recurrent_items(const Layer& layer, const LayerRun& run) { return layer.directions * parts_of(run); }

int64_t recurrent_scratch(const Layer& layer, const LayerRun& run) {
  const int64_t rows = rows_of_part(run), columns = recurrent_columns(layer);
  // Rows of the input may lie at any distance, so a product may have to pack them.
  Gemm g;
  g.m = std::max(rows, kStepsAtOnce);
  g.n = columns;
  g.k = layer.input;
  g.a_row = 0;
  return rows * (5 * padded_units(layer.hidden) + kStepsAtOnce * columns) + gemm_scratch(g);
}

void recurrent_run(const Layer& layer, const LayerRun& run, int64_t first, int64_t last, float* scratch) {
  const int64_t parts = parts_of(run), rows = rows_of_part(run);
  for (int64_t item = first; item < last; ++item) {
    const int64_t begin = std::min(run.batch, item % parts * rows);
    const Piece piece{item / parts, begin, std::min(rows, run.batch - begin)};
    if (piece.rows > 0) Pass(layer, run, piece, scratch).run();
  }
}

}  // namespace anyshape::simd
