#pragma once

#include "run/cpu/simd/blocked_parts.h"

// Winograd's way for kernels of 3x3, stride 1 and dilation 1: outputs in tiles of 4x4 or 2x2, of which (tile + 2)^2
// points are products of transformed inputs and transformed weights. In tiles of 3x3 the kernel is 4x4, with as many
// points as those of 4x4 have.
namespace anyshape::simd {

constexpr int64_t kernel_of_tile(int64_t tile) { return tile == 3 ? 4 : 3; }
constexpr int64_t points_of_tile(int64_t tile) {
  const int64_t side = tile + kernel_of_tile(tile) - 1;
  return side * side;
}

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
  const std::byte* from = nullptr;     // f32 of any alignment: a kernel for each channel
  int64_t count = 0, filter_step = 0;  // filters, lanes at most; the others become 0
  int64_t channels = 0;
  float* out = nullptr;
  int64_t point_step = 0, channel_step = 0;
};

// tile: 4, 3 or 2.
void winograd_filters(int64_t tile, const WinogradFilters& t);
void winograd_in(int64_t tile, const WinogradIn& t);
void winograd_out(int64_t tile, const WinogradOut& t);

// How the tiles that are worked on together lie in scratch: transformed inputs, then the products.
struct WinogradTiles {
  Panels panels;
  int64_t lanes, tile, depth, in_blocks;  // depth: channels of the input
  int64_t at_once;                        // tiles
  int64_t width;                          // blocks of outputs that are summed at once, all of one panel
  int64_t in_step, out_step;              // from one point to the next

  explicit WinogradTiles(int64_t out_channels) : panels(out_channels) {}
  // `part`: blocks of outputs that are there together.
  void set_steps(int64_t part);
  int64_t points() const { return points_of_tile(tile); }
  int64_t scratch() const { return points() * (in_step + out_step); }
  float* products(float* scratch) const { return scratch + points() * in_step; }
};
// So many places at once fill the registers beside two vectors of filters.
int64_t winograd_rows();
// Blocks of outputs first..last - 1; `weights` are those of the group.
void winograd_multiply(const WinogradTiles& w, const float* weights, int64_t first, int64_t last, int64_t tiles,
                       float* scratch);

struct TilePlace {
  int64_t image, y, x;  // in the output
};
// Blocks of outputs first..last - 1 of a group, of the tile that is number `i` in scratch.
void winograd_finish(const WinogradTiles& w, const BlockedConv& c, int64_t group, const TilePlace& p, int64_t i,
                     int64_t first, int64_t last, float* scratch);

// Panels of transformed weights: [group][point][panel][input channel][filter of the panel].
int64_t winograd_form_size(const BlockedConv& c, int64_t tile);
void winograd_pack_form(const BlockedConv& c, int64_t tile, const std::byte* from, float* to);

// First layers with stride 2 by their phases: the even and the odd rows and columns of a channel are four channels of a
// convolution of 4x4 with stride 1.
bool goes_by_phases(const BlockedConv& c);
int64_t phases_packed_size(const BlockedConv& c);
void phases_pack(const BlockedConv& c, const std::byte* from, float* to);
int64_t phases_items(const BlockedConv& c);
int64_t phases_scratch(const BlockedConv& c);
void phases_run(const BlockedConv& c, int64_t first, int64_t last, float* scratch);

}  // namespace anyshape::simd
