#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "run/cpu/simd/gemm.h"

// Convolutions and pools of f32 over blocked channels: a tensor [n, c, h, w] lies as [n, blocks, h, w, lanes], channel
// c in lane c % lanes of block c / lanes. Lanes past the last channel hold anything finite or not; they never reach a
// result. One spatial axis: height and all about it is 1.
namespace anyshape::simd {

// Channels of a block: 16 with AVX-512, 8 with AVX2, else 4.
int64_t block_lanes();

struct BlockedConv {
  int64_t batch = 0, groups = 1;
  int64_t in_channels = 0, out_channels = 0;  // of one group
  int64_t in_height = 1, in_width = 0, out_height = 1, out_width = 0;
  int64_t kernel_height = 1, kernel_width = 1;
  int64_t stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1;
  int64_t pad_top = 0, pad_left = 0;
  bool plain_input = false;  // `in` is [n, c, h, w] as it came: first layers, of few channels
  bool exact = false;        // no way that gives other sums than the plain one: no Winograd
  const float* in = nullptr;
  const float* weights = nullptr;   // as blocked_conv_pack made them
  const float* bias = nullptr;      // per output channel (not padded), null: none
  const float* residual = nullptr;  // laid out like the output; may be it
  float* out = nullptr;
  ActivationSpec activation = {};  // out = activation(sum + bias + residual)
};

// Empty: there is a kernel for these channels, groups, kernel, strides and dilations (whatever the other sizes are).
// Else why not. groups == 1, depthwise (1 channel in, 1 out per group), and groups whose channels fill whole blocks.
std::string_view blocked_conv_refuses(const BlockedConv& c);

// Floats of the packed weights: all forms that some size of map may want. Depends on channels, groups, kernel, strides,
// dilations, exact only.
int64_t blocked_conv_packed_size(const BlockedConv& c);
// `from`: f32 of any alignment in the order of ONNX [groups * out_channels, in_channels, kh, kw].
void blocked_conv_pack(const BlockedConv& c, const std::byte* from, float* to);

// Which way is taken at these sizes, for people: "direct", "winograd 4x4", "pointwise", "depthwise", ...
std::string_view blocked_conv_way(const BlockedConv& c);
// Independent pieces, and the floats of scratch that working on any range of them needs.
int64_t blocked_conv_items(const BlockedConv& c);
int64_t blocked_conv_scratch(const BlockedConv& c);
void blocked_conv_run(const BlockedConv& c, int64_t first, int64_t last, float* scratch);

// A transposed convolution whose windows do not overlap: the kernel is the stride, nothing is cut off. Each place of
// the input gives stride_y x stride_x places.
struct BlockedTransposed {
  int64_t batch = 0, in_channels = 0, out_channels = 0;
  int64_t in_height = 1, in_width = 0;
  int64_t stride_y = 1, stride_x = 1;
  const float* in = nullptr;
  const float* weights = nullptr;  // as blocked_transposed_pack made them
  const float* bias = nullptr;     // per output channel (not padded), null: none
  float* out = nullptr;
};
// Floats of the packed weights, of channels and strides only. `from`: f32 of any alignment in the order of ONNX
// [in_channels, out_channels, stride_y, stride_x].
int64_t blocked_transposed_packed_size(const BlockedTransposed& c);
void blocked_transposed_pack(const BlockedTransposed& c, const std::byte* from, float* to);
// Independent pieces.
int64_t blocked_transposed_items(const BlockedTransposed& c);
void blocked_transposed_run(const BlockedTransposed& c, int64_t first, int64_t last);

struct BlockedPool {
  enum class Kind : uint8_t { max, average };
  Kind kind = Kind::max;
  int64_t planes = 0;  // batch * blocks
  int64_t in_height = 1, in_width = 0, out_height = 1, out_width = 0;
  int64_t kernel_height = 1, kernel_width = 1;
  int64_t stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  bool count_include_pad = false;
  const float* in = nullptr;
  float* out = nullptr;
};
// Planes first..last - 1.
void blocked_pool_run(const BlockedPool& p, int64_t first, int64_t last);

// [n, c, plane] <-> [n, blocks, plane, lanes]; `items` are n * blocks. Lanes past the last channel are written as 0.
void to_blocked(const float* in, int64_t channels, int64_t plane, int64_t first, int64_t last, float* out);
void from_blocked(const float* in, int64_t channels, int64_t plane, int64_t first, int64_t last, float* out);

}  // namespace anyshape::simd
