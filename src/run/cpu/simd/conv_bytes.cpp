#include "run/cpu/simd/conv_bytes.h"

#include <algorithm>
#include <span>

#define HWY_WANT_AVX3_DL
#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/conv_bytes.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/conv_bytes_plan.h"
#include "run/cpu/simd/dot_bytes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

// Sums of this many channels and vectors of places stay in registers.
constexpr int kChannels = HWY_TARGET <= HWY_AVX3 ? 12 : 4;
constexpr int kVectors = 2;
constexpr int64_t kPlaces = kVectors * kLanes;
static_assert(kPlaces <= kBytePlacesAtOnce);

void fill(uint8_t* to, int64_t n, uint8_t value) {
  if (n >= 32) {
    std::memset(to, value, static_cast<size_t>(n));
    return;
  }
  for (int64_t i = 0; i < n; ++i) to[i] = value;
}

// n bytes that do not overlap.
HWY_INLINE void copy_bytes(const uint8_t* from, int64_t n, uint8_t* to) {
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<uint8_t, 16> d;
  if (n >= 16) {
    for (int64_t i = 0; i + 16 <= n; i += 16) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
    hn::StoreU(hn::LoadU(d, from + n - 16), d, to + n - 16);
    return;
  }
#endif
  std::memcpy(to, from, static_cast<size_t>(n));
}

// One row of the input with its padding.
void fill_line(const ByteConv& c, const ByteConvBand& band, const uint8_t* plane, int64_t y, uint8_t* line) {
  const auto pad = static_cast<uint8_t>(c.in_zero);
  if (!plane || y < 0 || y >= c.in_height) return fill(line, band.used, pad);
  const int64_t left = std::clamp<int64_t>(c.pad_left, 0, band.used), skip = std::max<int64_t>(-c.pad_left, 0);
  const int64_t there = std::clamp<int64_t>(c.in_width - skip, 0, band.used - left);
  fill(line, left, pad);
  if (there > 0) copy_bytes(plane + y * c.in_width + skip, there, line + left);
  fill(line + left + there, band.used - left - there, pad);
}

// A row of four channels, straight from the input. False: it has to be done by way of lines.
bool lay_out_directly(const ByteConv& c, const ByteConvBand& band, const uint8_t* planes, int64_t channels, int64_t y,
                      uint8_t* out) {
  if (c.shifts() || c.stride_x != 1 || c.pad_left < 0 || c.pad_left > band.width || y < 0 || y >= c.in_height)
    return false;
  const int64_t plane = c.in_height * c.in_width, there = std::min(c.in_width, band.width - c.pad_left);
  const auto* end = reinterpret_cast<const uint8_t*>(c.in) + c.batch * c.groups * c.in_channels * plane;
  const uint8_t* rows[4];
  // What stands for channels that are not there is multiplied by 0.
  for (int64_t j = 0; j < 4; ++j) rows[j] = planes + std::min(j, channels - 1) * plane + y * c.in_width;
  if (end - rows[3] < there + 15) return false;
  const uint8_t flip = c.in_signed ? 128 : 0, pad = static_cast<uint8_t>(c.in_zero) ^ flip;
  fill(out, 4 * c.pad_left, pad);
  interleave(rows, 1, there, flip, out + 4 * c.pad_left);
  fill(out + 4 * (c.pad_left + there), 4 * (band.width - c.pad_left - there), pad);
  return true;
}

// A row of one or four channels at all phases of its columns.
void lay_out_row(const ByteConv& c, const ByteConvBand& band, const uint8_t* planes, int64_t channels, int64_t y,
                 uint8_t* lines, uint8_t* out) {
  if (lay_out_directly(c, band, planes, channels, y, out)) return;
  const uint8_t flip = c.in_signed ? 128 : 0;
  const int64_t plane = c.in_height * c.in_width, used = c.shifts() ? 1 : 4;
  for (int64_t j = 0; j < used; ++j)
    fill_line(c, band, j < channels ? planes + j * plane : nullptr, y, lines + j * band.line);
  for (int64_t px = 0; px < band.phases_x; ++px) {
    const uint8_t* at[4];
    for (int64_t j = 0; j < 4; ++j) at[j] = lines + px + j * (c.shifts() ? c.dilation_x : band.line);
    interleave(at, c.stride_x, band.width, flip, out + px * band.plane * 4);
  }
}

// The cells that rows from first_row on of the output of one group read.
void lay_out(const ByteConv& c, const ByteConvBand& band, const uint8_t* planes, int64_t first_row, uint8_t* lines,
             uint8_t* image) {
  const int64_t plane = c.in_height * c.in_width;
  for (int64_t q = 0; q < c.quads(); ++q)
    for (int64_t py = 0; py < band.phases_y; ++py)
      for (int64_t r = 0; r < band.height; ++r) {
        const int64_t y = (first_row + r) * c.stride_y + py - c.pad_top;
        const int64_t at = (q * band.phases_y + py) * band.phases_x * band.plane + r * band.width;
        lay_out_row(c, band, planes + 4 * q * plane, std::min<int64_t>(4, c.in_channels - 4 * q), y, lines,
                    image + at * 4);
      }
}

// The sums of R channels at W vectors of places.
template <int R, int W>
HWY_INLINE void multiply(const uint8_t* image, const int64_t* offsets, int64_t taps, const int32_t* weights,
                         int64_t step, int32_t* sums) {
  VI acc[R][W];
  ANYSHAPE_UNROLL
  for (int r = 0; r < R; ++r) ANYSHAPE_UNROLL
  for (int v = 0; v < W; ++v) acc[r][v] = hn::Zero(I());
  for (int64_t t = 0; t < taps; ++t, weights += step) {
    const auto* at = reinterpret_cast<const int32_t*>(image + offsets[t]);
    VI cells[W];
    ANYSHAPE_UNROLL
    for (int v = 0; v < W; ++v) cells[v] = hn::LoadU(I(), at + v * kLanes);
    ANYSHAPE_UNROLL
    for (int r = 0; r < R; ++r) {
      const VI weight = hn::Set(I(), weights[r]);
      ANYSHAPE_UNROLL
      for (int v = 0; v < W; ++v) acc[r][v] = dot4(acc[r][v], cells[v], weight);
    }
  }
  ANYSHAPE_UNROLL
  for (int r = 0; r < R; ++r) ANYSHAPE_UNROLL
  for (int v = 0; v < W; ++v) hn::Store(acc[r][v], I(), sums + r * kPlaces + v * kLanes);
}

template <int R = kChannels>
HWY_NOINLINE void multiply_channels(int channels, int vectors, const uint8_t* image, const int64_t* offsets,
                                    int64_t taps, const int32_t* weights, int64_t step, int32_t* sums) {
  if constexpr (R >= 1) {
    if (channels != R) return multiply_channels<R - 1>(channels, vectors, image, offsets, taps, weights, step, sums);
    vectors == 1 ? multiply<R, 1>(image, offsets, taps, weights, step, sums)
                 : multiply<R, kVectors>(image, offsets, taps, weights, step, sums);
  }
}

HWY_INLINE V floats_of(VI sums, double bias) {
  if (bias == 0) return hn::ConvertTo(F(), sums);
  const Wide d;
  const auto add = [&](auto part)
                       HWY_ATTR { return hn::DemoteTo(PartF(), hn::Add(hn::PromoteTo(d, part), hn::Set(d, bias))); };
  return by_halves(F(), add, sums);
}

template <class Byte>
HWY_INLINE void round_places(const ByteConvChannel& channel, int32_t out_zero, const int32_t* sums,
                             const int32_t* cells, int64_t n, Byte* out) {
  const V least = splat(static_cast<float>(std::numeric_limits<Byte>::min() - out_zero));
  const V most = splat(static_cast<float>(std::numeric_limits<Byte>::max() - out_zero)), factor = splat(channel.factor);
  const VI shift = hn::Set(I(), channel.shift), zero = hn::Set(I(), channel.zero), move = hn::Set(I(), out_zero);
  for (int64_t i = 0; i < n; i += kLanes) {
    VI x = hn::Sub(hn::Load(I(), sums + i), shift);
    if (channel.zero != 0) x = hn::Sub(x, hn::Mul(zero, hn::Load(I(), cells + i)));
    const VI y = rounded_within(hn::Mul(floats_of(x, channel.bias), factor), least, most);
    store_bytes(hn::Add(y, move), out + i, kLanes);
  }
}

HWY_INLINE void finish_sums(const ByteConvChannel& channel, const int32_t* sums, const int32_t* cells, int64_t n,
                            int32_t* out) {
  const VI shift = hn::Set(I(), channel.shift), zero = hn::Set(I(), channel.zero);
  for (int64_t i = 0; i < n; i += kLanes) {
    const VI x = hn::Sub(hn::Load(I(), sums + i), shift);
    hn::Store(hn::Sub(x, hn::Mul(zero, hn::Load(I(), cells + i))), I(), out + i);
  }
}

// Which of the places at hand belong to a row of the output; the others lie past its width.
struct Segment {
  int64_t from, to, n;
};

int segments_of(const ByteConv& c, const ByteConvBand& band, int64_t p, int64_t n, Segment* out) {
  int count = 0;
  int64_t y = p / band.width, x = p % band.width;
  for (int64_t i = 0; i < n; ++y, x = 0) {
    const int64_t here = std::min(n - i, band.width - x), inside = std::min(here, c.out_width - x);
    if (inside > 0) out[count++] = {i, y * c.out_width + x, inside};
    i += here;
  }
  return count;
}

// The places of `segments` for `channels` channels from `first` of all groups on.
void finish(const ByteConv& c, const ByteConvItem& item, const ByteConvChannel* all, std::span<const Segment> segments,
            int64_t n, int64_t first, int64_t channels, const int32_t* sums, const int32_t* cells) {
  HWY_ALIGN int32_t words[kPlaces];
  auto* done = reinterpret_cast<uint8_t*>(words);
  const int64_t size = c.kind == ByteConvOut::i32 ? 4 : 1;
  for (int64_t r = 0; r < channels; ++r) {
    const int64_t o = first + r;
    const int32_t* row = sums + r * kPlaces;
    if (c.kind == ByteConvOut::i32)
      finish_sums(all[o], row, cells, n, words);
    else if (c.kind == ByteConvOut::u8)
      round_places(all[o], c.out_zero, row, cells, n, done);
    else
      round_places(all[o], c.out_zero, row, cells, n, reinterpret_cast<int8_t*>(done));
    const int64_t plane = (item.image * c.groups * c.out_channels + o) * c.out_height + item.row;
    auto* to = static_cast<uint8_t*>(c.out) + plane * c.out_width * size;
    for (const Segment& s : segments) copy_bytes(done + s.from * size, s.n * size, to + s.to * size);
  }
}

void run_item(const ByteConv& c, const ByteConvBand& band, const ByteConvItem& item, std::byte* scratch) {
  const auto* offsets = reinterpret_cast<const int64_t*>(scratch);
  const auto* all = reinterpret_cast<const ByteConvChannel*>(scratch + band.offset_bytes);
  auto* lines = reinterpret_cast<uint8_t*>(scratch + band.offset_bytes + band.channel_bytes);
  uint8_t* image = lines + band.line_bytes;
  const int64_t planes = (item.image * c.groups + item.group) * c.in_channels;
  const auto* in = reinterpret_cast<const uint8_t*>(c.in) + planes * c.in_height * c.in_width;
  if (item.lays_out) lay_out(c, band, in, item.row, lines, image);
  HWY_ALIGN int32_t sums[kChannels * kPlaces];
  HWY_ALIGN int32_t cells[kPlaces] = {};
  Segment segments[kPlaces];
  const int64_t taps = c.taps(), places = (item.rows - 1) * band.width + c.out_width;
  const int32_t* weights = c.weights + item.group * taps * c.out_channels;
  const int32_t* ones = c.weights + c.groups * taps * c.out_channels;
  for (int64_t p = 0; p < places; p += kPlaces) {
    const int64_t n = std::min(kPlaces, places - p);
    const int vectors = n <= kLanes ? 1 : kVectors;
    const auto count = static_cast<size_t>(segments_of(c, band, p, n, segments));
    if (c.zeros) multiply_channels<1>(1, vectors, image + p * 4, offsets, taps, ones, 1, cells);
    for (int64_t o = item.channel; o < item.last_channel;) {
      const int64_t left = item.last_channel - o, blocks = (left + kChannels - 1) / kChannels;
      const int64_t channels = (left + blocks - 1) / blocks;
      multiply_channels(static_cast<int>(channels), vectors, image + p * 4, offsets, taps, weights + o, c.out_channels,
                        sums);
      finish(c, item, all, {segments, count}, n, item.group * c.out_channels + o, channels, sums, cells);
      o += channels;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(run_item);

void byte_conv(const ByteConv& c, int64_t first, int64_t last, std::byte* scratch) {
  const ByteConvBand band = byte_conv_band(c);
  byte_conv_offsets(c, band, reinterpret_cast<int64_t*>(scratch));
  byte_conv_channels(c, reinterpret_cast<ByteConvChannel*>(scratch + band.offset_bytes));
  for (int64_t i = first; i < last; ++i) {
    ByteConvItem item = byte_conv_item(c, band, i);
    // Parts of the channels of one band follow each other.
    item.lays_out = i == first || i % band.parts == 0;
    HWY_DYNAMIC_DISPATCH(run_item)(c, band, item, scratch);
  }
}

}  // namespace anyshape::simd
#endif
