#include "run/cpu/simd/blocked_winograd.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace anyshape::simd {
namespace {

constexpr int64_t kEnough = 4;         // items: more of them would only transform the same inputs more often
constexpr int64_t kFewest = 16;        // channels: with less of them the transforms cost more than is saved
constexpr int64_t kRunChannels = 256;  // that are added in a row
// Bytes of transformed weights: more of them take longer to read than the larger tile saves.
constexpr int64_t kMostOfFour = int64_t{9} << 20, kMostOfTwo = int64_t{24} << 20;
// Between these a single tile of 4x4 takes longer than four of 2x2: both forms are there.
constexpr int64_t kLeastOfBoth = int64_t{1} << 20, kMostOfBoth = int64_t{4} << 20;
constexpr int64_t kChannelsInCache = 1 << 13;  // inputs times outputs
constexpr int64_t kTransformed = 1 << 12;      // inputs times tiles: what stays in the cache at all points

int64_t transformed_bytes(const BlockedConv& c, int64_t tile) {
  return c.groups * c.in_channels * c.out_channels * points_of_tile(tile) * static_cast<int64_t>(sizeof(float));
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

// Tiles are cut into sets of `least` to `most`. Threads share evenly what comes in eights.
int64_t sets_of(int64_t tiles, int64_t most, int64_t least) {
  const int64_t sets = ceil_of(tiles, most);
  for (const int64_t even : {8, 4, 2})
    if (const int64_t more = ceil_of(sets, even) * even; more * least <= tiles) return more;
  return sets;
}

struct Winograd : WinogradTiles {
  const BlockedConv& c;
  const float* weights;
  int64_t down, across, tiles;  // tiles of an image; all of them
  int64_t sets;                 // of tiles that are worked on together
  int64_t parts, part;          // of the blocks of outputs; blocks of a part

  explicit Winograd(const BlockedConv& conv);
  int64_t first_tile(int64_t set) const { return set * tiles / sets; }
  int64_t group_weights() const { return points() * panels.blocks * lanes * depth; }
};

Winograd::Winograd(const BlockedConv& conv) : WinogradTiles(conv.out_channels), c(conv) {
  lanes = block_lanes();
  tile = winograd_tile(c);
  weights = c.weights + (tile == form_of(c) ? 0 : winograd_form_size(c, form_of(c)));
  depth = c.in_channels;
  in_blocks = ceil_of(depth, lanes);
  down = ceil_of(c.out_height, tile);
  across = ceil_of(c.out_width, tile);
  tiles = c.batch * down * across;
  const int64_t rows = winograd_rows(), enough_rows = rows * 2 / 3;  // with less of them sums wait for each other
  // Weights that do not stay in the cache are worth more tiles at a time.
  const bool far = depth * c.out_channels > kChannelsInCache;
  const int64_t most = std::clamp(kTransformed / depth, enough_rows, (far ? 4 : 2) * rows);
  sets = sets_of(tiles, most, (far ? 2 : 1) * enough_rows);
  at_once = sets == 0 ? 0 : ceil_of(tiles, sets);
  const int64_t inputs = std::max<int64_t>(sets * c.groups, 1);
  width = at_once >= enough_rows ? std::min<int64_t>(panels.width, 2) : panels.width;
  if (width > 1 && inputs * ceil_of(panels.blocks, width) == 1) width /= 2;
  const int64_t pieces = ceil_of(panels.blocks, width);
  part = width * ceil_of(pieces, std::min(pieces, ceil_of(kEnough, inputs)));
  parts = ceil_of(panels.blocks, part);
  set_steps(part);
}

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

// Blocks of outputs first..last - 1, all of one panel, at all points; in runs of kRunChannels channels.
void multiply_blocks(const WinogradTiles& w, const float* weights, int64_t first, int64_t last, int64_t tiles,
                     const float* from, float* to) {
  const int64_t panel = first / w.panels.width, base = panel * w.panels.width;
  PlaceSums s;
  s.places = tiles;
  s.vectors = last - first;
  s.in = from;
  s.blocks = 1;
  s.place_step = w.in_blocks * w.lanes;
  s.weights = weights + base * w.lanes * w.depth + (first - base) * w.lanes;
  s.weight_step = w.panels.vectors(panel) * w.lanes;
  s.out = to;
  s.out_step = w.at_once * w.lanes;
  s.out_place_step = w.lanes;
  s.low = -std::numeric_limits<float>::infinity();
  s.high = std::numeric_limits<float>::infinity();
  s.times = w.points();
  s.next_in = w.in_step;
  s.next_weights = w.panels.blocks * w.lanes * w.depth;
  s.next_out = w.out_step;
  for (int64_t k = 0; k < w.depth; k += kRunChannels) {
    s.run = s.last_run = std::min(kRunChannels, w.depth - k);
    sum_places(s);
    s.residual = s.out;
    s.in += s.run;
    s.weights += s.run * s.weight_step;
  }
}

class Packing {
 public:
  Packing(const BlockedConv& conv, int64_t tile)
      : c_(conv), panels_(conv.out_channels), tile_(tile), lanes_(block_lanes()) {
    block_.resize(static_cast<size_t>(points_of_tile(tile_) * block_step()));
  }

  void run(const std::byte* from, float* to) {
    for (int64_t group = 0; group < c_.groups; ++group, to += points_of_tile(tile_) * point_step())
      for (int64_t panel = 0; panel < panels_.count; ++panel)
        for (int64_t channel = 0; channel < c_.in_channels; channel += kTogether) pack(from, group, panel, channel, to);
  }

 private:
  static constexpr int64_t kTogether = 8;  // channels: written one point after the other, in runs that are long enough

  int64_t kernel_size() const { return kernel_of_tile(tile_) * kernel_of_tile(tile_); }
  int64_t point_step() const { return panels_.blocks * lanes_ * c_.in_channels; }
  // A vector more, see set_steps.
  int64_t block_step() const { return (kTogether * panels_.width + 1) * lanes_; }

  void pack(const std::byte* from, int64_t group, int64_t panel, int64_t channel, float* to) {
    const int64_t base = panel * panels_.width, wide = panels_.vectors(panel) * lanes_;
    WinogradFilters t;
    t.channels = std::min(kTogether, c_.in_channels - channel);
    t.filter_step = kernel_size() * c_.in_channels;
    t.point_step = block_step(), t.channel_step = wide;
    for (int64_t v = 0; v < panels_.vectors(panel); ++v) {
      const int64_t filter = (base + v) * lanes_,
                    matrix = (group * c_.out_channels + filter) * c_.in_channels + channel;
      t.from = from + matrix * kernel_size() * static_cast<int64_t>(sizeof(float));
      t.count = std::min(lanes_, c_.out_channels - filter);
      t.out = block_.data() + v * lanes_;
      winograd_filters(tile_, t);
    }
    to += base * lanes_ * c_.in_channels + channel * wide;
    for (int64_t point = 0; point < points_of_tile(tile_); ++point)
      std::copy_n(block_.data() + point * block_step(), t.channels * wide, to + point * point_step());
  }

  const BlockedConv& c_;
  Panels panels_;
  int64_t tile_, lanes_;
  std::vector<float> block_;
};

}  // namespace

void WinogradTiles::set_steps(int64_t part) {
  // A vector more, as points that lie a power of two apart fall on each other in the cache.
  in_step = (at_once * in_blocks + 1) * lanes;
  out_step = (at_once * part + 1) * lanes;
}

int64_t winograd_rows() { return most_vectors() == 4 ? 12 : 6; }

void winograd_multiply(const WinogradTiles& w, const float* weights, int64_t first, int64_t last, int64_t tiles,
                       float* scratch) {
  float* to = w.products(scratch);
  for (int64_t b = first; b < last; b += w.width, to += w.width * w.at_once * w.lanes)
    multiply_blocks(w, weights, b, std::min(last, b + w.width), tiles, scratch, to);
}

void winograd_finish(const WinogradTiles& w, const BlockedConv& c, int64_t group, const TilePlace& p, int64_t i,
                     int64_t first, int64_t last, float* scratch) {
  const Limits limits = limits_of(c.activation);
  WinogradOut t;
  t.point_step = w.out_step;
  t.row_step = c.out_width * w.lanes;
  t.low = limits.low, t.high = limits.high;
  t.rows = std::min(w.tile, c.out_height - p.y), t.columns = std::min(w.tile, c.out_width - p.x);
  for (int64_t block = first; block < last; ++block) {
    const int64_t plane = (p.image * c.groups + group) * w.panels.blocks + block;
    const int64_t at = ((plane * c.out_height + p.y) * c.out_width + p.x) * w.lanes;
    t.in = w.products(scratch) + ((block - first) * w.at_once + i) * w.lanes;
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

int64_t winograd_form_size(const BlockedConv& c, int64_t tile) {
  return c.groups * points_of_tile(tile) * Panels(c.out_channels).blocks * block_lanes() * c.in_channels;
}

void winograd_pack_form(const BlockedConv& c, int64_t tile, const std::byte* from, float* to) {
  Packing(c, tile).run(from, to);
}

int64_t winograd_tile(const BlockedConv& c) {
  if (goes_by_phases(c)) return 3;
  const bool single = c.batch == 1 && c.out_height <= 4 && c.out_width <= 4;
  return single && has_both(c) ? 2 : form_of(c);
}

int64_t winograd_packed_size(const BlockedConv& c) {
  if (goes_by_phases(c)) return phases_packed_size(c);
  return winograd_form_size(c, form_of(c)) + (has_both(c) ? winograd_form_size(c, 2) : 0);
}

void winograd_pack(const BlockedConv& c, const std::byte* from, float* to) {
  if (goes_by_phases(c)) return phases_pack(c, from, to);
  winograd_pack_form(c, form_of(c), from, to);
  if (has_both(c)) winograd_pack_form(c, 2, from, to + winograd_form_size(c, 4));
}

int64_t winograd_items(const BlockedConv& c) {
  if (goes_by_phases(c)) return phases_items(c);
  const Winograd w(c);
  return c.groups * w.sets * w.parts;
}

int64_t winograd_scratch(const BlockedConv& c) { return goes_by_phases(c) ? phases_scratch(c) : Winograd(c).scratch(); }

void winograd_run(const BlockedConv& c, int64_t first, int64_t last, float* scratch) {
  if (goes_by_phases(c)) return phases_run(c, first, last, scratch);
  const Winograd w(c);
  int64_t transformed = -1;  // the inputs that are in scratch: neighbouring items share them
  for (int64_t i = first; i < last; ++i) {
    const int64_t part = i % w.parts, inputs = i / w.parts, set = inputs % w.sets, group = inputs / w.sets;
    const int64_t t0 = w.first_tile(set), t1 = w.first_tile(set + 1);
    const int64_t b0 = part * w.part, b1 = std::min(w.panels.blocks, b0 + w.part);
    if (transformed != inputs) transform_inputs(w, group, t0, t1, scratch);
    transformed = inputs;
    winograd_multiply(w, w.weights + group * w.group_weights(), b0, b1, t1 - t0, scratch);
    for (int64_t t = t0; t < t1; ++t) winograd_finish(w, c, group, place_of(w, t), t - t0, b0, b1, scratch);
  }
}

}  // namespace anyshape::simd
