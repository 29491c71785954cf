#include <algorithm>
#include <limits>

#include "run/cpu/simd/blocked_parts.h"

// Transposed convolutions without overlap: for each place of the window a product as of a pointwise convolution, whose
// places are written as far apart as the stride says.
namespace anyshape::simd {
namespace {

constexpr int64_t kRun = 576;           // products that are added in a row
constexpr int64_t kItemWork = 1 << 18;  // products of an item at least, where there are so many

struct Transposed {
  const BlockedTransposed& c;
  Panels panels;
  int64_t lanes, in_blocks, phases;
  int64_t rows, bands;  // rows of the input of an item; bands of rows

  explicit Transposed(const BlockedTransposed& conv) : c(conv), panels(conv.out_channels) {
    lanes = block_lanes();
    in_blocks = ceil_of(c.in_channels, lanes);
    phases = c.stride_y * c.stride_x;
    const int64_t row = std::max<int64_t>(c.in_width * c.in_channels * panels.width * lanes, 1);
    rows = std::clamp<int64_t>(kItemWork / row, 1, std::max<int64_t>(c.in_height, 1));
    bands = ceil_of(c.in_height, rows);
  }
};

// Products of some blocks of the input for the rows y0..y1 - 1; `in` and `out` are at the first row of all.
void sum_rows(const Transposed& t, PlaceSums s, int64_t y0, int64_t y1) {
  const int64_t in_row = t.c.in_width * t.lanes, out_row = t.c.stride_y * t.c.stride_x * in_row;
  s.in += y0 * in_row;
  s.out += y0 * out_row;
  if (s.residual) s.residual = s.out;
  for (int64_t y = y0; y < y1; ++y) {
    sum_places(s);
    s.in += in_row;
    s.out += out_row;
    if (s.residual) s.residual = s.out;
  }
}

void run_item(const Transposed& t, int64_t item) {
  const BlockedTransposed& c = t.c;
  const int64_t panel = item % t.panels.count, phase = item / t.panels.count % t.phases;
  const int64_t region = item / (t.panels.count * t.phases), image = region / t.bands;
  const int64_t y0 = region % t.bands * t.rows, y1 = std::min(c.in_height, y0 + t.rows);
  const int64_t plane = c.in_height * c.in_width * t.lanes, block = panel * t.panels.width;
  PlaceSums s;
  s.places = c.in_width;
  s.vectors = t.panels.vectors(panel);
  s.weight_step = s.vectors * t.lanes;
  s.in = c.in + image * t.in_blocks * plane;
  s.run = s.place_step = t.lanes;
  s.block_step = plane;
  s.weights = c.weights + (phase * t.panels.blocks + block) * t.lanes * c.in_channels;
  s.out_step = t.phases * plane;
  s.out_place_step = c.stride_x * t.lanes;
  s.out = c.out + (image * t.panels.blocks + block) * s.out_step +
          (phase / c.stride_x * c.in_width * c.stride_x + phase % c.stride_x) * t.lanes;
  s.bias = c.bias ? c.bias + block * t.lanes : nullptr;
  s.biases = c.out_channels - block * t.lanes;
  s.low = -std::numeric_limits<float>::infinity();
  s.high = std::numeric_limits<float>::infinity();
  const int64_t chunk = std::max<int64_t>(kRun / t.lanes, 1);
  for (int64_t first = 0; first == 0 || first < t.in_blocks; first += chunk) {
    s.blocks = std::min(chunk, t.in_blocks - first);
    s.last_run = std::min(t.lanes, c.in_channels - (first + s.blocks - 1) * t.lanes);
    sum_rows(t, s, y0, y1);
    s.bias = nullptr;
    s.residual = s.out;
    s.in += chunk * plane;
    s.weights += chunk * t.lanes * s.vectors * t.lanes;
  }
}

}  // namespace

int64_t blocked_transposed_packed_size(const BlockedTransposed& c) {
  return c.stride_y * c.stride_x * ceil_of(c.out_channels, block_lanes()) * block_lanes() * c.in_channels;
}

// [place of the window][panel][input channel][filter of the panel]
void blocked_transposed_pack(const BlockedTransposed& c, const std::byte* from, float* to) {
  const Transposed t(c);
  for (int64_t phase = 0; phase < t.phases; ++phase)
    for (int64_t panel = 0; panel < t.panels.count; ++panel) {
      const int64_t base = panel * t.panels.width * t.lanes, wide = t.panels.vectors(panel) * t.lanes;
      for (int64_t i = 0; i < c.in_channels; ++i)
        for (int64_t o = base; o < base + wide; ++o)
          *to++ = o < c.out_channels ? read_float(from, (i * c.out_channels + o) * t.phases + phase) : 0.0f;
    }
}

int64_t blocked_transposed_items(const BlockedTransposed& c) {
  const Transposed t(c);
  return c.in_width == 0 ? 0 : c.batch * t.bands * t.phases * t.panels.count;
}

void blocked_transposed_run(const BlockedTransposed& c, int64_t first, int64_t last) {
  const Transposed t(c);
  for (int64_t i = first; i < last; ++i) run_item(t, i);
}

}  // namespace anyshape::simd
