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
  int64_t line = 0;                          // bytes of a row of the input with its padding
  int64_t offset_bytes = 0, line_bytes = 0, image_bytes = 0;
};

struct ByteConvItem {
  int64_t image = 0, group = 0, row = 0, rows = 0, channel = 0, last_channel = 0;
  bool lays_out = true;
};

ByteConvBand byte_conv_band(const ByteConv& c);
ByteConvItem byte_conv_item(const ByteConv& c, const ByteConvBand& band, int64_t i);
// Where each tap of the first place is, in bytes.
void byte_conv_offsets(const ByteConv& c, const ByteConvBand& band, int64_t* offsets);

}  // namespace anyshape::simd
