#include <algorithm>

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/kernels/window_axes.h"
#include "run/cpu/simd/conv_f32.h"

// Conv of f32 over one to three spatial axes, with constant weights.
namespace anyshape::cpu {
namespace {

using simd::Conv;

struct ConvPrepared {
  Conv conv;  // all that does not depend on the input's sizes
  RawFloats weights;
  WindowAxes window;
};

std::string_view accepts_conv(const Call& call) {
  for (size_t i = 0; i < call.inputs(); ++i)
    if (call.has(i) && !is_f32(call, i)) return "its element type is not f32";
  if (!is_constant(call, 1)) return "the weights are not constant";
  if (!read_activation(call)) return "its activation is none of those computed with it";
  const size_t rank = call.in(1).constant->rank();
  return rank >= 3 && rank <= 5 ? "" : "it has not one to three spatial axes";
}

Result<std::shared_ptr<const void>> prepare_conv(const Call& call) {
  auto p = std::make_shared<ConvPrepared>();
  const Tensor& w = *call.in(1).constant;
  TRY(p->window, WindowAxes::read(call, std::span(w.dims()).subspan(2)));
  Conv& c = p->conv;
  TRY(c.activation, read_activation(call));
  set_filters(p->window, w.dims(), call.i("group"), c);
  c.kernel_layers = p->window.z.kernel;
  c.stride_z = p->window.z.stride;
  c.dilation_z = p->window.z.dilation;
  p->weights = RawFloats(static_cast<size_t>(simd::conv_packed_size(c.groups, c.out_channels, c.depth())));
  simd::conv_pack(w.bytes().data(), c.groups, c.out_channels, c.depth(), p->weights.data());
  c.weights = p->weights.data();
  return p;
}

// The sizes without the first spatial axis.
struct OneLayer {
  int64_t dims[4];
  explicit OneLayer(const View& view) : dims{view.dims[0], view.dims[1], view.dims[3], view.dims[4]} {}
};

void set_sizes_of(const WindowAxes& window, const View& in, const View& out, Conv& c) {
  if (in.rank() < 5) return set_sizes(window, in.rank() == 4, in.dims, out.dims, c);
  set_sizes(window, true, OneLayer(in).dims, OneLayer(out).dims, c);
  c.in_layers = in.dims[2];
  c.out_layers = out.dims[2];
  c.pad_front = window.at(window.z, c.in_layers, c.out_layers, false).pad;
}

Conv bound_conv(const ViewArgs& args) {
  const ConvPrepared& p = prepared_as<ConvPrepared>(args);
  Conv c = p.conv;
  const View &in = args.in[0], &out = args.out[0];
  set_sizes_of(p.window, in, out, c);
  c.in = in.as<const float>();
  c.out = out.as<float>();
  c.bias = optional_floats(args, 2);
  c.residual = optional_floats(args, 3);
  return c;
}

bool empty_conv(const Conv& c) { return c.batch * c.groups * c.out_channels * c.places() == 0; }

int64_t tasks_of_conv(const Conv& c) {
  if (empty_conv(c)) return 1;
  const int64_t items = simd::conv_items(c);
  const double work = static_cast<double>(c.batch * c.groups * c.out_channels) * static_cast<double>(c.places()) *
                      static_cast<double>(c.depth());
  return tasks_for(items, work / static_cast<double>(items));
}

int64_t slot_of_conv(const Conv& c) { return round_up(simd::conv_scratch(c), 16); }

int64_t tasks_conv(const ViewArgs& args) { return tasks_of_conv(bound_conv(args)); }

int64_t scratch_conv(const ViewArgs& args) {
  const Conv c = bound_conv(args);
  return empty_conv(c) ? 0 : tasks_of_conv(c) * slot_of_conv(c) * static_cast<int64_t>(sizeof(float));
}

Status run_conv(const ViewArgs& args, int64_t first, int64_t last) {
  const Conv c = bound_conv(args);
  if (empty_conv(c)) return {};
  const int64_t all = tasks_of_conv(c), items = simd::conv_items(c);
  for (int64_t t = first; t < last; ++t) {
    const Share share = share_of(items, all, t);
    simd::conv_run(c, share.first, share.last, reinterpret_cast<float*>(args.scratch) + t * slot_of_conv(c));
  }
  return {};
}

}  // namespace

constexpr EngineKernel kConv = {.name = "f32 packed",
                                .accepts = accepts_conv,
                                .prepare = prepare_conv,
                                .scratch = scratch_conv,
                                .tasks = tasks_conv,
                                .run = run_conv,
                                .packed = 1u << 1};

}  // namespace anyshape::cpu
