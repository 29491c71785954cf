#include "ops/nn/conv_transpose.h"

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/simd/conv_transpose_f32.h"

// ConvTranspose of f32 over one to three spatial axes.
namespace anyshape::cpu {
namespace {

using simd::ConvTranspose;

struct ConvTransposePrepared {
  ops::TransposedWindow transposed;
  int64_t groups = 1;
};

std::string_view accepts_conv_transpose(const Call& call) {
  for (size_t i = 0; i < call.inputs(); ++i)
    if (call.has(i) && !is_f32(call, i)) return "its element type is not f32";
  const Fact& w = call.in(1);
  if (!w.dims || w.rank() < 3 || w.rank() > 5) return "it has not one to three spatial axes";
  return w.numeric_dims() ? "" : "the sizes of the weights are not known";
}

Result<std::shared_ptr<const void>> prepare_conv_transpose(const Call& call) {
  auto p = std::make_shared<ConvTransposePrepared>();
  TRY(p->transposed, ops::read_transposed_window(call, *call.in(1).dims));
  p->groups = call.i("group");
  return p;
}

ConvTranspose operation_of(const ViewArgs& args) {
  const ConvTransposePrepared& p = prepared_as<ConvTransposePrepared>(args);
  const ops::Window& window = p.transposed.window;
  const View &in = args.in[0], &w = args.in[1], &out = args.out[0];
  const size_t x = window.rank() - 1;
  ConvTranspose c;
  c.batch = in.dims[0];
  c.groups = p.groups;
  c.in_channels = in.dims[1] / p.groups;
  c.out_channels = w.dims[1];
  c.in_width = in.dims.back();
  c.out_width = out.dims.back();
  c.kernel_width = w.dims.back();
  c.stride_x = window.strides[x];
  c.dilation_x = window.dilations[x];
  c.cut_left = ops::cut_before(p.transposed, x, c.in_width, c.out_width);
  if (x > 0) {
    c.in_height = in.dims[x + 1];
    c.out_height = out.dims[x + 1];
    c.kernel_height = w.dims[x + 1];
    c.stride_y = window.strides[x - 1];
    c.dilation_y = window.dilations[x - 1];
    c.cut_top = ops::cut_before(p.transposed, x - 1, c.in_height, c.out_height);
  }
  if (x > 1) {
    c.in_layers = in.dims[2];
    c.out_layers = out.dims[2];
    c.kernel_layers = w.dims[2];
    c.stride_z = window.strides[0];
    c.dilation_z = window.dilations[0];
    c.cut_front = ops::cut_before(p.transposed, 0, c.in_layers, c.out_layers);
  }
  c.in = in.as<const float>();
  c.weights = w.as<const float>();
  c.bias = args.in.size() > 2 && args.in[2] ? args.in[2].as<const float>() : nullptr;
  c.out = out.as<float>();
  return c;
}

bool empty_conv_transpose(const ConvTranspose& c) { return c.batch * c.groups * c.out_channels * c.out_places() == 0; }

int64_t tasks_of_conv_transpose(const ConvTranspose& c) {
  if (empty_conv_transpose(c)) return 1;
  const int64_t items = simd::conv_transpose_items(c);
  const double work = static_cast<double>(c.batch * c.groups * c.in_channels) * static_cast<double>(c.out_channels) *
                      static_cast<double>(c.in_places()) * static_cast<double>(c.area());
  return tasks_for(items, work / static_cast<double>(items));
}

int64_t slot_of_conv_transpose(const ConvTranspose& c) { return round_up(simd::conv_transpose_scratch(c), 16); }

int64_t tasks_conv_transpose(const ViewArgs& args) { return tasks_of_conv_transpose(operation_of(args)); }

int64_t scratch_conv_transpose(const ViewArgs& args) {
  const ConvTranspose c = operation_of(args);
  return empty_conv_transpose(c)
             ? 0
             : tasks_of_conv_transpose(c) * slot_of_conv_transpose(c) * static_cast<int64_t>(sizeof(float));
}

Status run_conv_transpose(const ViewArgs& args, int64_t first, int64_t last) {
  const ConvTranspose c = operation_of(args);
  if (empty_conv_transpose(c)) return {};
  const int64_t all = tasks_of_conv_transpose(c), items = simd::conv_transpose_items(c);
  for (int64_t t = first; t < last; ++t) {
    const Share share = share_of(items, all, t);
    simd::conv_transpose_run(c, share.first, share.last,
                             reinterpret_cast<float*>(args.scratch) + t * slot_of_conv_transpose(c));
  }
  return {};
}

}  // namespace

constexpr EngineKernel kConvTranspose = {.name = "f32 products",
                                         .accepts = accepts_conv_transpose,
                                         .prepare = prepare_conv_transpose,
                                         .scratch = scratch_conv_transpose,
                                         .tasks = tasks_conv_transpose,
                                         .run = run_conv_transpose};

}  // namespace anyshape::cpu
