#include "run/cpu/simd/conv_bytes_plan.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace anyshape::simd {
namespace {

int64_t ceil_of(int64_t n, int64_t d) { return (n + d - 1) / d; }

// fn(tap, quad, row of the kernel, first of its columns)
template <class Fn>
void for_each_tap(const ByteConv& c, Fn fn) {
  int64_t tap = 0;
  for (int64_t q = 0; q < c.quads(); ++q)
    for (int64_t y = 0; y < c.kernel_height; ++y)
      for (int64_t x = 0; x < c.row_taps(); ++x) fn(tap++, q, y, c.shifts() ? 4 * x : x);
}

// The rows of the output that share one layout: few enough for the cache and for all threads to have work.
int64_t rows_of_band(const ByteConv& c, int64_t row_bytes, double wanted) {
  constexpr int64_t kCache = 192 << 10, kLeast = 7;
  const auto each = static_cast<int64_t>(std::max(wanted / static_cast<double>(c.batch * c.groups), 1.0));
  const int64_t rows = std::min(kCache / std::max<int64_t>(row_bytes, 1), ceil_of(c.out_height, each));
  const int64_t bands = ceil_of(c.out_height, std::max(rows, kLeast));
  return ceil_of(c.out_height, bands);
}

}  // namespace

ByteConvBand byte_conv_band(const ByteConv& c) {
  constexpr double kWork = 1 << 20, kMost = 32;
  constexpr int64_t kSlack = 64, kChannels = 24;
  ByteConvBand b;
  const int64_t last_x = (c.shifts() ? 4 * (c.row_taps() - 1) : c.kernel_width - 1) * c.dilation_x;
  const int64_t last_y = (c.kernel_height - 1) * c.dilation_y;
  b.phases_y = std::min(c.stride_y, last_y + 1);
  b.phases_x = std::min(c.stride_x, last_x + 1);
  b.width = c.out_width + last_x / c.stride_x;
  const double work = static_cast<double>(c.batch * c.groups * c.out_channels) * static_cast<double>(c.taps() * 4) *
                      static_cast<double>(c.out_height * c.out_width);
  const double wanted = std::min(work / kWork, kMost);
  const int64_t quads = c.quads() * b.phases_y * b.phases_x;
  b.rows = rows_of_band(c, quads * b.width * 4, wanted);
  b.bands = ceil_of(c.out_height, b.rows);
  const auto pieces = static_cast<double>(c.batch * c.groups * b.bands);
  b.parts = std::clamp<int64_t>(static_cast<int64_t>(std::min(wanted, 8.0) / pieces), 1,
                                std::max<int64_t>(c.out_channels / kChannels, 1));
  b.height = b.rows + last_y / c.stride_y;
  b.plane = b.height * b.width + 16;
  b.used = b.width * c.stride_x + b.phases_x + (c.shifts() ? 3 * c.dilation_x : 0);
  b.line = b.used + 15 * c.stride_x + kSlack;
  b.offset_bytes = ceil_of(c.taps() * static_cast<int64_t>(sizeof(int64_t)), 64) * 64;
  b.channel_bytes = ceil_of(c.groups * c.out_channels * static_cast<int64_t>(sizeof(ByteConvChannel)), 64) * 64;
  b.line_bytes = ceil_of(4 * b.line, 64) * 64;
  b.image_bytes = ceil_of((quads * b.plane + kSlack) * 4, 64) * 64;
  return b;
}

ByteConvItem byte_conv_item(const ByteConv& c, const ByteConvBand& band, int64_t i) {
  ByteConvItem item;
  const int64_t part = i % band.parts, at = i / band.parts;
  item.channel = c.out_channels * part / band.parts;
  item.last_channel = c.out_channels * (part + 1) / band.parts;
  item.row = at % band.bands * band.rows;
  item.rows = std::min(band.rows, c.out_height - item.row);
  item.group = at / band.bands % c.groups;
  item.image = at / band.bands / c.groups;
  return item;
}

void byte_conv_offsets(const ByteConv& c, const ByteConvBand& band, int64_t* offsets) {
  for_each_tap(c, [&](int64_t tap, int64_t q, int64_t ky, int64_t kx) {
    const int64_t y = ky * c.dilation_y, x = kx * c.dilation_x;
    const int64_t phase = (q * band.phases_y + y % c.stride_y) * band.phases_x + x % c.stride_x;
    offsets[tap] = 4 * (phase * band.plane + y / c.stride_y * band.width + x / c.stride_x);
  });
}

void byte_conv_channels(const ByteConv& c, ByteConvChannel* channels) {
  const int32_t in_zero = c.in_zero + (c.in_signed ? 128 : 0);
  const int64_t depth = c.in_channels * c.kernel_height * c.kernel_width;
  for (int64_t o = 0; o < c.groups * c.out_channels; ++o) {
    ByteConvChannel& out = channels[o] = {};
    out.zero = c.zeros ? c.zeros[o] : 0;
    const auto bias = c.bias ? static_cast<int64_t>(c.bias[o]) : 0;
    const bool fits = std::abs(bias) < (int64_t{1} << 31) - 255 * 255 * depth;
    const int64_t weights = c.sums[o] - depth * static_cast<int64_t>(out.zero);
    out.shift = static_cast<int32_t>(static_cast<uint64_t>(in_zero) * static_cast<uint64_t>(weights) -
                                     static_cast<uint64_t>(fits ? bias : 0));
    out.bias = fits ? 0.0 : static_cast<double>(bias);
    out.factor = c.factors ? c.factors[o] : 0;
  }
}

int64_t byte_conv_packed_size(const ByteConv& c) { return c.taps() * (c.groups * c.out_channels + 1); }

void byte_conv_pack(const ByteConv& c, const std::byte* from, bool is_signed, int32_t* to, int32_t* sums) {
  const int64_t cells = c.kernel_height * c.kernel_width, filters = c.groups * c.out_channels, taps = c.taps();
  const unsigned flip = is_signed ? 0 : 128;
  std::fill_n(sums, filters, 0);
  for_each_tap(c, [&](int64_t tap, int64_t q, int64_t ky, int64_t kx) {
    for (int64_t o = 0; o <= filters; ++o) {
      int8_t four[4] = {};
      for (int64_t j = 0; j < 4; ++j) {
        const int64_t channel = c.shifts() ? 0 : 4 * q + j, x = c.shifts() ? kx + j : kx;
        if (channel >= c.in_channels || x >= c.kernel_width) continue;
        const int64_t at = (o * c.in_channels + channel) * cells + ky * c.kernel_width + x;
        four[j] = o == filters ? int8_t{1} : static_cast<int8_t>(static_cast<uint8_t>(from[at]) ^ flip);
        if (o < filters) sums[o] += four[j];
      }
      const int64_t group = o / c.out_channels;
      int32_t* place =
          o == filters ? to + filters * taps + tap : to + (group * taps + tap) * c.out_channels + o % c.out_channels;
      std::memcpy(place, four, sizeof(four));
    }
  });
}

int64_t byte_conv_items(const ByteConv& c) {
  const ByteConvBand band = byte_conv_band(c);
  return c.batch * c.groups * band.bands * band.parts;
}

int64_t byte_conv_scratch(const ByteConv& c) {
  const ByteConvBand band = byte_conv_band(c);
  return band.offset_bytes + band.channel_bytes + band.line_bytes + band.image_bytes;
}

}  // namespace anyshape::simd
