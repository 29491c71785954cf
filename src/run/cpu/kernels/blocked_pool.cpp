#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/kernels/window_axes.h"
#include "run/cpu/simd/blocked.h"
#include "run/cpu/simd/strided_copy.h"

// Pools of blocked channels, and the way from and to plain ones. Of another number of lanes than the machine's they are
// planned, never run.
namespace anyshape::cpu {
namespace {

using simd::BlockedPool;

struct Pool {
  WindowAxes window;
  BlockedPool::Kind kind = BlockedPool::Kind::max;
  bool count_include_pad = false;
  bool here = false;  // the lanes are the machine's
};

std::string_view accepts_blocked_pool(const Call& call) {
  if (!is_f32(call, 0)) return "its element type is not f32";
  const auto* kernel = call.ints("kernel_shape");
  return kernel && (kernel->size() == 1 || kernel->size() == 2) ? "" : "it has neither one nor two spatial axes";
}

Result<std::shared_ptr<const void>> prepare_blocked_pool(const Call& call) {
  auto p = std::make_shared<Pool>();
  TRY(p->window, WindowAxes::read(call, *call.ints("kernel_shape")));
  p->here = call.i("lanes") == simd::block_lanes();
  if (call.type() == "BlockedMaxPool") return p;
  p->kind = BlockedPool::Kind::average;
  p->count_include_pad = call.i("count_include_pad") != 0;
  return p;
}

BlockedPool pool_of_blocked_pool(const ViewArgs& args) {
  const Pool& p = prepared_as<Pool>(args);
  const auto in = args.in[0].dims, out = args.out[0].dims;
  const bool plane = out.size() == 5;
  BlockedPool pool;
  pool.kind = p.kind;
  pool.planes = out[0] * out[1];
  pool.in_height = plane ? in[2] : 1;
  pool.in_width = plane ? in[3] : in[2];
  pool.out_height = plane ? out[2] : 1;
  pool.out_width = plane ? out[3] : out[2];
  const WindowAxis y = p.window.at(p.window.y, pool.in_height, pool.out_height, true);
  const WindowAxis x = p.window.at(p.window.x, pool.in_width, pool.out_width, true);
  pool.kernel_height = y.kernel;
  pool.kernel_width = x.kernel;
  pool.stride_y = y.stride;
  pool.stride_x = x.stride;
  pool.dilation_y = y.dilation;
  pool.dilation_x = x.dilation;
  pool.pad_top = y.pad;
  pool.pad_left = x.pad;
  pool.pad_bottom = y.pad_end;
  pool.pad_right = x.pad_end;
  pool.count_include_pad = p.count_include_pad;
  pool.in = args.in[0].as<const float>();
  pool.out = args.out[0].as<float>();
  return pool;
}

int64_t pool_tasks(const ViewArgs& args) {
  const BlockedPool p = pool_of_blocked_pool(args);
  const double cells = static_cast<double>(p.out_height * p.out_width) *
                       static_cast<double>(p.kernel_height * p.kernel_width) *
                       static_cast<double>(args.out[0].dims.back());
  return tasks_for(p.planes, cells);
}

Status run_blocked_pool(const ViewArgs& args, int64_t first, int64_t last) {
  if (!prepared_as<Pool>(args).here) return usage("plan.lanes", "the plan is for another machine");
  if (args.out[0].count() == 0) return {};
  const BlockedPool pool = pool_of_blocked_pool(args);
  const int64_t all = pool_tasks(args);
  const Share begin = share_of(pool.planes, all, first), end = share_of(pool.planes, all, last - 1);
  simd::blocked_pool_run(pool, begin.first, end.last);
  return {};
}

std::string_view accepts_reorder(const Call& call) { return is_f32(call, 0) ? "" : "its element type is not f32"; }

// A tensor in both layouts.
struct Reorder {
  int64_t channels = 0, plane = 1, items = 0, lanes = 0;
};

Reorder reorder_of(const View& plain, const View& blocked) {
  Reorder out{plain.dims[1], 1, blocked.dims[0] * blocked.dims[1], blocked.dims.back()};
  for (size_t i = 2; i < plain.dims.size(); ++i) out.plane *= plain.dims[i];
  return out;
}

int64_t tasks_of_blocked_pool(const Reorder& r) {
  return tasks_for(r.items, 4.0 * static_cast<double>(r.plane) * static_cast<double>(r.lanes));
}

int64_t to_tasks(const ViewArgs& args) { return tasks_of_blocked_pool(reorder_of(args.in[0], args.out[0])); }
int64_t from_tasks(const ViewArgs& args) { return tasks_of_blocked_pool(reorder_of(args.out[0], args.in[0])); }

// The blocks first..last - 1 of an input with any strides: channels-last ones are copied place by place.
void gather_blocks(const View& in, const Reorder& r, int64_t first, int64_t last, float* out) {
  constexpr size_t kMostAxes = 3;
  const int64_t blocks = (r.channels + r.lanes - 1) / r.lanes;
  const size_t rank = in.rank() - 1;  // places, then the channels of the block
  int64_t dims[kMostAxes], strides[kMostAxes], steps[kMostAxes];
  for (int64_t i = first; i < last; ++i) {
    const int64_t channel = i % blocks * r.lanes, n = std::min(r.lanes, r.channels - channel);
    float* to = out + i * r.plane * r.lanes;
    int64_t step = r.lanes;
    for (size_t k = rank - 1; k-- > 0; step *= dims[k]) {
      dims[k] = in.dims[k + 2];
      strides[k] = in.strides[k + 2];
      steps[k] = step;
    }
    dims[rank - 1] = n;
    strides[rank - 1] = in.strides[1];
    steps[rank - 1] = 1;
    const std::span sizes(dims, rank);
    const float* from = in.as<const float>() + i / blocks * in.strides[0] + channel * in.strides[1];
    simd::copy_view({in.dtype, sizes, std::span(strides, rank), reinterpret_cast<std::byte*>(const_cast<float*>(from))},
                    {in.dtype, sizes, std::span(steps, rank), reinterpret_cast<std::byte*>(to)});
    for (int64_t j = 0; n < r.lanes && j < r.plane; ++j) std::fill_n(to + j * r.lanes + n, r.lanes - n, 0.0f);
  }
}

// The items of the tasks first..last - 1.
Result<Share> items_of(const ViewArgs& args, const Reorder& r, int64_t first, int64_t last) {
  if (r.lanes != simd::block_lanes()) return usage("plan.lanes", "the plan is for another machine");
  if (args.out[0].count() == 0) return Share{0, 0};
  const int64_t all = tasks_of_blocked_pool(r);
  return Share{share_of(r.items, all, first).first, share_of(r.items, all, last - 1).last};
}

Status run_to(const ViewArgs& args, int64_t first, int64_t last) {
  const View& in = args.in[0];
  const Reorder r = reorder_of(in, args.out[0]);
  TRY(const Share items, items_of(args, r, first, last));
  if (items.first == items.last) return {};
  auto* out = args.out[0].as<float>();
  if (in.dense())
    simd::to_blocked(in.as<const float>(), r.channels, r.plane, items.first, items.last, out);
  else
    gather_blocks(in, r, items.first, items.last, out);
  return {};
}

Status run_from(const ViewArgs& args, int64_t first, int64_t last) {
  const Reorder r = reorder_of(args.out[0], args.in[0]);
  TRY(const Share items, items_of(args, r, first, last));
  if (items.first == items.last) return {};
  simd::from_blocked(args.in[0].as<const float>(), r.channels, r.plane, items.first, items.last,
                     args.out[0].as<float>());
  return {};
}

}  // namespace

constexpr EngineKernel kBlockedPool = {.name = "f32 blocked",
                                       .accepts = accepts_blocked_pool,
                                       .prepare = prepare_blocked_pool,
                                       .tasks = pool_tasks,
                                       .run = run_blocked_pool};
constexpr EngineKernel kFromBlocked = {
    .name = "f32 reorder", .accepts = accepts_reorder, .tasks = from_tasks, .run = run_from};
constexpr EngineKernel kToBlocked = {
    .name = "f32 reorder", .accepts = accepts_reorder, .tasks = to_tasks, .run = run_to, .strided = 1u << 0};

}  // namespace anyshape::cpu
