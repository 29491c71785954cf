#pragma once

#include "run/cpu/simd/gemm.h"
#include "run/cpu/simd/recurrent_f32.h"

namespace anyshape::simd {

// In blocks of a cache line.
inline int64_t whole_lines(int64_t floats) { return (floats + 15) / 16 * 16; }

int64_t unit_blocks(const Layer& layer);

// Neighbouring sequences in one direction.
struct Piece {
  int64_t direction = 0, first = 0, rows = 0;
};

// A layer going through the steps of a piece. All that it keeps is in the memory it is given, so that each task may
// have a Pass of its own for the same piece.
class Pass {
 public:
  // Floats, or where they are: the state of the piece, the input part of the gates for some steps, scratch of products.
  template <class T>
  struct Memory {
    T state, inputs, product;
  };
  using Floats = Memory<int64_t>;

  // The input part of so many steps is made by one product, as far as it stays in the cache.
  static int64_t steps_at_once(const Layer& layer, int64_t rows);
  static Floats floats(const Layer& layer, int64_t rows, int64_t at_once);

  Pass(const Layer& layer, const LayersRun& run, const LayerStates& states, const Piece& piece, int64_t at_once,
       const Memory<float*>& memory);

  void begin();
  void end() const;
  // One phase of step s for blocks first..last - 1. All of the step before is done; the input part is there from the
  // last step on that is a multiple of at_once.
  void step(int64_t s, int64_t phase, int64_t first, int64_t last);
  // Steps first..last - 1, all phases, all blocks. REQUIRES: `first` is a multiple of at_once.
  void steps(int64_t first, int64_t last);

 private:
  int64_t length(int64_t row) const { return run_.lengths ? run_.lengths[piece_.first + row] : run_.steps; }
  bool reverse() const { return layer_.reverse[piece_.direction]; }
  // The time that sequence `row` is at in step s. REQUIRES: s < length(row).
  int64_t time(int64_t row, int64_t s) const { return reverse() ? length(row) - 1 - s : s; }
  float* state_at(const StateRows& state, int64_t row) const;
  void load(const StateRows& from, float* to) const;
  void store(const float* from, const StateRows& to) const;
  const float* input_at(int64_t row, int64_t t) const;
  float* output_at(int64_t row, int64_t t) const;

  Gemm product() const;
  void multiply(const Gemm& g, int64_t first, int64_t last) const;
  void multiply_inputs(int64_t s0, int64_t s1, int64_t first, int64_t last) const;
  void multiply_by_steps(int64_t s0, int64_t s1, int64_t first, int64_t last) const;
  void step_of_lengths(int64_t s, const float* x, int64_t phase, int64_t first, int64_t last);
  void step_rows(int64_t s, int64_t from, int64_t to, const float* x, int64_t phase, int64_t first, int64_t last);

  const Layer& layer_;
  const LayersRun& run_;
  const LayerStates& states_;
  Piece piece_;
  const CellWeights& weights_;
  int64_t padded_, columns_, at_once_;
  float *h_[2], *c_, *gate_, *reset_, *x_, *product_;
};

}  // namespace anyshape::simd
