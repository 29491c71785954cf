#pragma once

#include "run/cpu/simd/conv_bytes.h"

// How convolutions of bytes are cut and laid out.
namespace anyshape::simd {

inline constexpr int64_t kBytePlacesAtOnce = 32;

// The layout of what one band of rows of the output reads. Places are four bytes each.
struct ByteConvBand {
  int64_t rows = 0, bands = 0, parts = 0;    // of the output: of a band, and how many; parts of the channels
  int64_t phases_y = 1, phases_x = 1;        // cells are kept apart by their place modulo the strides
  int64_t height = 0, width = 0, plane = 0;  // of one phase: rows, places of a row, places in all
  int64_t used = 0, line = 0;  // bytes of a row of the input with its padding; with what is read past its end
  int64_t offset_bytes = 0, channel_bytes = 0, line_bytes = 0, image_bytes = 0;
};

// What a channel does to its sums.
struct ByteConvChannel {
  int32_t shift = 0, zero = 0;  // sum - shift - zero * sum of the cells
  double bias = 0;              // what does not fit 32 bits together with a sum; else it is in `shift`
  float factor = 0;
};

struct ByteConvItem {
  int64_t image = 0, group = 0, row = 0, rows = 0, channel = 0, last_channel = 0;
  bool lays_out = true;
};

ByteConvBand byte_conv_band(const ByteConv& c);
ByteConvItem byte_conv_item(const ByteConv& c, const ByteConvBand& band, int64_t i);
// Where each tap of the first place is, in bytes.
void byte_conv_offsets(const ByteConv& c, const ByteConvBand& band, int64_t* offsets);
void byte_conv_channels(const ByteConv& c, ByteConvChannel* channels);

}  // namespace anyshape::simd
