#pragma once

#include "ops/nn/window.h"

namespace anyshape::ops {

// The attributes of ConvTranspose about its spatial axes.
struct TransposedWindow {
  Window window;
  Temporary<int64_t> output_padding;
  Temporary<int64_t> output_shape;  // empty: computed
};

// `w`: the sizes of the weights.
Result<TransposedWindow> read_transposed_window(const Call& call, std::span<const Dim> w);

// The cells cut off before the first one of a spatial axis: as written, or what is left over when the size of the
// output is settled.
int64_t cut_before(const TransposedWindow& t, size_t axis, int64_t in, int64_t out);

}  // namespace anyshape::ops
