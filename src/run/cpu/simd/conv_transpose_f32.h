#pragma once

#include <cstdint>

#include "run/cpu/simd/gemm.h"

// Transposed convolutions of f32 over one to three spatial axes, channels before them (of an axis that is not there all
// is 1).
namespace anyshape::simd {

struct ConvTranspose {
  int64_t batch = 0, groups = 1;
  int64_t in_channels = 0, out_channels = 0;  // of one group
  int64_t in_layers = 1, in_height = 1, in_width = 0, out_layers = 1, out_height = 1, out_width = 0;
  int64_t kernel_layers = 1, kernel_height = 1, kernel_width = 1;
  int64_t stride_z = 1, stride_y = 1, stride_x = 1, dilation_z = 1, dilation_y = 1, dilation_x = 1;
  int64_t cut_front = 0, cut_top = 0, cut_left = 0;  // cells that are left out before the first one
  const float* in = nullptr;
  const float* weights = nullptr;  // in the order of ONNX: [groups * in_channels][out_channels][layers][height][width]
  const float* bias = nullptr;     // per output channel, null: none
  float* out = nullptr;
  ActivationSpec activation = {};

  int64_t area() const { return kernel_layers * kernel_height * kernel_width; }
  int64_t in_places() const { return in_layers * in_height * in_width; }
  int64_t out_places() const { return out_layers * out_height * out_width; }
};

// The pieces it is cut into, and the floats of scratch that working on any one of them needs.
int64_t conv_transpose_items(const ConvTranspose& c);
int64_t conv_transpose_scratch(const ConvTranspose& c);
void conv_transpose_run(const ConvTranspose& c, int64_t first, int64_t last, float* scratch);

}  // namespace anyshape::simd
