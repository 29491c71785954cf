#include <algorithm>
#include <cstring>

#include "ops/common.h"
#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/simd/strided_copy.h"

// Transpose, Expand, Tile, DepthToSpace, SpaceToDepth, Concat and Gather of every element type with whole bytes.
namespace anyshape::cpu {
namespace {

std::string_view accepts_elements_movement(const Call& call, size_t input) {
  if (!call.in(input).is_tensor() || bits(call.in(input).dtype) < 8) return "its elements are no whole bytes";
  return {};
}

Status require_few_axes(const ViewArgs& args) {
  if (args.out[0].rank() <= simd::kMostCopyAxes) return {};
  return unknown("kernel.rank", "more than {} axes", simd::kMostCopyAxes);
}

// Axes of a View in memory of its own, without allocation.
struct Window {
  int64_t dims[simd::kMostCopyAxes], strides[simd::kMostCopyAxes];
  View view(const View& of, size_t rank) const {
    return {of.dtype, std::span(dims, rank), std::span(strides, rank), of.data};
  }
};

std::string_view accepts_one(const Call& call) { return accepts_elements_movement(call, 0); }

struct Permutation {
  std::vector<int64_t> axes;  // empty: reversed
};

Result<std::shared_ptr<const void>> prepare_transpose(const Call& call) {
  auto p = std::make_shared<Permutation>();
  if (const auto* perm = call.ints("perm")) p->axes = *perm;
  return p;
}

View transposed(const ViewArgs& args, Window& w) {
  const auto& perm = prepared_as<Permutation>(args).axes;
  const View& in = args.in[0];
  const size_t rank = in.rank();
  for (size_t i = 0; i < rank; ++i) {
    const size_t axis = perm.empty() ? rank - 1 - i : static_cast<size_t>(perm[i]);
    w.dims[i] = in.dims[axis];
    w.strides[i] = in.strides[axis];
  }
  return w.view(in, rank);
}

View expanded(const ViewArgs& args, Window& w) {
  const View &in = args.in[0], &out = args.out[0];
  const size_t rank = out.rank(), missing = rank - std::min(rank, in.rank());
  for (size_t i = 0; i < rank; ++i) {
    w.dims[i] = out.dims[i];
    w.strides[i] = i < missing || in.dims[i - missing] == 1 ? 0 : in.strides[i - missing];
  }
  return w.view(in, rank);
}

int64_t copy_tasks(const View& from, const View& to) {
  const int64_t pieces = simd::copy_pieces(from, to), count = to.count();
  return pieces == 0 ? 1 : tasks_for(pieces, 4.0 * static_cast<double>(count / pieces));
}

template <View (*source)(const ViewArgs&, Window&)>
int64_t moved_tasks(const ViewArgs& args) {
  Window w;
  return require_few_axes(args) ? copy_tasks(source(args, w), args.out[0]) : 1;
}

template <View (*source)(const ViewArgs&, Window&)>
Status run_moved(const ViewArgs& args, int64_t first, int64_t last) {
  TRY_OK(require_few_axes(args));
  Window w;
  const View from = source(args, w);
  const int64_t pieces = simd::copy_pieces(from, args.out[0]), tasks = copy_tasks(from, args.out[0]);
  simd::copy_view(from, args.out[0], share_of(pieces, tasks, first).first, share_of(pieces, tasks, last - 1).last);
  return {};
}

// A copy in which axes of the input and of the output are cut into several.
struct Recut {
  Window from, to;
  size_t rank = 0;

  void add(int64_t size, int64_t from_stride, int64_t to_stride) {
    from.dims[rank] = to.dims[rank] = size;
    from.strides[rank] = from_stride;
    to.strides[rank++] = to_stride;
  }
};

std::string_view accepts_tile(const Call& call) {
  if (!call.in(0).dims || call.in(0).rank() > simd::kMostCopyAxes / 2) return "its rank is not known to be 32 or less";
  return accepts_elements_movement(call, 0);
}

void tile(const ViewArgs& args, Recut& cut) {
  const View &in = args.in[0], &out = args.out[0];
  for (size_t i = 0; i < in.rank(); ++i) {
    const int64_t size = in.dims[i], times = size == 0 ? 0 : out.dims[i] / size;
    cut.add(times, 0, size * out.strides[i]);
    cut.add(size, in.strides[i], out.strides[i]);
  }
}

struct Blocks {
  int64_t size = 1;
  bool channel_first = false;  // "CRD": the channel before the block in the depth axis
};

Result<std::shared_ptr<const void>> prepare_blocks(const Call& call) {
  return std::make_shared<Blocks>(Blocks{call.i("blocksize"), call.s("mode") == "CRD"});
}

// Strides of channel, row and column of a block in the depth axis, whose own is `step`.
struct DepthStrides {
  int64_t channel, row, column;
};

DepthStrides depth_strides(const Blocks& b, int64_t channels, int64_t step) {
  if (b.channel_first) return {b.size * b.size * step, b.size * step, step};
  return {step, b.size * channels * step, channels * step};
}

void to_space(const ViewArgs& args, Recut& cut) {
  const auto& b = prepared_as<Blocks>(args);
  const View &in = args.in[0], &out = args.out[0];
  const DepthStrides depth = depth_strides(b, out.dims[1], in.strides[1]);
  cut.add(out.dims[0], in.strides[0], out.strides[0]);
  cut.add(out.dims[1], depth.channel, out.strides[1]);
  cut.add(in.dims[2], in.strides[2], b.size * out.strides[2]);
  cut.add(b.size, depth.row, out.strides[2]);
  cut.add(in.dims[3], in.strides[3], b.size * out.strides[3]);
  cut.add(b.size, depth.column, out.strides[3]);
}

void to_depth(const ViewArgs& args, Recut& cut) {
  const auto& b = prepared_as<Blocks>(args);
  const View &in = args.in[0], &out = args.out[0];
  const DepthStrides depth = depth_strides(b, in.dims[1], out.strides[1]);
  cut.add(in.dims[0], in.strides[0], out.strides[0]);
  if (b.channel_first) cut.add(in.dims[1], in.strides[1], depth.channel);
  cut.add(b.size, in.strides[2], depth.row);
  cut.add(b.size, in.strides[3], depth.column);
  if (!b.channel_first) cut.add(in.dims[1], in.strides[1], depth.channel);
  cut.add(out.dims[2], b.size * in.strides[2], out.strides[2]);
  cut.add(out.dims[3], b.size * in.strides[3], out.strides[3]);
}

template <void (*arrange)(const ViewArgs&, Recut&)>
int64_t recut_tasks(const ViewArgs& args) {
  Recut cut;
  arrange(args, cut);
  return copy_tasks(cut.from.view(args.in[0], cut.rank), cut.to.view(args.out[0], cut.rank));
}

template <void (*arrange)(const ViewArgs&, Recut&)>
Status run_recut(const ViewArgs& args, int64_t first, int64_t last) {
  Recut cut;
  arrange(args, cut);
  const View from = cut.from.view(args.in[0], cut.rank), to = cut.to.view(args.out[0], cut.rank);
  const int64_t pieces = simd::copy_pieces(from, to), tasks = copy_tasks(from, to);
  simd::copy_view(from, to, share_of(pieces, tasks, first).first, share_of(pieces, tasks, last - 1).last);
  return {};
}

struct Axis {
  int64_t axis = 0;
};

size_t axis_of_movement(const ViewArgs& args, size_t rank) {
  const int64_t axis = prepared_as<Axis>(args).axis;
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

std::string_view accepts_concat(const Call& call) {
  for (size_t i = 0; i < call.inputs(); ++i)
    if (const auto why = accepts_elements_movement(call, i); !why.empty()) return why;
  return {};
}

Result<std::shared_ptr<const void>> prepare_concat(const Call& call) {
  return std::make_shared<Axis>(Axis{call.i("axis")});
}

Result<std::shared_ptr<const void>> prepare_gather(const Call& call) {
  return std::make_shared<Axis>(Axis{call.i("axis")});
}

Status run_concat(const ViewArgs& args, int64_t, int64_t) {
  TRY_OK(require_few_axes(args));
  View to = args.out[0];
  const size_t axis = axis_of_movement(args, to.rank());
  const int64_t size = bits(to.dtype) / 8;
  for (const View& part : args.in) {
    to.dims = part.dims;
    simd::copy_view(part, to);
    to.data += part.dims[axis] * to.strides[axis] * size;
  }
  return {};
}

std::string_view accepts_gather(const Call& call) {
  if (!call.in(1).is_tensor() || (call.in(1).dtype != DType::i64 && call.in(1).dtype != DType::i32))
    return "its indices are neither i64 nor i32";
  return accepts_elements_movement(call, 0);
}

// data[outer][size][inner bytes] -> out[outer][index][inner bytes]
struct Gathering {
  int64_t outer = 1, size = 0, inner = 1, indices = 0;
};

Gathering gathering_of(const ViewArgs& args) {
  Gathering g;
  const View& data = args.in[0];
  const size_t axis = axis_of_movement(args, data.rank());
  for (size_t i = 0; i < axis; ++i) g.outer *= data.dims[i];
  for (size_t i = axis + 1; i < data.rank(); ++i) g.inner *= data.dims[i];
  g.inner *= bits(data.dtype) / 8;
  g.size = data.dims[axis];
  g.indices = args.in[1].count();
  return g;
}

int64_t gather_tasks(const ViewArgs& args) {
  const Gathering g = gathering_of(args);
  return tasks_for(g.outer * g.indices, 1.0 + static_cast<double>(g.inner));
}

Status run_gather(const ViewArgs& args, int64_t first, int64_t last) {
  const Gathering g = gathering_of(args);
  const int64_t tasks = gather_tasks(args), items = g.outer * g.indices;
  const int64_t end = share_of(items, tasks, last - 1).last;
  const bool wide = args.in[1].dtype == DType::i64;
  const bool empty = g.inner == 0;
  for (int64_t item = share_of(items, tasks, first).first; item < end; ++item) {
    const int64_t k = item % g.indices, o = item / g.indices;
    int64_t index = wide ? args.in[1].as<const int64_t>()[k] : args.in[1].as<const int32_t>()[k];
    if (index < -g.size || index >= g.size)
      return refuse("gather.index", "index {} must lie within {} entries", index, g.size);
    if (index < 0) index += g.size;
    if (empty) continue;
    std::memcpy(args.out[0].data + item * g.inner, args.in[0].data + (o * g.size + index) * g.inner,
                static_cast<size_t>(g.inner));
  }
  return {};
}

}  // namespace

constexpr EngineKernel kTranspose = {.name = "strided copy",
                                     .accepts = accepts_one,
                                     .prepare = prepare_transpose,
                                     .tasks = moved_tasks<transposed>,
                                     .run = run_moved<transposed>,
                                     .strided = 1};
constexpr EngineKernel kExpand = {.name = "strided copy",
                                  .accepts = accepts_one,
                                  .tasks = moved_tasks<expanded>,
                                  .run = run_moved<expanded>,
                                  .strided = 1};
constexpr EngineKernel kTile = {
    .name = "strided copy", .accepts = accepts_tile, .tasks = recut_tasks<tile>, .run = run_recut<tile>, .strided = 1};
constexpr EngineKernel kDepthToSpace = {.name = "strided copy",
                                        .accepts = accepts_one,
                                        .prepare = prepare_blocks,
                                        .tasks = recut_tasks<to_space>,
                                        .run = run_recut<to_space>,
                                        .strided = 1};
constexpr EngineKernel kSpaceToDepth = {.name = "strided copy",
                                        .accepts = accepts_one,
                                        .prepare = prepare_blocks,
                                        .tasks = recut_tasks<to_depth>,
                                        .run = run_recut<to_depth>,
                                        .strided = 1};
constexpr EngineKernel kConcat = {.name = "strided copy",
                                  .accepts = accepts_concat,
                                  .prepare = prepare_concat,
                                  .run = run_concat,
                                  .strided = 0xffffffff};
constexpr EngineKernel kGather = {
    .name = "blocks", .accepts = accepts_gather, .prepare = prepare_gather, .tasks = gather_tasks, .run = run_gather};

}  // namespace anyshape::cpu
