#include "ops/movement/pad.h"

#include <cstring>

#include "ops/common.h"
#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"

// Pad of every element type with whole bytes, row by row of the output.
namespace anyshape::cpu {
namespace {

using kernels::AxisPads;
using kernels::PadMode;

constexpr size_t kMostAxes = 8;

struct PadPrepared {
  PadMode mode = PadMode::constant;
  std::vector<size_t> axes;     // of the pads of input 1
  std::vector<AxisPads> fixed;  // by axis; empty: input 1 tells
  Tensor fill;                  // empty: input 2 tells, or zeros
};

bool names_axes(const Call& call) { return call.version() >= 18 && call.has(3); }

std::string_view accepts_pad(const Call& call) {
  const Fact& data = call.in(0);
  if (!data.is_tensor() || data.dtype == DType::string || bits(data.dtype) < 8)
    return "its elements are no whole bytes";
  if (!data.dims || data.rank() < 1 || data.rank() > kMostAxes) return "its rank is not known to be 1 to 8";
  if (!ops::pad_mode_of(call)) return "its mode is not legal";
  if (ops::has_pad_attributes(call)) return {};
  if (!call.in(1).is_tensor() || call.in(1).dtype != DType::i64) return "its pads are not i64";
  if (!call.in(1).elements || call.in(1).denominator != 1) return "its pads are not known before it runs";
  return names_axes(call) && !ops::known_numbers(call, 3) ? "its axes are not constant" : "";
}

Result<std::shared_ptr<const void>> prepare_pad(const Call& call) {
  auto p = std::make_shared<PadPrepared>();
  const size_t rank = call.in(0).rank();
  TRY(p->mode, ops::pad_mode_of(call));
  if (ops::has_pad_attributes(call)) {
    TRY(const auto pads, ops::pads_of_attributes(call, rank));
    p->fixed.assign(pads.begin(), pads.end());
    TRY(p->fill, ops::fill_of_attributes(call, call.in(0).dtype));
    return p;
  }
  if (names_axes(call)) {
    TRY(const auto axes, ops::normalize_axes(*ops::known_numbers(call, 3), rank));
    p->axes.assign(axes.begin(), axes.end());
  } else {
    for (size_t i = 0; i < rank; ++i) p->axes.push_back(i);
  }
  return p;
}

Status read_pads(const ViewArgs& args, AxisPads* pads) {
  const PadPrepared& p = prepared_as<PadPrepared>(args);
  std::copy(p.fixed.begin(), p.fixed.end(), pads);
  const size_t count = p.axes.size();
  if (p.fixed.empty()) {
    if (args.in[1].count() != static_cast<int64_t>(2 * count))
      return refuse("pad.pads", "{} pads are given for {} axes, two for each are wanted", args.in[1].count(), count);
    const auto* list = args.in[1].as<const int64_t>();
    for (size_t i = 0; i < count; ++i) pads[p.axes[i]] = {list[i], list[count + i]};
  }
  for (size_t i = 0; i < args.in[0].rank(); ++i) {
    int64_t size = 0;
    if (__builtin_add_overflow(args.in[0].dims[i], pads[i].before, &size) ||
        __builtin_add_overflow(size, pads[i].after, &size) || size != args.out[0].dims[i])
      return refuse("pad.pads", "pads of {} and {} do not make {} entries of {}", pads[i].before, pads[i].after,
                    args.out[0].dims[i], args.in[0].dims[i]);
  }
  return {};
}

// The same with fewer axes: those whose entries stay where they are belong to the entries of the axis before.
struct Joined {
  int64_t in[kMostAxes], out[kMostAxes];
  AxisPads pads[kMostAxes];
  size_t first = kMostAxes;

  void add(PadMode mode, int64_t in_size, int64_t out_size, AxisPads axis) {
    const auto stays = [](const AxisPads& a) { return a.before == 0 && a.after == 0; };
    AxisPads scaled;
    const bool joins = first < kMostAxes && stays(pads[first]) && (mode == PadMode::constant || stays(axis)) &&
                       !__builtin_mul_overflow(axis.before, in[first], &scaled.before) &&
                       !__builtin_mul_overflow(axis.after, in[first], &scaled.after);
    if (joins) {
      in[first] *= in_size, out[first] *= out_size, pads[first] = scaled;
      return;
    }
    --first;
    in[first] = in_size, out[first] = out_size, pads[first] = axis;
  }
};

int64_t rows_of_pad(const View& out) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < out.rank(); ++i) rows *= out.dims[i];
  return rows;
}

// By the rows of the output as it is: how they join only the pads tell.
int64_t tasks_pad(const ViewArgs& args) {
  const View& out = args.out[0];
  const auto bytes = static_cast<double>(out.dims.back() * (bits(out.dtype) / 8));
  return tasks_for(rows_of_pad(out), 8 + bytes / 4);
}

const std::byte* fill_of(const ViewArgs& args) {
  const PadPrepared& p = prepared_as<PadPrepared>(args);
  if (p.fill) return p.fill.bytes().data();
  return p.fixed.empty() && args.in.size() > 2 && args.in[2] && args.in[2].count() == 1 ? args.in[2].data : nullptr;
}

Status run_pad(const ViewArgs& args, int64_t first, int64_t last) {
  const PadPrepared& p = prepared_as<PadPrepared>(args);
  const View &in = args.in[0], &out = args.out[0];
  AxisPads pads[kMostAxes] = {};
  TRY_OK(read_pads(args, pads));
  if (out.count() == 0) return {};
  Joined j;
  for (size_t i = out.rank(); i-- > 0;) j.add(p.mode, in.dims[i], out.dims[i], pads[i]);
  const size_t rank = kMostAxes - j.first;
  const kernels::PadRows rows{p.mode,
                              std::span(j.in + j.first, rank),
                              std::span(j.out + j.first, rank),
                              std::span(j.pads + j.first, rank),
                              static_cast<size_t>(bits(out.dtype) / 8),
                              fill_of(args),
                              in.data,
                              out.data};
  const int64_t count = rows.rows(), of = tasks_pad(args);
  rows.run(share_of(count, of, first).first, share_of(count, of, last - 1).last);
  return {};
}

}  // namespace

constexpr EngineKernel kPad = {
    .name = "rows", .accepts = accepts_pad, .prepare = prepare_pad, .tasks = tasks_pad, .run = run_pad, .on_host = 2};

}  // namespace anyshape::cpu
