#include "run/cpu/simd/depthwise_bytes.h"

#include <algorithm>

#define HWY_WANT_AVX3_DL
#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/depthwise_bytes.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/dot_bytes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

constexpr int kPlacesAtOnce = 4;

// What a vector of channels does to its sums.
template <class Byte>
struct Finish {
  VI shift, zero;
  V factor;
  ToBytes<Byte> to_bytes;
  bool has_zeros;

  Finish(const ByteDepthwise& d, int64_t channel) : to_bytes(d.out_zero), has_zeros(d.zeros != nullptr) {
    const VI depth = hn::Set(I(), static_cast<int32_t>(d.kernel_height * d.kernel_width));
    zero = has_zeros ? hn::LoadU(I(), d.zeros + channel) : hn::Zero(I());
    const VI weights = hn::Sub(hn::LoadU(I(), d.sums + channel), hn::Mul(zero, depth));
    shift = hn::Sub(hn::LoadU(I(), d.offsets + channel), hn::Mul(hn::Set(I(), d.in_zero), weights));
    factor = hn::LoadU(F(), d.factors + channel);
  }

  HWY_INLINE VI operator()(VI sum, VI cells) const {
    VI x = hn::Add(sum, shift);
    if (has_zeros) x = hn::Sub(x, hn::Mul(zero, cells));
    return to_bytes(hn::Mul(hn::ConvertTo(F(), x), factor));
  }
};

// Places x.. of a row for the channels of one vector.
template <int N, class Byte>
HWY_INLINE void places(const ByteDepthwise& d, const int32_t* image, int64_t channel, int64_t x,
                       const Finish<Byte>& finish, Byte* out) {
  const int64_t padded = (d.channels + 15) / 16 * 16, row = d.in_width * d.channels, step = d.stride_x * d.channels;
  VI sums[N], cells[N];
  ANYSHAPE_UNROLL
  for (int i = 0; i < N; ++i) sums[i] = cells[i] = hn::Zero(I());
  const int32_t* weights = d.weights + channel;
  for (int64_t q = 0; q < d.quads(); ++q) {
    const int64_t there = std::min<int64_t>(4, d.kernel_height - 4 * q);
    const VI ones = hn::Set(I(), static_cast<int32_t>(0x01010101u >> (8 * (4 - there))));
    for (int64_t k = 0; k < d.kernel_width; ++k, weights += padded) {
      const VI weight = hn::LoadU(I(), weights);
      const int32_t* at = image + q * row + (x * d.stride_x + k * d.dilation_x) * d.channels + channel;
      ANYSHAPE_UNROLL
      for (int i = 0; i < N; ++i) {
        const VI four = hn::LoadU(I(), at + i * step);
        sums[i] = dot4(sums[i], four, weight);
        if (finish.has_zeros) cells[i] = dot4(cells[i], four, ones);
      }
    }
  }
  const int64_t n = std::min<int64_t>(kLanes, d.channels - channel);
  ANYSHAPE_UNROLL
  for (int i = 0; i < N; ++i) {
    store_bytes(finish(sums[i], cells[i]), out + (x + i) * d.channels + channel, n);
  }
}

template <class Byte>
void all_places(const ByteDepthwise& d, const int32_t* image, Byte* out) {
  for (int64_t channel = 0; channel < d.channels; channel += kLanes) {
    const Finish<Byte> finish(d, channel);
    int64_t x = 0;
    for (; x + kPlacesAtOnce <= d.out_width; x += kPlacesAtOnce)
      places<kPlacesAtOnce>(d, image, channel, x, finish, out);
    for (; x < d.out_width; ++x) places<1>(d, image, channel, x, finish, out);
  }
}

void row(const ByteDepthwise& d, const std::byte* in, std::byte* scratch, std::byte* out) {
  auto* image = reinterpret_cast<int32_t*>(scratch);
  const int64_t n = d.in_width * d.channels;
  for (int64_t q = 0; q < d.quads(); ++q) {
    const uint8_t* rows[4];
    // What stands for rows that are not there is multiplied by 0.
    for (int64_t j = 0; j < 4; ++j)
      rows[j] = reinterpret_cast<const uint8_t*>(in) + std::min(4 * q + j, d.kernel_height - 1) * d.row_step;
    interleave(rows, 1, n, d.in_signed ? 128 : 0, reinterpret_cast<uint8_t*>(image + q * n));
  }
  if (d.out_signed)
    all_places(d, image, reinterpret_cast<int8_t*>(out));
  else
    all_places(d, image, reinterpret_cast<uint8_t*>(out));
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(row);

int64_t byte_depthwise_packed_size(const ByteDepthwise& d) {
  return d.quads() * d.kernel_width * ((d.channels + 15) / 16 * 16);
}

void byte_depthwise_pack(const ByteDepthwise& d, const std::byte* from, bool is_signed, int32_t* to, int32_t* sums) {
  const int64_t padded = (d.channels + 15) / 16 * 16;
  const unsigned flip = is_signed ? 0 : 128;
  std::fill_n(sums, padded, 0);
  std::fill_n(to, byte_depthwise_packed_size(d), 0);
  auto* bytes = reinterpret_cast<int8_t*>(to);
  for (int64_t c = 0; c < d.channels; ++c)
    for (int64_t y = 0; y < d.kernel_height; ++y)
      for (int64_t x = 0; x < d.kernel_width; ++x, ++from) {
        const auto weight = static_cast<int8_t>(static_cast<uint8_t>(*from) ^ flip);
        bytes[((y / 4 * d.kernel_width + x) * padded + c) * 4 + y % 4] = weight;
        sums[c] += weight;
      }
}

int64_t byte_depthwise_scratch(const ByteDepthwise& d) {
  constexpr int64_t kBehind = 128;
  return (d.quads() * d.in_width * d.channels * 4 + kBehind + 63) / 64 * 64;
}

void byte_depthwise_row(const ByteDepthwise& d, const std::byte* in, std::byte* scratch, std::byte* out) {
  HWY_DYNAMIC_DISPATCH(row)(d, in, scratch, out);
}

}  // namespace anyshape::simd
#endif
