#include "run/cpu/simd/blocked_winograd.h"

#include <algorithm>
#include <array>
#include <limits>

namespace anyshape::simd {
namespace {

constexpr int64_t kEnough = 32;        // so many are enough for any number of threads
constexpr int64_t kFewest = 16;        // channels: with less of them the transforms cost more than is saved
constexpr int64_t kRunChannels = 256;  // that are added in a row
// Bytes of transformed weights: more of them take longer to read than the larger tile saves.
constexpr int64_t kMostOfFour = int64_t{9} << 20, kMostOfTwo = int64_t{24} << 20;
// Between these a single tile of 4x4 takes longer than four of 2x2: both forms are there.
constexpr int64_t kLeastOfBoth = int64_t{1} << 20, kMostOfBoth = int64_t{4} << 20;
constexpr int64_t kChannelsInCache = 1 << 15;  // inputs times outputs

// A number of each of some filters that are transformed together.
constexpr size_t kTogether = 16;
using Filters = std::array<double, kTogether>;

int64_t points_of(int64_t tile) { return (tile + 2) * (tile + 2); }

int64_t transformed_bytes(const BlockedConv& c, int64_t tile) {
  return c.groups * c.in_channels * c.out_channels * points_of(tile) * static_cast<int64_t>(sizeof(float));
}

// The size of the tiles that the weights are transformed for in any case, 0: none.
int64_t form_of(const BlockedConv& c) {
  const bool takes = c.kernel_height == 3 && c.kernel_width == 3 && c.stride_y == 1 && c.stride_x == 1 &&
                     c.dilation_y == 1 && c.dilation_x == 1 && !c.plain_input && !c.exact;
  if (!takes || std::min(c.in_channels, c.out_channels) < kFewest) return 0;
  return transformed_bytes(c, 4) <= kMostOfFour ? 4 : transformed_bytes(c, 2) <= kMostOfTwo ? 2 : 0;
}

bool has_both(const BlockedConv& c) {
  const int64_t bytes = transformed_bytes(c, 4);
  return form_of(c) == 4 && bytes > kLeastOfBoth && bytes <= kMostOfBoth;
}

int64_t packed_form(const BlockedConv& c, int64_t tile) {
  return c.groups * points_of(tile) * Panels(c.out_channels).blocks * block_lanes() * c.in_channels;
}

struct Winograd {
  const BlockedConv& c;
  Panels panels;
  const float* weights;
  int64_t lanes, tile, points, in_blocks;
  int64_t down, across, tiles;  // tiles of an image; all of them
  int64_t at_once, sets;        // tiles that are worked on together; sets of them
  int64_t parts, part;          // of the panels; panels of a part
  int64_t in_step, out_step;    // from one point to the next in scratch

  explicit Winograd(const BlockedConv& conv);
  int64_t first_tile(int64_t set) const { return set * tiles / sets; }
};

Winograd::Winograd(const BlockedConv& conv) : c(conv), panels(conv.out_channels) {
  lanes = block_lanes();
  tile = winograd_tile(c);
  weights = c.weights + (tile == form_of(c) ? 0 : packed_form(c, form_of(c)));
  points = points_of(tile);
  in_blocks = ceil_of(c.in_channels, lanes);
  down = ceil_of(c.out_height, tile);
  across = ceil_of(c.out_width, tile);
  tiles = c.batch * down * across;
  // Weights that do not stay in the cache are worth more tiles at a time.
  const bool twice = panels.width < 4 || c.in_channels * c.out_channels > kChannelsInCache;
  const int64_t rows = panels.width == 4 ? 6 : 12;
  sets = ceil_of(tiles, twice ? 2 * rows : rows);
  at_once = sets == 0 ? 0 : ceil_of(tiles, sets);
  parts = std::min(panels.count, ceil_of(kEnough, std::max<int64_t>(sets * c.groups, 1)));
  part = parts == 0 ? 0 : ceil_of(panels.count, parts);
  parts = part == 0 ? 0 : ceil_of(panels.count, part);
  // A vector more, as points that lie a power of two apart fall on each other in the cache.
  in_step = (at_once * in_blocks + 1) * lanes;
  out_step = (at_once * part * panels.width + 1) * lanes;
}

struct TilePlace {
  int64_t image, y, x;  // in the output
};
TilePlace place_of(const Winograd& w, int64_t tile) {
  const int64_t inner = tile % (w.down * w.across);
  return {tile / (w.down * w.across), inner / w.across * w.tile, inner % w.across * w.tile};
}

void transform_inputs(const Winograd& w, int64_t group, int64_t first, int64_t last, float* to) {
  const BlockedConv& c = w.c;
  WinogradIn t;
  t.blocks = w.in_blocks;
  t.height = c.in_height, t.width = c.in_width;
  t.point_step = w.in_step;
  for (int64_t i = first; i < last; ++i) {
    const TilePlace p = place_of(w, i);
    t.in = c.in + (p.image * c.groups + group) * w.in_blocks * c.in_height * c.in_width * w.lanes;
    t.y = p.y - c.pad_top, t.x = p.x - c.pad_left;
    t.out = to + (i - first) * w.in_blocks * w.lanes;
    winograd_in(w.tile, t);
  }
}

// In runs of kRunChannels channels.
void sum_channels(PlaceSums s, int64_t depth, int64_t lanes) {
  for (int64_t k = 0; k < depth; k += kRunChannels) {
    s.run = s.last_run = std::min(kRunChannels, depth - k);
    sum_places(s);
    s.residual = s.out;
    s.in += s.run;
    s.weights += s.run * s.vectors * lanes;
  }
}

void multiply_points(const Winograd& w, int64_t group, int64_t first_panel, int64_t last_panel, int64_t tiles,
                     const float* from, float* to) {
  const int64_t depth = w.c.in_channels, block = w.lanes * depth;
  PlaceSums s;
  s.places = tiles;
  s.blocks = 1;
  s.place_step = w.in_blocks * w.lanes;
  s.out_step = w.at_once * w.lanes;
  s.out_place_step = w.lanes;
  s.low = -std::numeric_limits<float>::infinity();
  s.high = std::numeric_limits<float>::infinity();
  for (int64_t point = 0; point < w.points; ++point) {
    const float* weights = w.weights + (group * w.points + point) * w.panels.blocks * block;
    s.in = from + point * w.in_step;
    for (int64_t panel = first_panel; panel < last_panel; ++panel) {
      s.vectors = w.panels.vectors(panel);
      s.weights = weights + panel * w.panels.width * block;
      s.out = to + point * w.out_step + (panel - first_panel) * w.panels.width * s.out_step;
      sum_channels(s, depth, w.lanes);
    }
  }
}

// Blocks of output channels first..last - 1 of a group.
void transform_outputs(const Winograd& w, int64_t group, int64_t first_tile, int64_t last_tile, int64_t first,
                       int64_t last, const float* from) {
  const BlockedConv& c = w.c;
  const Limits limits = limits_of(c.activation);
  WinogradOut t;
  t.point_step = w.out_step;
  t.row_step = c.out_width * w.lanes;
  t.low = limits.low, t.high = limits.high;
  for (int64_t i = first_tile; i < last_tile; ++i) {
    const TilePlace p = place_of(w, i);
    t.rows = std::min(w.tile, c.out_height - p.y), t.columns = std::min(w.tile, c.out_width - p.x);
    for (int64_t block = first; block < last; ++block) {
      const int64_t plane = (p.image * c.groups + group) * w.panels.blocks + block;
      const int64_t at = ((plane * c.out_height + p.y) * c.out_width + p.x) * w.lanes;
      t.in = from + ((block - first) * w.at_once + i - first_tile) * w.lanes;
      t.out = c.out + at;
      t.residual = c.residual ? c.residual + at : nullptr;
      if (c.bias) {
        t.bias = c.bias + group * c.out_channels + block * w.lanes;
        t.biases = c.out_channels - block * w.lanes;
      }
      winograd_out(w.tile, t);
      if (!limits.complete) activate(c.activation, t.out, t.rows, t.columns * w.lanes, t.row_step);
    }
  }
}

// Along one axis, from 3 weights to tile + 2 points.
void transform_weights(int64_t tile, const Filters* g, int64_t step, Filters* u) {
  const Filters &a = g[0], &b = g[step], &c = g[2 * step];
  if (tile == 2) {
    for (size_t k = 0; k < kTogether; ++k) {
      u[0][k] = a[k];
      u[1][k] = (a[k] + b[k] + c[k]) / 2;
      u[2][k] = (a[k] - b[k] + c[k]) / 2;
      u[3][k] = c[k];
    }
    return;
  }
  for (size_t k = 0; k < kTogether; ++k) {
    u[0][k] = a[k] / 4;
    u[1][k] = -(a[k] + b[k] + c[k]) / 6;
    u[2][k] = -(a[k] - b[k] + c[k]) / 6;
    u[3][k] = (a[k] + 2 * b[k] + 4 * c[k]) / 24;
    u[4][k] = (a[k] - 2 * b[k] + 4 * c[k]) / 24;
    u[5][k] = c[k];
  }
}

// The points of neighbouring filters at one channel, `step` floats apart; filters of the file are `apart` matrices
// apart.
void pack_filters(int64_t tile, const std::byte* from, int64_t index, int64_t apart, int64_t count, int64_t step,
                  float* to) {
  Filters g[9] = {}, columns[3 * 6], point[6];
  for (int64_t k = 0; k < count; ++k)
    for (int64_t i = 0; i < 9; ++i)
      g[i][static_cast<size_t>(k)] = static_cast<double>(read_float(from, (index + k * apart) * 9 + i));
  for (int64_t x = 0; x < 3; ++x) transform_weights(tile, g + x, 3, columns + x * 6);
  for (int64_t y = 0; y < tile + 2; ++y) {
    transform_weights(tile, columns + y, 6, point);
    for (int64_t x = 0; x < tile + 2; ++x, to += step)
      for (int64_t k = 0; k < count; ++k) to[k] = static_cast<float>(point[x][static_cast<size_t>(k)]);
  }
}

// [group][point][panel][input channel][filter of the panel]
void pack_form(const BlockedConv& c, int64_t tile, const std::byte* from, float* to) {
  const Panels panels(c.out_channels);
  const int64_t lanes = block_lanes(), step = panels.blocks * lanes * c.in_channels;
  std::fill_n(to, packed_form(c, tile), 0.0f);
  for (int64_t group = 0; group < c.groups; ++group, to += points_of(tile) * step)
    for (int64_t o = 0, count; o < c.out_channels; o += count) {
      const int64_t panel = o / (panels.width * lanes), base = panel * panels.width * lanes;
      const int64_t end = std::min(c.out_channels, base + panels.width * lanes);
      count = std::min(static_cast<int64_t>(kTogether), end - o);
      float* column = to + base * c.in_channels + (o - base);
      for (int64_t i = 0; i < c.in_channels; ++i, column += panels.vectors(panel) * lanes)
        pack_filters(tile, from, (group * c.out_channels + o) * c.in_channels + i, c.in_channels, count, step, column);
    }
}

}  // namespace

int64_t winograd_tile(const BlockedConv& c) {
  const bool single = c.batch == 1 && c.out_height <= 4 && c.out_width <= 4;
  return single && has_both(c) ? 2 : form_of(c);
}

int64_t winograd_packed_size(const BlockedConv& c) {
  return packed_form(c, form_of(c)) + (has_both(c) ? packed_form(c, 2) : 0);
}

void winograd_pack(const BlockedConv& c, const std::byte* from, float* to) {
  pack_form(c, form_of(c), from, to);
  if (has_both(c)) pack_form(c, 2, from, to + packed_form(c, 4));
}

int64_t winograd_items(const BlockedConv& c) {
  const Winograd w(c);
  return c.groups * w.sets * w.parts;
}

int64_t winograd_scratch(const BlockedConv& c) {
  const Winograd w(c);
  return w.points * (w.in_step + w.out_step);
}

void winograd_run(const BlockedConv& c, int64_t first, int64_t last, float* scratch) {
  const Winograd w(c);
  float* sums = scratch + w.points * w.in_step;
  int64_t transformed = -1;  // the inputs that are in scratch: neighbouring items share them
  for (int64_t i = first; i < last; ++i) {
    const int64_t part = i % w.parts, inputs = i / w.parts, set = inputs % w.sets, group = inputs / w.sets;
    const int64_t t0 = w.first_tile(set), t1 = w.first_tile(set + 1);
    const int64_t p0 = part * w.part, p1 = std::min(w.panels.count, p0 + w.part);
    if (transformed != inputs) transform_inputs(w, group, t0, t1, scratch);
    transformed = inputs;
    multiply_points(w, group, p0, p1, t1 - t0, scratch, sums);
    transform_outputs(w, group, t0, t1, p0 * w.panels.width, std::min(w.panels.blocks, p1 * w.panels.width), sums);
  }
}

}  // namespace anyshape::simd
