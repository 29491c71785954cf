#pragma once

#include "run/cpu/simd/blocked_parts.h"

// Winograd's way for kernels of 3x3, stride 1 and dilation 1: outputs in tiles of 4x4 or 2x2, of which (tile + 2)^2
// points are products of transformed inputs and transformed weights.
namespace anyshape::simd {

// One tile of the input, all blocks of channels of a group; may reach over the edges.
struct WinogradIn {
  const float* in = nullptr;  // the first plane
  int64_t blocks = 0, height = 0, width = 0, y = 0, x = 0;
  float* out = nullptr;  // of the first point, the channels in a row
  int64_t point_step = 0;
};

// One tile of the output, one block of channels.
struct WinogradOut {
  const float* in = nullptr;  // of the first point
  int64_t point_step = 0;
  int64_t rows = 0, columns = 0;  // that are inside the output
  float* out = nullptr;
  const float* residual = nullptr;
  int64_t row_step = 0;  // of both
  const float* bias = nullptr;
  int64_t biases = 0;  // so many of the lanes have one
  float low = 0, high = 0;
};

// A block of filters at some channels.
struct WinogradFilters {
  const std::byte* from = nullptr;     // f32 of any alignment: 3x3 for each channel
  int64_t count = 0, filter_step = 0;  // filters, lanes at most; the others become 0
  int64_t channels = 0;
  float* out = nullptr;
  int64_t point_step = 0, channel_step = 0;
};

// tile: 4 or 2.
void winograd_filters(int64_t tile, const WinogradFilters& t);
void winograd_in(int64_t tile, const WinogradIn& t);
void winograd_out(int64_t tile, const WinogradOut& t);

}  // namespace anyshape::simd
