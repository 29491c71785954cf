#pragma once

#include <cstddef>
#include <cstdint>

#include "run/cpu/simd/gemm.h"

// Convolutions of f32 over one to three spatial axes, channels before them (of an axis that is not there all is 1).
namespace anyshape::simd {

struct Conv {
  int64_t batch = 0, groups = 1;
  int64_t in_channels = 0, out_channels = 0;  // of one group
  int64_t in_layers = 1, in_height = 1, in_width = 0, out_layers = 1, out_height = 1, out_width = 0;
  int64_t kernel_layers = 1, kernel_height = 1, kernel_width = 1;
  int64_t stride_z = 1, stride_y = 1, stride_x = 1, dilation_z = 1, dilation_y = 1, dilation_x = 1;
  int64_t pad_front = 0, pad_top = 0, pad_left = 0;
  const float* in = nullptr;
  const float* weights = nullptr;   // as conv_pack made them
  const float* bias = nullptr;      // per output channel, null: none
  const float* residual = nullptr;  // laid out like the output; may be it
  float* out = nullptr;
  ActivationSpec activation = {};

  int64_t area() const { return kernel_layers * kernel_height * kernel_width; }
  int64_t depth() const { return in_channels * area(); }  // weights of one output channel
  int64_t in_places() const { return in_layers * in_height * in_width; }
  int64_t places() const { return out_layers * out_height * out_width; }
  bool has_layers() const { return in_layers != 1 || out_layers != 1 || kernel_layers != 1; }
  bool depthwise() const { return in_channels == 1 && out_channels == 1; }
};

// Floats that conv_pack writes for groups * out_channels filters of `depth` weights.
int64_t conv_packed_size(int64_t groups, int64_t out_channels, int64_t depth);
// `from`: f32 of any alignment in the order of ONNX.
void conv_pack(const std::byte* from, int64_t groups, int64_t out_channels, int64_t depth, float* to);

// The pieces a convolution is cut into, and the floats of scratch that working on any one of them needs.
int64_t conv_items(const Conv& c);
int64_t conv_scratch(const Conv& c);
void conv_run(const Conv& c, int64_t first, int64_t last, float* scratch);

}  // namespace anyshape::simd
