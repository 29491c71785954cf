#include "run/cpu/simd/recurrent_pass.h"

#include <algorithm>

#include "run/cpu/simd/recurrent_step.h"

namespace anyshape::simd {
namespace {

constexpr int64_t kMostStepsAtOnce = 32, kFloatsAtOnce = 1 << 16;

int64_t state_row(const Layer& layer, int64_t rows) { return whole_lines(rows * padded_units(layer.hidden)); }

int64_t product_floats(const Layer& layer, int64_t rows, int64_t at_once) {
  // The input may have any strides, so a product may have to pack it.
  Gemm g;
  g.m = std::max(rows, at_once);
  g.n = recurrent_columns(layer);
  g.k = layer.input;
  g.a_row = 0;
  g.a_column = 2;
  return whole_lines(gemm_scratch(g));
}

}  // namespace

int64_t unit_blocks(const Layer& layer) { return padded_units(layer.hidden) / step_lanes(); }

int64_t Pass::steps_at_once(const Layer& layer, int64_t rows) {
  return std::clamp<int64_t>(kFloatsAtOnce / std::max<int64_t>(rows * recurrent_columns(layer), 1), 1,
                             kMostStepsAtOnce);
}

Pass::Floats Pass::floats(const Layer& layer, int64_t rows, int64_t at_once) {
  return {5 * state_row(layer, rows), whole_lines(at_once * rows * recurrent_columns(layer)),
          product_floats(layer, rows, at_once)};
}

Pass::Pass(const Layer& layer, const LayersRun& run, const LayerStates& states, const Piece& piece, int64_t at_once,
           const Memory<float*>& memory)
    : layer_(layer),
      run_(run),
      states_(states),
      piece_(piece),
      weights_(layer.weights[piece.direction]),
      padded_(padded_units(layer.hidden)),
      columns_(recurrent_columns(layer)),
      at_once_(at_once),
      x_(memory.inputs),
      product_(memory.product) {
  const int64_t row = state_row(layer, piece.rows);
  h_[0] = memory.state;
  h_[1] = h_[0] + row;
  c_ = h_[1] + row;
  gate_ = c_ + row;
  reset_ = gate_ + row;
}

void Pass::begin() {
  load(states_.first_h, h_[0]);
  load(states_.first_c, c_);
}

void Pass::end() const {
  store(h_[run_.steps % 2], states_.last_h);
  store(c_, states_.last_c);
}

void Pass::steps(int64_t first, int64_t last) {
  const int64_t blocks = unit_blocks(layer_), phases = step_phases(layer_);
  for (int64_t s = first; s < last; ++s)
    for (int64_t phase = 0; phase < phases; ++phase) step(s, phase, 0, blocks);
}

void Pass::step(int64_t s, int64_t phase, int64_t first, int64_t last) {
  const int64_t ready = s % at_once_;
  if (phase == 0 && ready == 0) multiply_inputs(s, std::min(run_.steps, s + at_once_), first, last);
  const float* x = x_ + ready * piece_.rows * columns_;
  if (!run_.lengths) return step_rows(s, 0, piece_.rows, x, phase, first, last);
  step_of_lengths(s, x, phase, first, last);
}

float* Pass::state_at(const StateRows& state, int64_t row) const {
  return state.data + piece_.direction * state.direction + (piece_.first + row) * state.row;
}

void Pass::load(const StateRows& from, float* to) const {
  std::fill_n(to, piece_.rows * padded_, 0.0f);
  for (int64_t r = 0; from.data && r < piece_.rows; ++r)
    for (int64_t u = 0; u < layer_.hidden; ++u) to[r * padded_ + u] = state_at(from, r)[u * from.unit];
}

// A sequence without any step leaves zeros.
void Pass::store(const float* from, const StateRows& to) const {
  for (int64_t r = 0; to.data && r < piece_.rows; ++r)
    if (length(r) == 0)
      std::fill_n(state_at(to, r), layer_.hidden, 0.0f);
    else
      std::copy_n(from + r * padded_, layer_.hidden, state_at(to, r));
}

const float* Pass::input_at(int64_t row, int64_t t) const {
  return run_.x + t * run_.x_step + (piece_.first + row) * run_.x_row;
}

float* Pass::output_at(int64_t row, int64_t t) const {
  return run_.y + t * run_.y_step + (piece_.first + row) * run_.y_row + piece_.direction * run_.y_direction;
}

Gemm Pass::product() const {
  Gemm g;
  g.n = columns_;
  g.k = layer_.input;
  g.a_column = run_.x_column;
  g.b = weights_.input;
  g.epilogue.bias = Addend::per_column(weights_.bias);
  return g;
}

void Pass::multiply(const Gemm& g, int64_t first, int64_t last) const {
  const int64_t block = layer_.gates() * step_lanes();
  gemm_tile(g, 0, g.m, first * block, last * block, product_);
}

// The input part of all gates for steps s0..s1 - 1: sequence by sequence, or step by step where that is more rows.
void Pass::multiply_inputs(int64_t s0, int64_t s1, int64_t first, int64_t last) const {
  if (!run_.lengths && s1 - s0 < piece_.rows) return multiply_by_steps(s0, s1, first, last);
  for (int64_t r = 0; r < piece_.rows; ++r) {
    const int64_t end = std::min(s1, length(r));
    if (s0 >= end) continue;
    Gemm g = product();
    g.m = end - s0;
    g.a = input_at(r, time(r, s0));
    g.a_row = reverse() ? -run_.x_step : run_.x_step;
    g.c = x_ + r * columns_;
    g.c_row = piece_.rows * columns_;
    multiply(g, first, last);
  }
}

void Pass::multiply_by_steps(int64_t s0, int64_t s1, int64_t first, int64_t last) const {
  for (int64_t s = s0; s < s1; ++s) {
    Gemm g = product();
    g.m = piece_.rows;
    g.a = input_at(0, time(0, s));
    g.a_row = run_.x_row;
    g.c = x_ + (s - s0) * piece_.rows * columns_;
    g.c_row = columns_;
    multiply(g, first, last);
  }
}

// Runs of sequences that are not over yet are worked on together. REQUIRES: all blocks.
void Pass::step_of_lengths(int64_t s, const float* x, int64_t phase, int64_t first, int64_t last) {
  for (int64_t r = 0; r < piece_.rows;) {
    int64_t end = r;
    while (end < piece_.rows && s < length(end)) ++end;
    if (end > r) step_rows(s, r, end, x, phase, first, last);
    for (; end < piece_.rows && s >= length(end); ++end)
      std::copy_n(h_[s % 2] + end * padded_, padded_, h_[(s + 1) % 2] + end * padded_);
    r = end;
  }
  for (int64_t r = 0; run_.y && r < piece_.rows; ++r) {
    if (s < length(r))
      std::copy_n(h_[(s + 1) % 2] + r * padded_, layer_.hidden, output_at(r, time(r, s)));
    else
      std::fill_n(output_at(r, s), layer_.hidden, 0.0f);
  }
}

void Pass::step_rows(int64_t s, int64_t from, int64_t to, const float* x, int64_t phase, int64_t first, int64_t last) {
  const int64_t at = from * padded_;
  const Step step{.hidden = layer_.hidden,
                  .padded = padded_,
                  .rows = to - from,
                  .x = x + from * columns_,
                  .x_row = columns_,
                  .h = h_[s % 2] + at,
                  .next = h_[(s + 1) % 2] + at,
                  .c = c_ + at,
                  .gate = gate_ + at,
                  .reset = reset_ + at,
                  .y = run_.y && !run_.lengths ? output_at(from, time(from, s)) : nullptr,
                  .y_row = run_.y_row,
                  .phase = phase,
                  .first = first,
                  .last = last,
                  .backwards = s % 2 != 0};
  recurrent_step(layer_, weights_, step);
}

}  // namespace anyshape::simd
