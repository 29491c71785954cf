#include "ops/nn/window.h"
#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/simd/pool_f32.h"

// MaxPool and AveragePool of f32 over one to three spatial axes. Over three: first within each layer, then over layers.
namespace anyshape::cpu {
namespace {

using kernels::PlanePool;
using kernels::PoolAxis;
using ops::AutoPad;

struct PoolPrepared {
  PlanePool pool;  // all that does not depend on the input's sizes
  PoolAxis layers;
  AutoPad auto_pad = AutoPad::explicit_pads;
  bool average = false;
};

std::string_view accepts_pool(const Call& call) {
  if (!is_f32(call, 0)) return "its element type is not f32";
  if (call.has_output(1)) return "it gives the places of the maxima";
  const auto* kernel = call.ints("kernel_shape");
  return kernel && !kernel->empty() && kernel->size() <= 3 ? "" : "it has not one to three spatial axes";
}

Result<std::shared_ptr<const void>> prepare_pool(const Call& call) {
  auto p = std::make_shared<PoolPrepared>();
  TRY(const auto kernel, ops::axis_ints(call, "kernel_shape", call.ints("kernel_shape")->size(), 0, 1));
  TRY(const ops::Window w, ops::read_window(call, Dims(kernel.begin(), kernel.end())));
  p->auto_pad = w.auto_pad;
  p->average = call.type() == "AveragePool";
  p->pool.count_padding = p->average && call.version() >= 7 && call.i("count_include_pad") != 0;
  PoolAxis* axes[] = {&p->layers, &p->pool.y, &p->pool.x};
  for (size_t i = 0; i < w.rank(); ++i) {
    PoolAxis& axis = *axes[3 - w.rank() + i];
    axis.kernel = kernel[i];
    axis.stride = w.strides[i];
    axis.dilation = w.dilations[i];
    axis.pad = w.pads_begin[i];
    axis.pad_end = w.pads_end[i];
  }
  return p;
}

void set_sizes(AutoPad auto_pad, int64_t in, int64_t out, PoolAxis& axis) {
  axis.in = in;
  axis.out = out;
  if (auto_pad == AutoPad::valid) axis.pad = axis.pad_end = 0;
  if (auto_pad != AutoPad::same_upper && auto_pad != AutoPad::same_lower) return;
  const int64_t total = (out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1 - in;
  axis.pad = (auto_pad == AutoPad::same_upper ? total : total + 1) / 2;
  axis.pad_end = total - axis.pad;
}

PlanePool bound_pool(const ViewArgs& args) {
  const PoolPrepared& p = prepared_as<PoolPrepared>(args);
  PlanePool pool = p.pool;
  const auto in = args.in[0].dims, out = args.out[0].dims;
  set_sizes(p.auto_pad, in.back(), out.back(), pool.x);
  if (in.size() >= 4) set_sizes(p.auto_pad, in[in.size() - 2], out[out.size() - 2], pool.y);
  return pool;
}

// Over the layers of what the pool makes of each: places of one layer are neighbours.
PlanePool layers_of(const ViewArgs& args, const PlanePool& pool) {
  const PoolPrepared& p = prepared_as<PoolPrepared>(args);
  PlanePool layers;
  layers.count_padding = pool.count_padding;
  layers.x.in = layers.x.out = pool.y.out * pool.x.out;
  layers.y = p.layers;
  const bool three = args.in[0].rank() == 5;
  set_sizes(three ? p.auto_pad : AutoPad::explicit_pads, three ? args.in[0].dims[2] : 1,
            three ? args.out[0].dims[2] : 1, layers.y);
  return layers;
}

int64_t planes_of(const ViewArgs& args) { return args.out[0].dims[0] * args.out[0].dims[1]; }

int64_t tasks_pool(const ViewArgs& args) {
  const PlanePool pool = bound_pool(args);
  const double cells = static_cast<double>(pool.y.out * pool.x.out) * static_cast<double>(pool.y.kernel) *
                       static_cast<double>(pool.x.kernel) *
                       static_cast<double>(args.in[0].rank() == 5 ? args.in[0].dims[2] : 1);
  return tasks_for(planes_of(args), cells);
}

// Of a task: the sums of a row, then what a pool of three axes makes of each layer.
struct Room {
  int64_t sums = 0, layers = 0;  // bytes
};
Room room_of(const ViewArgs& args) {
  const PlanePool pool = bound_pool(args);
  const bool three = args.in[0].rank() == 5;
  const int64_t layer = pool.y.out * pool.x.out;
  Room room;
  if (prepared_as<PoolPrepared>(args).average)
    room.sums = round_up(three ? std::max(layer, pool.x.out) : pool.x.out, 8) * static_cast<int64_t>(sizeof(double));
  if (three) room.layers = round_up(args.in[0].dims[2] * layer, 16) * static_cast<int64_t>(sizeof(float));
  return room;
}

int64_t scratch_pool(const ViewArgs& args) {
  const Room room = room_of(args);
  return room.sums + room.layers == 0 ? 0 : tasks_pool(args) * (room.sums + room.layers);
}

void pool_plane(const PlanePool& pool, bool average, const float* in, float* out, double* sums) {
  if (average)
    kernels::average_pool_plane(pool, in, out, sums);
  else
    kernels::max_pool_plane(pool, in, out);
}

Status run_pool(const ViewArgs& args, int64_t first, int64_t last) {
  if (args.out[0].count() == 0) return {};
  const PlanePool pool = bound_pool(args), layers = layers_of(args, pool);
  const bool average = prepared_as<PoolPrepared>(args).average, three = args.in[0].rank() == 5;
  const int64_t from = pool.y.in * pool.x.in, to = pool.y.out * pool.x.out, all = tasks_pool(args);
  const float* in = args.in[0].as<const float>();
  float* out = args.out[0].as<float>();
  const Room room = room_of(args);
  for (int64_t t = first; t < last; ++t) {
    const Share share = share_of(planes_of(args), all, t);
    std::byte* own = args.scratch + t * (room.sums + room.layers);
    double* sums = reinterpret_cast<double*>(own);
    float* made = reinterpret_cast<float*>(own + room.sums);
    for (int64_t plane = share.first; plane < share.last; ++plane) {
      const float* begin = in + plane * from * layers.y.in;
      float* end = out + plane * to * layers.y.out;
      for (int64_t z = 0; z < layers.y.in; ++z)
        pool_plane(pool, average, begin + z * from, three ? made + z * to : end, sums);
      if (three) pool_plane(layers, average, made, end, sums);
    }
  }
  return {};
}

}  // namespace

constexpr EngineKernel kPool = {.name = "f32 planes",
                                .accepts = accepts_pool,
                                .prepare = prepare_pool,
                                .scratch = scratch_pool,
                                .tasks = tasks_pool,
                                .run = run_pool};

}  // namespace anyshape::cpu
