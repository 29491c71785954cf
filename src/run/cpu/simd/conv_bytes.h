#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// Convolutions of bytes, summed exactly in 32 bits, over [batch, channels, height, width]. The cells that a piece of
// the output reads are first laid out so that four that are multiplied together are neighbours: four channels, or four
// columns where a group has one channel. Strides are taken out by keeping cells apart that lie a stride apart.
namespace anyshape::simd {

enum class ByteConvOut : uint8_t {
  i32,  // the sums
  u8,
  i8,  // round(f32(sum + bias) * factor) + zero, saturated; in f32
};

struct ByteConv {
  int64_t batch = 0, groups = 1, in_channels = 0, out_channels = 0;  // channels of one group
  int64_t in_height = 1, in_width = 0, out_height = 1, out_width = 0;
  int64_t kernel_height = 1, kernel_width = 1, stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1;
  int64_t pad_top = 0, pad_left = 0;
  const std::byte* in = nullptr;
  bool in_signed = false;
  int32_t in_zero = 0;               // as the entries of the input are
  const int32_t* weights = nullptr;  // what byte_conv_pack made
  // One per output channel of all groups: sums of the weights as packed; their zero points (null: all are 0).
  const int32_t *sums = nullptr, *zeros = nullptr;
  const int32_t* bias = nullptr;  // null: none
  const float* factors = nullptr;
  ByteConvOut kind = ByteConvOut::i32;
  void* out = nullptr;
  int32_t out_zero = 0;

  bool shifts() const { return in_channels == 1; }
  // Fours of cells along the channels, and those of one row of the kernel.
  int64_t quads() const { return shifts() ? 1 : (in_channels + 3) / 4; }
  int64_t row_taps() const { return shifts() ? (kernel_width + 3) / 4 : kernel_width; }
  int64_t taps() const { return quads() * kernel_height * row_taps(); }
};

// Numbers of weights of all groups packed: four bytes each, tap by tap, in a tap channel by channel; after them the
// taps of a filter of ones.
int64_t byte_conv_packed_size(const ByteConv& c);
// `from`: [groups * out_channels, in_channels, kernel_height, kernel_width].
void byte_conv_pack(const ByteConv& c, const std::byte* from, bool is_signed, int32_t* to, int32_t* sums);

// Independent pieces of the output, and the scratch that one call of byte_conv needs, in bytes.
int64_t byte_conv_items(const ByteConv& c);
int64_t byte_conv_scratch(const ByteConv& c);
// Pieces first..last - 1. REQUIRES: scratch is aligned to 64 bytes.
void byte_conv(const ByteConv& c, int64_t first, int64_t last, std::byte* scratch);

}  // namespace anyshape::simd
