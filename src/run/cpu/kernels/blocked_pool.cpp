#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/kernels/window_axes.h"
#include "run/cpu/simd/blocked.h"

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

std::string_view accepts_pool(const Call& call) {
  if (!is_f32(call, 0)) return "its element type is not f32";
  const auto* kernel = call.ints("kernel_shape");
  return kernel && (kernel->size() == 1 || kernel->size() == 2) ? "" : "it has neither one nor two spatial axes";
}

Result<std::shared_ptr<const void>> prepare_pool(const Call& call) {
  auto p = std::make_shared<Pool>();
  TRY(p->window, WindowAxes::read(call, *call.ints("kernel_shape")));
  p->here = call.i("lanes") == simd::block_lanes();
  if (call.type() == "BlockedMaxPool") return p;
  p->kind = BlockedPool::Kind::average;
  p->count_include_pad = call.i("count_include_pad") != 0;
  return p;
}

BlockedPool pool_of(const ViewArgs& args) {
  const Pool& p = *static_cast<const Pool*>(args.prepared);
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
  const BlockedPool p = pool_of(args);
  const double cells = static_cast<double>(p.out_height * p.out_width) *
                       static_cast<double>(p.kernel_height * p.kernel_width) *
                       static_cast<double>(args.out[0].dims.back());
  return tasks_for(p.planes, cells);
}

Status run_pool(const ViewArgs& args, int64_t first, int64_t last) {
  if (!static_cast<const Pool*>(args.prepared)->here) return usage("plan.lanes", "the plan is for another machine");
  if (args.out[0].count() == 0) return {};
  const BlockedPool pool = pool_of(args);
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

int64_t tasks_of(const Reorder& r) {
  return tasks_for(r.items, 4.0 * static_cast<double>(r.plane) * static_cast<double>(r.lanes));
}

int64_t to_tasks(const ViewArgs& args) { return tasks_of(reorder_of(args.in[0], args.out[0])); }
int64_t from_tasks(const ViewArgs& args) { return tasks_of(reorder_of(args.out[0], args.in[0])); }

template <class Loop>
Status run_reorder(const ViewArgs& args, const Reorder& r, int64_t first, int64_t last, Loop loop) {
  if (r.lanes != simd::block_lanes()) return usage("plan.lanes", "the plan is for another machine");
  if (args.out[0].count() == 0) return {};
  const int64_t all = tasks_of(r);
  const Share begin = share_of(r.items, all, first), end = share_of(r.items, all, last - 1);
  loop(args.in[0].as<const float>(), r.channels, r.plane, begin.first, end.last, args.out[0].as<float>());
  return {};
}

Status run_to(const ViewArgs& args, int64_t first, int64_t last) {
  return run_reorder(args, reorder_of(args.in[0], args.out[0]), first, last, simd::to_blocked);
}
Status run_from(const ViewArgs& args, int64_t first, int64_t last) {
  return run_reorder(args, reorder_of(args.out[0], args.in[0]), first, last, simd::from_blocked);
}

}  // namespace

constexpr EngineKernel kBlockedPool = {
    .name = "f32 blocked", .accepts = accepts_pool, .prepare = prepare_pool, .tasks = pool_tasks, .run = run_pool};
constexpr EngineKernel kFromBlocked = {
    .name = "f32 reorder", .accepts = accepts_reorder, .tasks = from_tasks, .run = run_from};
constexpr EngineKernel kToBlocked = {
    .name = "f32 reorder", .accepts = accepts_reorder, .tasks = to_tasks, .run = run_to};

}  // namespace anyshape::cpu
