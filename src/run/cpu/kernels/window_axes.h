#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ops/nn/window.h"
#include "run/cpu/simd/pool_f32.h"

namespace anyshape::cpu {

// One spatial axis of a window.
struct WindowAxis {
  int64_t kernel = 1, stride = 1, dilation = 1, pad = 0, pad_end = 0;
};

// The layers, the height and the width of a window; with one spatial axis the height is 1, with two the layers are.
struct WindowAxes {
  WindowAxis z, y, x;
  ops::AutoPad auto_pad = ops::AutoPad::explicit_pads;

  // REQUIRES: three spatial axes at most.
  static Result<WindowAxes> read(const Call& call, std::span<const int64_t> kernel) {
    TRY(const ops::Window w, ops::read_window(call, Dims(kernel.begin(), kernel.end())));
    WindowAxes out;
    out.auto_pad = w.auto_pad;
    WindowAxis* const axes[] = {&out.x, &out.y, &out.z};
    for (size_t i = 0; i < w.rank(); ++i)
      *axes[w.rank() - 1 - i] = WindowAxis{kernel[i], w.strides[i], w.dilations[i], w.pads_begin[i], w.pads_end[i]};
    return out;
  }

  // With the padding that auto_pad asks for at these sizes. A window smaller than its stride may leave cells over: with
  // `crop` they are cut off on both sides, otherwise all at the end.
  WindowAxis at(const WindowAxis& axis, int64_t in, int64_t out, bool crop) const {
    WindowAxis a = axis;
    if (auto_pad == ops::AutoPad::valid) a.pad = a.pad_end = 0;
    if (auto_pad != ops::AutoPad::same_upper && auto_pad != ops::AutoPad::same_lower) return a;
    int64_t total = (out - 1) * a.stride + (a.kernel - 1) * a.dilation + 1 - in;
    if (!crop) total = std::max<int64_t>(total, 0);
    a.pad = (auto_pad == ops::AutoPad::same_upper ? total : total + 1) / 2;
    a.pad_end = total - a.pad;
    return a;
  }
};

// What a convolution of simd/ is told of its window, whatever the sizes are. The channels are those of one group.
template <class Conv>
void set_filters(const WindowAxes& window, std::span<const int64_t> weights, int64_t groups, Conv& c) {
  c.groups = std::max<int64_t>(groups, 1);
  c.out_channels = weights[0] / c.groups;
  c.in_channels = weights[1];
  c.kernel_height = window.y.kernel;
  c.kernel_width = window.x.kernel;
  c.stride_y = window.y.stride;
  c.stride_x = window.x.stride;
  c.dilation_y = window.y.dilation;
  c.dilation_x = window.x.dilation;
}

// One axis of a pool over `in` entries, with the padding that its rule gives it.
inline kernels::PoolAxis pool_axis(const WindowAxes& window, const WindowAxis& axis, int64_t in, int64_t out) {
  const WindowAxis a = window.at(axis, in, out, true);
  return {in, out, a.kernel, a.stride, a.dilation, a.pad, a.pad_end};
}

// The batch, the sizes of the maps and the padding, of dims [batch, channels, spatial axes..., more].
template <class Conv>
void set_sizes(const WindowAxes& window, bool two_axes, std::span<const int64_t> in, std::span<const int64_t> out,
               Conv& c) {
  c.batch = in[0];
  c.in_height = two_axes ? in[2] : 1;
  c.in_width = two_axes ? in[3] : in[2];
  c.out_height = two_axes ? out[2] : 1;
  c.out_width = two_axes ? out[3] : out[2];
  c.pad_top = window.at(window.y, c.in_height, c.out_height, false).pad;
  c.pad_left = window.at(window.x, c.in_width, c.out_width, false).pad;
}

// A map of one column lies in memory as one of one row does, and loops are fast along rows.
template <class Conv>
void lay_down(Conv& c) {
  if (c.in_width != 1 || c.out_width != 1 || c.kernel_width != 1 || c.pad_left != 0) return;
  std::swap(c.in_height, c.in_width);
  std::swap(c.out_height, c.out_width);
  std::swap(c.kernel_height, c.kernel_width);
  std::swap(c.stride_y, c.stride_x);
  std::swap(c.dilation_y, c.dilation_x);
  std::swap(c.pad_top, c.pad_left);
}

}  // namespace anyshape::cpu
