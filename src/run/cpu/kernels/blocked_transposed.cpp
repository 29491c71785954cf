#include <algorithm>

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/simd/blocked.h"

// Transposed convolutions of blocked channels whose windows do not overlap. Of another number of lanes than the
// machine's they are planned, never run.
namespace anyshape::cpu {
namespace {

using simd::BlockedTransposed;

struct BlockedTransposedPrepared {
  BlockedTransposed conv;  // all that does not depend on the input's sizes
  RawFloats weights;
  bool here = false;  // the lanes are the machine's
};

std::string_view accepts_blocked_transposed(const Call& call) {
  for (size_t i = 0; i < call.inputs(); ++i)
    if (call.has(i) && !is_f32(call, i)) return "its element type is not f32";
  if (!is_constant(call, 1)) return "the weights are not constant";
  const auto& w = call.in(1).constant->dims();
  const auto* strides = call.ints("strides");
  if (w.size() != 3 && w.size() != 4) return "it has neither one nor two spatial axes";
  return strides && std::equal(strides->begin(), strides->end(), w.begin() + 2, w.end()) ? "" : "its windows overlap";
}

Result<std::shared_ptr<const void>> prepare_blocked_transposed(const Call& call) {
  auto p = std::make_shared<BlockedTransposedPrepared>();
  const auto& w = call.in(1).constant->dims();
  p->here = call.i("lanes") == simd::block_lanes();
  p->conv.in_channels = w[0];
  p->conv.out_channels = w[1];
  p->conv.stride_y = w.size() == 4 ? w[2] : 1;
  p->conv.stride_x = w.back();
  if (!p->here) return p;
  p->weights = RawFloats(static_cast<size_t>(simd::blocked_transposed_packed_size(p->conv)));
  simd::blocked_transposed_pack(p->conv, call.in(1).constant->bytes().data(), p->weights.data());
  p->conv.weights = p->weights.data();
  return p;
}

BlockedTransposed conv_of_blocked_transposed(const ViewArgs& args) {
  BlockedTransposed c = prepared_as<BlockedTransposedPrepared>(args).conv;
  const auto in = args.in[0].dims;
  c.batch = in[0];
  c.in_height = in.size() == 5 ? in[2] : 1;
  c.in_width = in.size() == 5 ? in[3] : in[2];
  c.in = args.in[0].as<const float>();
  c.out = args.out[0].as<float>();
  c.bias = args.in.size() > 2 && args.in[2] ? args.in[2].as<const float>() : nullptr;
  return c;
}

int64_t tasks_of_blocked_transposed(const BlockedTransposed& c, int64_t outputs) {
  const int64_t items = simd::blocked_transposed_items(c);
  const double work = static_cast<double>(outputs) * static_cast<double>(c.in_channels);
  return tasks_for(items, work / static_cast<double>(std::max<int64_t>(items, 1)));
}

int64_t tasks_blocked_transposed(const ViewArgs& args) {
  const int64_t outputs = args.out[0].count();
  return !prepared_as<BlockedTransposedPrepared>(args).here || outputs == 0
             ? 1
             : tasks_of_blocked_transposed(conv_of_blocked_transposed(args), outputs);
}

Status run_blocked_transposed(const ViewArgs& args, int64_t first, int64_t last) {
  if (!prepared_as<BlockedTransposedPrepared>(args).here) return usage("plan.lanes", "the plan is for another machine");
  if (args.out[0].count() == 0) return {};
  const BlockedTransposed c = conv_of_blocked_transposed(args);
  const int64_t all = tasks_blocked_transposed(args), items = simd::blocked_transposed_items(c);
  simd::blocked_transposed_run(c, share_of(items, all, first).first, share_of(items, all, last - 1).last);
  return {};
}

}  // namespace

constexpr EngineKernel kBlockedConvTranspose = {.name = "f32 blocked",
                                                .accepts = accepts_blocked_transposed,
                                                .prepare = prepare_blocked_transposed,
                                                .tasks = tasks_blocked_transposed,
                                                .run = run_blocked_transposed};

}  // namespace anyshape::cpu
