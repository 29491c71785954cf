#include <algorithm>

#include "ir/call.h"
#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/simd/rows.h"

// InstanceNormalization and GroupNormalization of f32.
namespace anyshape::cpu {
namespace {

struct ChannelNormPrepared {
  int64_t groups = 0;  // 0: each channel is one
  float epsilon = 1e-5f;
};

std::string_view accepts_channel_norm(const Call& call) {
  for (size_t i = 0; i < 3; ++i) {
    if (!is_f32(call, i)) return "its element type is not f32";
    if (!call.in(i).dims) return "the rank of an input is not known";
  }
  const bool grouped = call.type() == "GroupNormalization";
  if (grouped && call.version() >= 21 && call.i("stash_type") != 1) return "its statistics are not f32";
  const Dims &x = *call.in(0).dims, &scale = *call.in(1).dims;
  if (x.size() < 2) return "its input has no channels";
  const bool fits = scale == Dims{x[1]} || (grouped && (scale == Dims{Dim(1)} || scale == Dims{call.i("num_groups")}));
  return fits && scale == *call.in(2).dims ? "" : "scale and bias are not known to fit the channels";
}

Result<std::shared_ptr<const void>> prepare_channel_norm(const Call& call) {
  return std::make_shared<ChannelNormPrepared>(
      ChannelNormPrepared{call.type() == "GroupNormalization" ? call.i("num_groups") : 0, call.f("epsilon")});
}

struct ChannelNormRows {
  int64_t count = 0, n = 0, plane = 0;
};
ChannelNormRows rows_of(const ViewArgs& args) {
  const auto dims = args.in[0].dims;
  const int64_t groups = prepared_as<ChannelNormPrepared>(args).groups;
  ChannelNormRows rows{.plane = 1};
  for (int64_t size : dims.subspan(2)) rows.plane *= size;
  rows.count = dims[0] * (groups ? groups : dims[1]);
  rows.n = (groups ? dims[1] / groups : 1) * rows.plane;
  return rows;
}

int64_t tasks_channel_norm(const ViewArgs& args) {
  const ChannelNormRows rows = rows_of(args);
  return tasks_for(rows.count, 10 * static_cast<double>(rows.n));
}

Status run_channel_norm(const ViewArgs& args, int64_t first, int64_t last) {
  const ChannelNormRows rows = rows_of(args);
  if (rows.count == 0 || rows.n == 0) return {};
  const int64_t all = tasks_channel_norm(args);
  simd::ChannelNorm norm;
  norm.in = args.in[0].as<const float>();
  norm.out = args.out[0].as<float>();
  norm.n = rows.n;
  norm.scale = args.in[1].as<const float>();
  norm.bias = args.in[2].as<const float>();
  norm.count = args.in[1].count();
  norm.repeat = args.in[0].dims[1] / norm.count * rows.plane;
  norm.epsilon = prepared_as<ChannelNormPrepared>(args).epsilon;
  simd::channel_norm_rows(norm, share_of(rows.count, all, first).first, share_of(rows.count, all, last - 1).last);
  return {};
}

}  // namespace

constexpr EngineKernel kChannelNorm = {.name = "f32 channels",
                                       .accepts = accepts_channel_norm,
                                       .prepare = prepare_channel_norm,
                                       .tasks = tasks_channel_norm,
                                       .run = run_channel_norm,
                                       .in_place = 1};

}  // namespace anyshape::cpu
