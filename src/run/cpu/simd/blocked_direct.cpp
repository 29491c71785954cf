#include <algorithm>
#include <cstring>
#include <limits>

#include "run/cpu/simd/blocked_parts.h"

// The direct way: sums over the window, a row of places and a panel of filters at a time. What reaches over the edge of
// the input reads a copy with zeros around it.
namespace anyshape::simd {
namespace {

constexpr int64_t kRun = 576;             // products that are added in a row where blocks are that small
constexpr int64_t kSpan = 192;            // places of a row of an item at most
constexpr int64_t kItemWork = 1 << 18;    // products of an item at least, where there are so many
constexpr int64_t kItems = 64;            // so many are enough for any number of threads
constexpr int64_t kCopyFloats = 1 << 16;  // of the copy, where more than one row is in it
constexpr int64_t kWeightsInCache = 1 << 17;

struct Direct {
  BlockedConv c;
  Panels panels;
  int64_t lanes, unit;             // unit: floats of the input from one place to the next
  int64_t in_blocks, chunk;        // blocks of the input, and those that are summed in a row
  int64_t rows, bands;             // of an item; bands of rows
  int64_t span, spans;             // places of a row of an item; spans of a row
  bool padded, apart, panel_last;  // apart: the copy has rows of its own for each row of the output

  explicit Direct(const BlockedConv& given);

  int64_t copied_width() const { return (span - 1) * c.stride_x + (c.kernel_width - 1) * c.dilation_x + 1; }
  int64_t copied_rows(int64_t n) const {
    return apart ? n * c.kernel_height : (n - 1) * c.stride_y + (c.kernel_height - 1) * c.dilation_y + 1;
  }
  int64_t copied_block() const { return copied_rows(rows) * copied_width() * unit; }
  int64_t real_channels(int64_t block) const {
    return c.plain_input ? 1 : std::min(lanes, c.in_channels - block * lanes);
  }
};

bool reaches_over(const BlockedConv& c) {
  return c.pad_top != 0 || c.pad_left != 0 ||
         (c.out_height - 1) * c.stride_y + (c.kernel_height - 1) * c.dilation_y >= c.in_height ||
         (c.out_width - 1) * c.stride_x + (c.kernel_width - 1) * c.dilation_x >= c.in_width;
}

// The places of a pointwise convolution are one row.
BlockedConv flat(BlockedConv c) {
  if (is_pointwise(c) && !c.plain_input) {
    c.out_width = c.in_width = c.out_height * c.out_width;
    c.out_height = c.in_height = 1;
  }
  return c;
}

Direct::Direct(const BlockedConv& given) : c(flat(given)), panels(c.out_channels) {
  lanes = block_lanes();
  unit = c.plain_input ? 1 : lanes;
  in_blocks = c.plain_input ? c.in_channels : ceil_of(c.in_channels, lanes);
  padded = reaches_over(c);
  const int64_t area = c.kernel_height * c.kernel_width, most = std::max<int64_t>(kRun / (unit * area), 1);
  const int64_t chunks = std::max<int64_t>(ceil_of(in_blocks, most), 1);
  chunk = ceil_of(in_blocks, chunks);
  const int64_t work = std::max<int64_t>(c.in_channels * area * panels.width * lanes, 1);
  const int64_t pieces = std::max<int64_t>(c.batch * c.groups * panels.count, 1);
  const int64_t wanted = std::max(kItemWork / work, pieces * c.out_height * c.out_width / kItems);
  const int64_t most_span = c.out_height == 1 ? std::clamp<int64_t>(wanted, 12, kSpan) : kSpan;
  span = std::max<int64_t>(ceil_of(c.out_width, ceil_of(std::max<int64_t>(c.out_width, 1), most_span)), 1);
  spans = ceil_of(c.out_width, span);
  rows = std::clamp<int64_t>(wanted / span, 1, std::max<int64_t>(c.out_height, 1));
  apart = c.kernel_height * rows < (rows - 1) * c.stride_y + (c.kernel_height - 1) * c.dilation_y + 1;
  while (padded && rows > 1 && chunk * copied_block() > kCopyFloats) rows = (rows + 1) / 2;
  bands = ceil_of(c.out_height, rows);
  panel_last = c.in_channels * c.out_channels * area <= kWeightsInCache;
}

struct Item {
  int64_t image, group, y0, y1, x0, x1, panel;
};

Item item_of(const Direct& d, int64_t i) {
  Item t;
  const int64_t panels = d.panels.count, regions = d.bands * d.spans;
  const int64_t inner = i % (panels * regions);
  t.panel = d.panel_last ? inner % panels : inner / regions;
  const int64_t region = d.panel_last ? inner / panels : inner % regions;
  t.x0 = region % d.spans * d.span;
  t.x1 = std::min(d.c.out_width, t.x0 + d.span);
  t.y0 = region / d.spans * d.rows;
  t.y1 = std::min(d.c.out_height, t.y0 + d.rows);
  i /= panels * regions;
  t.group = i % d.c.groups;
  t.image = i / d.c.groups;
  return t;
}

const float* block_at(const Direct& d, const Item& t, int64_t block) {
  return d.c.in + ((t.image * d.c.groups + t.group) * d.in_blocks + block) * d.c.in_height * d.c.in_width * d.unit;
}

// One row of the input from place x on, zeros where there is none.
void copy_row(const Direct& d, const float* plane, int64_t y, int64_t x, float* to) {
  const int64_t width = d.copied_width(), unit = d.unit;
  if (y < 0 || y >= d.c.in_height) {
    std::fill_n(to, width * unit, 0.0f);
    return;
  }
  const int64_t first = std::clamp<int64_t>(-x, 0, width), last = std::clamp<int64_t>(d.c.in_width - x, first, width);
  std::fill_n(to, first * unit, 0.0f);
  if (first < last)
    std::memcpy(to + first * unit, plane + (y * d.c.in_width + x + first) * unit,
                static_cast<size_t>((last - first) * unit) * sizeof(float));
  std::fill_n(to + last * unit, (width - last) * unit, 0.0f);
}

void copy_blocks(const Direct& d, const Item& t, int64_t first, int64_t last, float* to) {
  const BlockedConv& c = d.c;
  const int64_t x = t.x0 * c.stride_x - c.pad_left, top = t.y0 * c.stride_y - c.pad_top;
  const int64_t rows = d.copied_rows(t.y1 - t.y0), row = d.copied_width() * d.unit;
  for (int64_t b = first; b < last; ++b, to += d.copied_block())
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t y = d.apart ? r / c.kernel_height * c.stride_y + r % c.kernel_height * c.dilation_y : r;
      copy_row(d, block_at(d, t, b), top + y, x, to + r * row);
    }
}

// Where the sums of an item read: the copy or the input itself.
struct Source {
  const float* at;
  int64_t line;  // from one row of the output to the next
};

Source source_of(const Direct& d, const Item& t, int64_t first, int64_t last, float* scratch, PlaceSums& s) {
  const BlockedConv& c = d.c;
  if (!d.padded) {
    const int64_t row = c.in_width * d.unit;
    s.block_step = c.in_height * row;
    s.row_step = c.dilation_y * row;
    return {block_at(d, t, first) + t.y0 * c.stride_y * row + t.x0 * c.stride_x * d.unit, c.stride_y * row};
  }
  const int64_t row = d.copied_width() * d.unit;
  copy_blocks(d, t, first, last, scratch);
  s.block_step = d.copied_block();
  s.row_step = d.apart ? row : c.dilation_y * row;
  return {scratch, d.apart ? c.kernel_height * row : c.stride_y * row};
}

// Products of the blocks first..last - 1 of the input, for all rows of the item.
void sum_chunk(const Direct& d, const Item& t, int64_t first, int64_t last, float* scratch, PlaceSums s) {
  const BlockedConv& c = d.c;
  s.blocks = last - first;
  s.run = d.unit;
  s.last_run = last > first ? d.real_channels(last - 1) : 0;
  s.rows = c.kernel_height;
  s.cells = c.kernel_width;
  s.cell_step = c.dilation_x * d.unit;
  s.place_step = c.stride_x * d.unit;
  if (c.plain_input && c.dilation_x == 1) {
    s.run = s.last_run = c.kernel_width;
    s.cells = 1;
  }
  const Source source = source_of(d, t, first, last, scratch, s);
  float* out = s.out;
  const float* residual = s.residual;
  for (int64_t y = t.y0; y < t.y1; ++y) {
    const int64_t at = (y * c.out_width + t.x0) * d.lanes;
    s.in = source.at + (y - t.y0) * source.line;
    s.out = out + at;
    s.residual = residual ? residual + at : nullptr;
    sum_places(s);
  }
}

void run_item(const Direct& d, const Item& t, float* scratch) {
  const BlockedConv& c = d.c;
  const int64_t plane = c.out_height * c.out_width * d.lanes, block = t.panel * d.panels.width;
  const int64_t area = c.kernel_height * c.kernel_width, channel = block * d.lanes;
  const int64_t at = ((t.image * c.groups + t.group) * d.panels.blocks + block) * plane;
  PlaceSums s;
  s.places = t.x1 - t.x0;
  s.vectors = d.panels.vectors(t.panel);
  s.weight_step = s.vectors * d.lanes;
  s.out = c.out + at;
  s.out_step = plane;
  s.out_place_step = d.lanes;
  s.residual = c.residual ? c.residual + at : nullptr;
  s.bias = c.bias ? c.bias + t.group * c.out_channels + channel : nullptr;
  s.biases = c.out_channels - channel;
  const Limits limits = limits_of(c.activation);
  const float* weights = c.weights + (t.group * d.panels.blocks + block) * d.lanes * c.in_channels * area;
  int64_t first = 0;
  do {
    const int64_t last = std::min(d.in_blocks, first + d.chunk);
    const bool finish = last == d.in_blocks;
    s.low = finish ? limits.low : -std::numeric_limits<float>::infinity();
    s.high = finish ? limits.high : std::numeric_limits<float>::infinity();
    s.weights = weights + first * d.unit * area * s.vectors * d.lanes;
    sum_chunk(d, t, first, last, scratch, s);
    s.bias = nullptr;
    s.residual = s.out;
    first = last;
  } while (first < d.in_blocks);
  if (limits.complete) return;
  for (int64_t y = t.y0; y < t.y1; ++y)
    activate(c.activation, s.out + (y * c.out_width + t.x0) * d.lanes, s.vectors, s.places * d.lanes, plane);
}

}  // namespace

Panels::Panels(int64_t channels) {
  blocks = ceil_of(channels, block_lanes());
  width = blocks % 4 == 0 ? most_vectors() : blocks > 1 ? 2 : 1;
  count = ceil_of(blocks, width);
}

bool is_pointwise(const BlockedConv& c) {
  return c.kernel_height == 1 && c.kernel_width == 1 && c.stride_y == 1 && c.stride_x == 1 && c.pad_top == 0 &&
         c.pad_left == 0 && c.in_height == c.out_height && c.in_width == c.out_width;
}

int64_t direct_packed_size(const BlockedConv& c) {
  return c.groups * ceil_of(c.out_channels, block_lanes()) * block_lanes() * c.in_channels * c.kernel_height *
         c.kernel_width;
}

// [group][panel][input block][ky][kx][channel of the block][filter of the panel]
void direct_pack(const BlockedConv& c, const std::byte* from, float* to) {
  const Panels panels(c.out_channels);
  const int64_t lanes = block_lanes(), unit = c.plain_input ? 1 : lanes, area = c.kernel_height * c.kernel_width;
  const auto pack_cell = [&](int64_t group, int64_t panel, int64_t channel, int64_t cell) {
    const int64_t base = panel * panels.width * lanes, end = base + panels.vectors(panel) * lanes;
    const int64_t filters = std::min(end, c.out_channels), step = c.in_channels * area;
    for (int64_t i = channel; i < std::min(c.in_channels, channel + unit); ++i) {
      int64_t at = ((group * c.out_channels + base) * c.in_channels + i) * area + cell;
      for (int64_t o = base; o < filters; ++o, at += step) *to++ = read_float(from, at);
      to = std::fill_n(to, end - filters, 0.0f);
    }
  };
  for (int64_t group = 0; group < c.groups; ++group)
    for (int64_t panel = 0; panel < panels.count; ++panel)
      for (int64_t channel = 0; channel < c.in_channels; channel += unit)
        for (int64_t cell = 0; cell < area; ++cell) pack_cell(group, panel, channel, cell);
}

int64_t direct_items(const BlockedConv& c) {
  const Direct d(c);
  return c.batch * c.groups * d.bands * d.spans * d.panels.count;
}

int64_t direct_scratch(const BlockedConv& c) {
  const Direct d(c);
  return d.padded ? d.chunk * d.copied_block() : 0;
}

void direct_run(const BlockedConv& c, int64_t first, int64_t last, float* scratch) {
  const Direct d(c);
  for (int64_t i = first; i < last; ++i) run_item(d, item_of(d, i), scratch);
}

}  // namespace anyshape::simd
