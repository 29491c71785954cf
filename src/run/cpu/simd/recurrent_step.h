#pragma once

#include "run/cpu/simd/recurrent_f32.h"

namespace anyshape::simd {

// One time step of neighbouring sequences of one direction.
struct Step {
  int64_t hidden = 0, padded = 0;  // units
  int64_t rows = 0;
  const float* x = nullptr;  // input part of the gates, one row of all columns per sequence
  int64_t x_row = 0;
  const float* h = nullptr;                 // rows of `padded` floats
  float* next = nullptr;                    // the new h
  float* c = nullptr;                       // of LSTM, in place
  float *gate = nullptr, *reset = nullptr;  // of GRU without linear_before_reset: rows in between
};

int64_t step_lanes();
void recurrent_step(const Layer& layer, const CellWeights& weights, const Step& step);

}  // namespace anyshape::simd
