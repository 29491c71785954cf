#pragma once

#include <string_view>

#include "ops/common.h"

// Sliding windows of convolutions and pools: attributes and output sizes.
namespace anyshape::ops {

enum class AutoPad { explicit_pads, same_upper, same_lower, valid };

// One entry per spatial axis. Numbers are checked: strides and dilations >= 1, every value below 2^31.
struct Window {
  Temporary<Dim> kernel;
  Temporary<int64_t> strides, dilations, pads_begin, pads_end;
  AutoPad auto_pad = AutoPad::explicit_pads;

  size_t rank() const { return strides.size(); }
  bool same() const { return auto_pad == AutoPad::same_upper || auto_pad == AutoPad::same_lower; }
  // The input cells from the first to the last one a window touches.
  Dim extent(size_t i) const { return (kernel[i] - 1) * Dim(dilations[i]) + 1; }
  Dim padding(size_t i) const { return Dim(pads_begin[i]) + Dim(pads_end[i]); }
};

// An attribute with one integer per spatial axis, each in lo..2^31 - 1; `fallback` for each when absent. Code
// "window.attribute".
Result<Temporary<int64_t>> axis_ints(const Call& call, std::string_view name, size_t count, int64_t fallback,
                                     int64_t lo);

// The attributes strides, dilations, pads and auto_pad for `kernel`.
Result<Window> read_window(const Call& call, std::span<const Dim> kernel);

// One window fits along axis i of `in` cells.
Condition window_fits(const Window& window, size_t i, Dim in);
// The number of windows along axis i of `in` cells, rounding down. Requires one window to fit, under `code`.
Result<Dim> window_count(InferContext& context, const Window& window, size_t i, Dim in, RuleCode code);
// The same, rounding up: a window may reach past the right padding but starts before it. REQUIRES: the kernel is a
// number and the end pads are smaller.
Result<Dim> window_count_ceil(InferContext& context, const Window& window, size_t i, Dim in, RuleCode code);

// For kernels: the padding of each spatial axis, with auto_pad resolved for these sizes. REQUIRES: the kernel of the
// window is made of numbers. Error "kernel.shape".
struct Padding {
  Temporary<int64_t> before, after;
};
// A window smaller than its stride may leave cells over: with `crop` they are cut off on both sides (as ONNX Runtime's
// pools do), otherwise all at the end.
Result<Padding> resolve_pads(const Window& window, std::span<const int64_t> in, std::span<const int64_t> out,
                             bool crop = false);

// A tensor input of rank `rank`, its dims. Codes "input.kind", "rank".
Result<Dims> dims_of_rank(const Call& call, size_t input, size_t rank);
// Optional input i, where present, is a vector of `size` entries.
Status require_vector(const Call& call, InferContext& context, size_t input, Dim size, RuleCode code,
                      std::string_view what);
// Input i has exactly these dims.
Status require_dims(const Call& call, InferContext& context, size_t input, const Dims& dims, RuleCode code,
                    std::string_view what);

}  // namespace anyshape::ops
