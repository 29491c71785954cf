#include <algorithm>

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/kernels/window_axes.h"
#include "run/cpu/simd/blocked.h"

// Convolutions into blocked channels, with constant weights. Of another number of lanes than the machine's they are
// planned, never run.
namespace anyshape::cpu {
namespace {

using simd::BlockedConv;

struct BlockedConvPrepared {
  BlockedConv conv;  // all that does not depend on the input's sizes
  WindowAxes window;
  RawFloats weights;
  bool here = false;  // the lanes are the machine's
};

// Channels, groups, kernel, strides and dilations. REQUIRES: the weights are constant, with one or two spatial axes.
Result<BlockedConvPrepared> read(const Call& call) {
  BlockedConvPrepared p;
  const Tensor& w = *call.in(1).constant;
  TRY(p.window, WindowAxes::read(call, std::span(w.dims()).subspan(2)));
  p.here = call.i("lanes") == simd::block_lanes();
  BlockedConv& c = p.conv;
  TRY(c.activation, read_activation(call));
  set_filters(p.window, w.dims(), call.i("group"), c);
  c.plain_input = call.in(0).dims && call.in(0).rank() == w.rank();
  c.exact = call.i("exact") != 0;
  return p;
}

std::string_view accepts_blocked_conv(const Call& call) {
  for (size_t i = 0; i < call.inputs(); ++i)
    if (call.has(i) && !is_f32(call, i)) return "its element type is not f32";
  if (!is_constant(call, 1)) return "the weights are not constant";
  const size_t rank = call.in(1).constant->rank();
  if (rank != 3 && rank != 4) return "it has neither one nor two spatial axes";
  const auto p = read(call);
  if (!p) return "its attributes are not understood";
  return p->here ? simd::blocked_conv_refuses(p->conv) : std::string_view();
}

Result<std::shared_ptr<const void>> prepare_blocked_conv(const Call& call) {
  TRY(BlockedConvPrepared read_of_call, read(call));
  auto p = std::make_shared<BlockedConvPrepared>(std::move(read_of_call));
  if (!p->here) return p;
  p->weights = RawFloats(static_cast<size_t>(simd::blocked_conv_packed_size(p->conv)));
  simd::blocked_conv_pack(p->conv, call.in(1).constant->bytes().data(), p->weights.data());
  p->conv.weights = p->weights.data();
  return p;
}

BlockedConv conv_of_blocked_conv(const ViewArgs& args) {
  const BlockedConvPrepared& p = prepared_as<BlockedConvPrepared>(args);
  BlockedConv c = p.conv;
  set_sizes(p.window, args.out[0].rank() == 5, args.in[0].dims, args.out[0].dims, c);
  lay_down(c);
  c.in = args.in[0].as<const float>();
  c.out = args.out[0].as<float>();
  c.bias = optional_floats(args, 2);
  c.residual = optional_floats(args, 3);
  return c;
}

// Nothing to compute, or not here.
bool idle(const ViewArgs& args) { return !prepared_as<BlockedConvPrepared>(args).here || args.out[0].count() == 0; }

int64_t tasks_of_blocked_conv(const BlockedConv& c, int64_t items) {
  // Lanes without a channel take as long.
  const int64_t filters = c.out_channels == 1 && c.groups > 1 ? 1 : round_up(c.out_channels, simd::block_lanes());
  const double work = static_cast<double>(c.batch * c.groups * filters) *
                      static_cast<double>(c.out_height * c.out_width) * static_cast<double>(c.in_channels) *
                      static_cast<double>(c.kernel_height * c.kernel_width);
  return tasks_for(items, work / static_cast<double>(items));
}

// What follows from the sizes.
struct Cut {
  int64_t items = 0, tasks = 1, slot = 0;  // slot: floats of scratch of a task
};

Cut cut_of(const ViewArgs& args) {
  if (args.bound) return *static_cast<const Cut*>(args.bound);
  if (idle(args)) return {};
  const BlockedConv c = conv_of_blocked_conv(args);
  const int64_t items = simd::blocked_conv_items(c);
  return {items, tasks_of_blocked_conv(c, items), round_up(simd::blocked_conv_scratch(c), 16)};
}

void bind(const ViewArgs& args, std::byte* to) { new (to) Cut(cut_of(args)); }

int64_t tasks_blocked_conv(const ViewArgs& args) { return cut_of(args).tasks; }

int64_t scratch_blocked_conv(const ViewArgs& args) {
  const Cut cut = cut_of(args);
  return cut.slot == 0 ? 0 : Slot::kHead + cut.tasks * cut.slot * static_cast<int64_t>(sizeof(float));
}

Status begin(const ViewArgs& args) {
  if (cut_of(args).slot > 0) Slot::clear(args.scratch);
  return {};
}

std::string_view way(const ViewArgs& args) {
  return idle(args) ? "" : simd::blocked_conv_way(conv_of_blocked_conv(args));
}

Status run_blocked_conv(const ViewArgs& args, int64_t first, int64_t last) {
  if (!prepared_as<BlockedConvPrepared>(args).here) return usage("plan.lanes", "the plan is for another machine");
  if (idle(args) || first == last) return {};
  const BlockedConv c = conv_of_blocked_conv(args);
  const Cut cut = cut_of(args);
  // In one call: neighbouring items have work in common.
  const int64_t begin = share_of(cut.items, cut.tasks, first).first;
  const int64_t end = share_of(cut.items, cut.tasks, last - 1).last;
  if (cut.slot == 0) {
    simd::blocked_conv_run(c, begin, end, nullptr);
  } else {
    const Slot slot(args.scratch);
    float* scratch = reinterpret_cast<float*>(args.scratch + Slot::kHead) + slot.index() * cut.slot;
    simd::blocked_conv_run(c, begin, end, scratch);
  }
  return {};
}

}  // namespace

constexpr EngineKernel kBlockedConv = {.name = "f32 blocked",
                                       .accepts = accepts_blocked_conv,
                                       .prepare = prepare_blocked_conv,
                                       .scratch = scratch_blocked_conv,
                                       .tasks = tasks_blocked_conv,
                                       .begin = begin,
                                       .bind = bind,
                                       .bound_bytes = sizeof(Cut),
                                       .run = run_blocked_conv,
                                       .way = way,
                                       .in_place = 1u << 3,
                                       .packed = 1u << 1};

}  // namespace anyshape::cpu
