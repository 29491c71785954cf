#pragma once

#include "run/cpu/simd/recurrent_f32.h"

namespace anyshape::simd {

// One phase of one time step of neighbouring sequences of one direction, for units in blocks first..last - 1 of
// step_lanes() units.
struct Step {
  int64_t hidden = 0, padded = 0;  // units
  int64_t rows = 0;
  const float* x = nullptr;  // input part of the gates, one row of all columns per sequence
  int64_t x_row = 0;
  const float* h = nullptr;                 // rows of `padded` floats
  float* next = nullptr;                    // the new h
  float* c = nullptr;                       // of LSTM, in place
  float *gate = nullptr, *reset = nullptr;  // of GRU without linear_before_reset: rows in between
  float* y = nullptr;                       // the new h once more, rows of `hidden` floats; null: nowhere
  int64_t y_row = 0;
  int64_t phase = 0, first = 0, last = 0;
  bool backwards = false;  // from the last block to the first
};

int64_t step_lanes();
// A step has one phase, or two: all units must have done the first one before any does the second.
int64_t step_phases(const Layer& layer);
// What it computes for a unit does not depend on which others are done with it.
void recurrent_step(const Layer& layer, const CellWeights& weights, const Step& step);

}  // namespace anyshape::simd
