#pragma once

#include <cstddef>
#include <cstdint>

// Convolutions of bytes with a filter of its own for each channel, the channels last: summed exactly in 32 bits. Four
// rows of a window are laid side by side, so that four cells of a channel are multiplied at once.
namespace anyshape::simd {

struct ByteDepthwise {
  int64_t channels = 0, kernel_height = 1, kernel_width = 1, stride_x = 1, dilation_x = 1;
  int64_t in_width = 0, out_width = 0;  // in_width: places that the windows of a row reach
  int64_t row_step = 0;                 // bytes from a row of a window to the next one
  bool in_signed = false;
  int32_t in_zero = 0;               // as the entries of the input, moved by 128 where they are signed
  const int32_t* weights = nullptr;  // what byte_depthwise_pack made
  // One per channel, up to a multiple of 16: sums of the weights as packed, their zero points (null: all are 0), what
  // is added to the sums, and what they are multiplied with.
  const int32_t *sums = nullptr, *zeros = nullptr, *offsets = nullptr;
  const float* factors = nullptr;
  bool out_signed = false;
  int32_t out_zero = 0;

  int64_t quads() const { return (kernel_height + 3) / 4; }
};

int64_t byte_depthwise_packed_size(const ByteDepthwise& d);
// `from`: [channels, kernel_height, kernel_width].
void byte_depthwise_pack(const ByteDepthwise& d, const std::byte* from, bool is_signed, int32_t* to, int32_t* sums);
int64_t byte_depthwise_scratch(const ByteDepthwise& d);
// A row of the output; `in`: the first cell of its first window, with 16 bytes behind the last one that may be read.
// out = round(f32(sum) * factor) + zero, saturated; in f32. REQUIRES: scratch is aligned to 64 bytes.
void byte_depthwise_row(const ByteDepthwise& d, const std::byte* in, std::byte* scratch, std::byte* out);

}  // namespace anyshape::simd
