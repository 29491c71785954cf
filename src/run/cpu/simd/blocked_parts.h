#pragma once

#include <cstdint>

#include "run/cpu/simd/blocked.h"

// What the files about blocked channels give each other.
namespace anyshape::simd {

inline int64_t ceil_of(int64_t a, int64_t b) { return (a + b - 1) / b; }

// An activation that is a limit, or none at all while another one is still to be applied.
struct Limits {
  float low, high;
  bool complete;  // nothing is left to be applied
};
Limits limits_of(const ActivationSpec& activation);

// Vectors of filters that are summed at once at most.
int64_t most_vectors();

// Sums over a window for places of one row and a few vectors of filters:
// out[v][p] = limits(bias[v] + residual[v][p] + sum of in[b][y][x][p][k] * weights[b][y][x][k][v]);
// the same `times` times, with other inputs, weights, residuals and results. All steps are in floats.
struct PlaceSums {
  int64_t places = 0, vectors = 0;  // vectors: 1, 2 or 4, most_vectors() at most
  const float* in = nullptr;
  int64_t blocks = 0, rows = 1, cells = 1, run = 0, last_run = 0;  // last_run: run of the last block
  int64_t block_step = 0, row_step = 0, cell_step = 0, place_step = 0;
  const float* weights = nullptr;
  int64_t weight_step = 0;  // from one k to the next, vectors * lanes at least
  float* out = nullptr;
  int64_t out_step = 0;             // from one vector of filters to the next
  int64_t out_place_step = 0;       // from one place to the next
  const float* residual = nullptr;  // with the steps of out; may be it
  const float* bias = nullptr;
  int64_t biases = 0;  // so many are there; the other lanes have none
  float low = 0, high = 0;
  int64_t times = 1, next_in = 0, next_weights = 0, next_out = 0;
};
void sum_places(const PlaceSums& s);

// How output channels of one group are cut into panels of vectors that are summed at once.
struct Panels {
  int64_t blocks, width, count;  // width: vectors of all but the last
  explicit Panels(int64_t channels);
  int64_t vectors(int64_t panel) const { return panel + 1 < count ? width : blocks - panel * width; }
};

// The direct way.
int64_t direct_packed_size(const BlockedConv& c);
void direct_pack(const BlockedConv& c, const std::byte* from, float* to);
int64_t direct_items(const BlockedConv& c);
int64_t direct_scratch(const BlockedConv& c);
void direct_run(const BlockedConv& c, int64_t first, int64_t last, float* scratch);
bool is_pointwise(const BlockedConv& c);

struct PlaneRows {
  int64_t plane, y0, y1;  // of the output; the plane is image * blocks + block, the rows y0..y1 - 1
};

// Line by line: one channel in and one out per group; first layers of plain channels, packed as for the direct way.
bool is_depthwise(const BlockedConv& c);
bool goes_by_lines(const BlockedConv& c);
int64_t depthwise_packed_size(const BlockedConv& c);
void depthwise_pack(const BlockedConv& c, const std::byte* from, float* to);
int64_t lines_items(const BlockedConv& c);
void lines_run(const BlockedConv& c, int64_t first, int64_t last);

// Winograd's way: the size of its tiles, 0 where it is not taken.
int64_t winograd_tile(const BlockedConv& c);
int64_t winograd_packed_size(const BlockedConv& c);
void winograd_pack(const BlockedConv& c, const std::byte* from, float* to);
int64_t winograd_items(const BlockedConv& c);
int64_t winograd_scratch(const BlockedConv& c);
void winograd_run(const BlockedConv& c, int64_t first, int64_t last, float* scratch);

// f32 of any alignment.
float read_float(const std::byte* from, int64_t i);

}  // namespace anyshape::simd
