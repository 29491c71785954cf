#include <algorithm>
#include <cstring>
#include <vector>

#include "run/cpu/simd/blocked_winograd.h"

// First layers of 7x7 or 8x8 with stride 2. Place (y, x) of phase (py, px) of a channel is its entry (2y + py, 2x +
// px), counted from where the first window begins: the convolution is one of 4x4 with stride 1 over four times the
// channels, Winograd's way in tiles of 3x3.
namespace anyshape::simd {
namespace {

constexpr int64_t kTile = 3, kTaps = 4, kPhases = 4;
constexpr int64_t kMostChannels = 4;  // of the input
constexpr int64_t kFewestFilters = 16;
constexpr int64_t kBands = 8;  // of an image: so many are shared evenly

struct Phases : WinogradTiles {
  const BlockedConv& c;
  int64_t down, across;  // tiles of an image
  int64_t band, bands;   // rows of tiles of an item, items of an image
  int64_t height, row;   // of the phases of an item; floats of a row of them

  explicit Phases(const BlockedConv& conv) : WinogradTiles(conv.out_channels), c(conv) {
    lanes = block_lanes();
    tile = kTile;
    depth = kPhases * c.in_channels;
    in_blocks = ceil_of(depth, lanes);
    down = ceil_of(c.out_height, kTile);
    across = ceil_of(c.out_width, kTile);
    band = std::max<int64_t>(ceil_of(down, kBands), 1);
    bands = ceil_of(down, band);
    height = kTile * band + kTaps - 1;
    row = (kTile * across + kTaps - 1) * lanes;
    at_once = ceil_of(across, std::max<int64_t>(ceil_of(across, 2 * winograd_rows()), 1));
    width = std::min<int64_t>(panels.width, 2);
    set_steps(panels.blocks);
  }
  int64_t phase_floats() const { return in_blocks * height * row; }
};

// A row of the phases of a channel, from two rows of its entries; null: there are only zeros.
void split_row(const Phases& p, const float* even, const float* odd, float* to) {
  const BlockedConv& c = p.c;
  const int64_t places = p.row / p.lanes, left = c.pad_left;
  const bool both = even && odd;
  const int64_t first = both ? std::min(places, ceil_of(left, 2)) : places;
  const int64_t end = std::clamp((c.in_width + left) / 2, first, places);
  const auto entry = [&](const float* row, int64_t x) { return row && x >= 0 && x < c.in_width ? row[x] : 0.0f; };
  const auto edge = [&](int64_t s) {
    const int64_t x = 2 * s - left;
    const float place[kPhases] = {entry(even, x), entry(even, x + 1), entry(odd, x), entry(odd, x + 1)};
    std::memcpy(to + s * p.lanes, place, sizeof place);
  };
  for (int64_t s = 0; s < first; ++s) edge(s);
  for (int64_t s = first; s < end; ++s) {
    std::memcpy(to + s * p.lanes, even + 2 * s - left, 2 * sizeof(float));
    std::memcpy(to + s * p.lanes + 2, odd + 2 * s - left, 2 * sizeof(float));
  }
  for (int64_t s = end; s < places; ++s) edge(s);
}

// The phases that the rows of tiles from `tile_row` on read; those of a channel lie side by side.
void split(const Phases& p, int64_t image, int64_t tile_row, float* to) {
  const BlockedConv& c = p.c;
  for (int64_t channel = 0; channel < c.in_channels; ++channel) {
    const float* plane = c.in + (image * c.in_channels + channel) * c.in_height * c.in_width;
    const auto row_at = [&](int64_t y) { return y >= 0 && y < c.in_height ? plane + y * c.in_width : nullptr; };
    const int64_t lane = channel * kPhases;
    float* row = to + lane / p.lanes * p.height * p.row + lane % p.lanes;
    int64_t y = 2 * kTile * tile_row - c.pad_top;
    for (int64_t r = 0; r < p.height; ++r, y += 2, row += p.row) split_row(p, row_at(y), row_at(y + 1), row);
  }
}

// Tiles x0..x1 - 1 of one row of them; the phases begin at row `top` of tiles.
void run_tiles(const Phases& p, int64_t image, int64_t top, int64_t y, int64_t x0, int64_t x1, const float* phases,
               float* scratch) {
  WinogradIn t;
  t.in = phases;
  t.blocks = p.in_blocks;
  t.height = p.height, t.width = p.row / p.lanes;
  t.y = kTile * (y - top);
  t.point_step = p.in_step;
  for (int64_t x = x0; x < x1; ++x) {
    t.x = kTile * x;
    t.out = scratch + (x - x0) * p.in_blocks * p.lanes;
    winograd_in(kTile, t);
  }
  winograd_multiply(p, p.c.weights, 0, p.panels.blocks, x1 - x0, scratch);
  for (int64_t x = x0; x < x1; ++x)
    winograd_finish(p, p.c, 0, {image, kTile * y, kTile * x}, x - x0, 0, p.panels.blocks, scratch);
}

BlockedConv over_phases(const BlockedConv& c) {
  BlockedConv out = c;
  out.in_channels = kPhases * c.in_channels;
  return out;
}

}  // namespace

bool goes_by_phases(const BlockedConv& c) {
  const auto suits = [](int64_t kernel) { return kernel > 2 * (kTaps - 1) && kernel <= 2 * kTaps; };
  return c.plain_input && !c.exact && c.stride_y == 2 && c.stride_x == 2 && c.dilation_y == 1 && c.dilation_x == 1 &&
         suits(c.kernel_height) && suits(c.kernel_width) && c.in_channels <= kMostChannels &&
         c.out_channels >= kFewestFilters && block_lanes() >= kPhases;
}

int64_t phases_packed_size(const BlockedConv& c) { return winograd_form_size(over_phases(c), kTile); }

void phases_pack(const BlockedConv& c, const std::byte* from, float* to) {
  constexpr int64_t kPadded = 2 * kTaps;
  const int64_t filters = c.out_channels * c.in_channels, area = c.kernel_height * c.kernel_width;
  std::vector<float> phases(static_cast<size_t>(filters * kPadded * kPadded));
  for (int64_t f = 0; f < filters; ++f)
    for (int64_t y = 0; y < c.kernel_height; ++y)
      for (int64_t x = 0; x < c.kernel_width; ++x) {
        const int64_t phase = f * kPhases + y % 2 * 2 + x % 2, tap = y / 2 * kTaps + x / 2;
        phases[static_cast<size_t>(phase * kTaps * kTaps + tap)] = read_float(from, f * area + y * c.kernel_width + x);
      }
  winograd_pack_form(over_phases(c), kTile, reinterpret_cast<const std::byte*>(phases.data()), to);
}

int64_t phases_items(const BlockedConv& c) { return c.batch * Phases(c).bands; }

int64_t phases_scratch(const BlockedConv& c) {
  const Phases p(c);
  return p.phase_floats() + p.scratch();
}

void phases_run(const BlockedConv& c, int64_t first, int64_t last, float* scratch) {
  const Phases p(c);
  float* tiles = scratch + p.phase_floats();
  for (int64_t i = first; i < last; ++i) {
    const int64_t image = i / p.bands, top = i % p.bands * p.band;
    split(p, image, top, scratch);
    for (int64_t y = top; y < std::min(p.down, top + p.band); ++y)
      for (int64_t x = 0; x < p.across; x += p.at_once)
        run_tiles(p, image, top, y, x, std::min(p.across, x + p.at_once), scratch, tiles);
  }
}

}  // namespace anyshape::simd
