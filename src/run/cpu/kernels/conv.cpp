#include <algorithm>

#include "ops/nn/window.h"
#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/simd/conv_f32.h"

// Conv of f32 over one or two spatial axes, with constant weights.
namespace anyshape::cpu {
namespace {

using ops::AutoPad;
using ops::Window;
using simd::Conv;

struct Prepared {
  Conv conv;  // all that does not depend on the input's sizes
  Floats weights;
  AutoPad auto_pad = AutoPad::explicit_pads;
};

std::string_view accepts(const Call& call) {
  for (size_t i = 0; i < call.inputs(); ++i)
    if (call.has(i) && !is_f32(call, i)) return "its element type is not f32";
  if (!is_constant(call, 1)) return "the weights are not constant";
  if (!read_activation(call)) return "its activation is none of those computed with it";
  const size_t rank = call.in(1).constant->rank();
  return rank == 3 || rank == 4 ? "" : "it has neither one nor two spatial axes";
}

// Entry i of a list with one entry per spatial axis, the width last; a missing height has `fallback`.
int64_t height_of(std::span<const int64_t> list, int64_t fallback) { return list.size() > 1 ? list[0] : fallback; }

Result<std::shared_ptr<const void>> prepare(const Call& call) {
  auto p = std::make_shared<Prepared>();
  const Tensor& w = *call.in(1).constant;
  const std::vector<int64_t> kernel(w.dims().begin() + 2, w.dims().end());
  TRY(const Window window, ops::read_window(call, Dims(kernel.begin(), kernel.end())));
  p->auto_pad = window.auto_pad;
  Conv& c = p->conv;
  TRY(c.activation, read_activation(call));
  c.groups = std::max<int64_t>(call.i("group"), 1);
  c.out_channels = w.dims()[0] / c.groups;
  c.in_channels = w.dims()[1];
  c.kernel_width = kernel.back();
  c.kernel_height = height_of(kernel, 1);
  c.stride_x = window.strides.back();
  c.stride_y = height_of(window.strides, 1);
  c.dilation_x = window.dilations.back();
  c.dilation_y = height_of(window.dilations, 1);
  c.pad_left = window.pads_begin.back();
  c.pad_top = height_of(window.pads_begin, 0);
  p->weights.resize(static_cast<size_t>(simd::conv_packed_size(c.groups, c.out_channels, c.depth())));
  simd::conv_pack(w.bytes().data(), c.groups, c.out_channels, c.depth(), p->weights.data());
  c.weights = p->weights.data();
  return p;
}

// What SAME_UPPER and SAME_LOWER put before the first cell.
int64_t same_pad(AutoPad kind, int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation) {
  const int64_t all = std::max<int64_t>((out - 1) * stride + (kernel - 1) * dilation + 1 - in, 0);
  return kind == AutoPad::same_upper ? all / 2 : all - all / 2;
}

const float* optional(const ViewArgs& args, size_t i) {
  return i < args.in.size() && args.in[i] ? args.in[i].as<const float>() : nullptr;
}

Conv conv_of(const ViewArgs& args) {
  const Prepared& p = *static_cast<const Prepared*>(args.prepared);
  Conv c = p.conv;
  const View &in = args.in[0], &out = args.out[0];
  c.batch = in.dims[0];
  c.in_width = in.dims.back();
  c.out_width = out.dims.back();
  c.in_height = in.rank() == 4 ? in.dims[2] : 1;
  c.out_height = in.rank() == 4 ? out.dims[2] : 1;
  if (p.auto_pad == AutoPad::same_upper || p.auto_pad == AutoPad::same_lower) {
    c.pad_left = same_pad(p.auto_pad, c.in_width, c.out_width, c.kernel_width, c.stride_x, c.dilation_x);
    c.pad_top = same_pad(p.auto_pad, c.in_height, c.out_height, c.kernel_height, c.stride_y, c.dilation_y);
  }
  c.in = in.as<const float>();
  c.out = out.as<float>();
  c.bias = optional(args, 2);
  c.residual = optional(args, 3);
  return c;
}

bool empty(const Conv& c) { return c.batch * c.groups * c.out_channels * c.places() == 0; }

int64_t tasks_of(const Conv& c) {
  if (empty(c)) return 1;
  const int64_t items = simd::conv_items(c);
  const double work = static_cast<double>(c.batch * c.groups * c.out_channels) * static_cast<double>(c.places()) *
                      static_cast<double>(c.depth());
  return tasks_for(items, work / static_cast<double>(items));
}

int64_t slot_of(const Conv& c) { return round_up(simd::conv_scratch(c), 16); }

int64_t tasks(const ViewArgs& args) { return tasks_of(conv_of(args)); }

int64_t scratch(const ViewArgs& args) {
  const Conv c = conv_of(args);
  return empty(c) ? 0 : tasks_of(c) * slot_of(c) * static_cast<int64_t>(sizeof(float));
}

Status run(const ViewArgs& args, int64_t first, int64_t last) {
  const Conv c = conv_of(args);
  if (empty(c)) return {};
  const int64_t all = tasks_of(c), items = simd::conv_items(c);
  for (int64_t t = first; t < last; ++t) {
    const Share share = share_of(items, all, t);
    simd::conv_run(c, share.first, share.last, reinterpret_cast<float*>(args.scratch) + t * slot_of(c));
  }
  return {};
}

}  // namespace

constexpr EngineKernel kConv = {.name = "f32 packed",
                                .accepts = accepts,
                                .prepare = prepare,
                                .scratch = scratch,
                                .tasks = tasks,
                                .run = run,
                                .packed = 1u << 1};

}  // namespace anyshape::cpu
