#pragma once

#include <cstdint>

// Entries of one axis of f32, picked or mixed by tables.
namespace anyshape::simd {

// What each of `out` places takes: `taps` weights (1, 2 or 4), each with the entry it is for. Tap k of place i is at
// k * out + i. Entries whose weight is 0 are not looked at.
struct ResizeTable {
  int64_t out = 0, taps = 1;
  const int32_t* from = nullptr;
  const float* weights = nullptr;  // null: one tap of weight 1
  // Entries of the row. Not 0: those that tap k is for do not get less from place to place.
  int64_t in_order = 0;
};

// to[i] = what place i takes of the floats `row`.
void resize_row(const ResizeTable& table, const float* row, float* to);
// The same for entries of `inner` floats side by side.
void resize_row_of(const ResizeTable& table, const float* row, int64_t inner, float* to);

// to = the sum of `count` rows of n floats, each times its weight; with `add` on top of what is there.
void mix_rows(const float* const* rows, const float* weights, int64_t count, int64_t n, bool add, float* to);

}  // namespace anyshape::simd
