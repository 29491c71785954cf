#include <algorithm>
#include <array>
#include <numeric>

#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kTransposeIn[] = {{"input"}};
constexpr Port kTransposeOut[] = {{"output"}};
constexpr AttributeDef kDepthToSpaceAttributes[] = {
    {"blocksize", AttributeDef::integer, AttributeDef::required},
    {"mode", "DCR", {11}},
};
constexpr AttributeDef kSpaceToDepthAttributes[] = {
    {"blocksize", AttributeDef::integer, AttributeDef::required},
    {"mode", "DCR", {28}},
};
constexpr AttributeDef kTransposeAttributes[] = {
    {"perm", AttributeDef::integers},
};
constexpr size_t kTransposeData[] = {0};

Result<Temporary<size_t>> permutation(const Call& call, size_t rank) {
  Temporary<size_t> out(rank);
  const auto* perm = call.ints("perm");
  if (!perm) {
    for (size_t i = 0; i < rank; ++i) out[i] = rank - 1 - i;
    return out;
  }
  Temporary<bool> seen(rank, false);
  bool ok = perm->size() == rank;
  for (size_t i = 0; ok && i < rank; ++i) {
    const int64_t axis = (*perm)[i];
    ok = axis >= 0 && axis < static_cast<int64_t>(rank) && !seen[static_cast<size_t>(axis)];
    if (ok) seen[out[i] = static_cast<size_t>(axis)] = true;
  }
  if (!ok) return refuse("transpose.perm", "perm [{}] is no order of {} axes", fmt::join(*perm, ", "), rank);
  return out;
}

// out[index] = in[position(index)], both as positions per axis.
template <class Position>
void move_by(KernelArgs& args, Position position) {
  const auto strides = row_strides(args.in(0).dims());
  fill_by(args.out(0), args.in(0), [&](std::span<const int64_t> index) {
    const auto from = position(index);
    return std::inner_product(from.begin(), from.end(), strides.begin(), int64_t{0});
  });
}

Status reference_transpose(const Call& call, KernelArgs& args) {
  TRY(const auto perm, permutation(call, args.in(0).rank()));
  move_by(args, [&](std::span<const int64_t> index) {
    Temporary<int64_t> from(index.size());
    for (size_t i = 0; i < index.size(); ++i) from[perm[i]] = index[i];
    return from;
  });
  return {};
}

constexpr Kernel kTranspose[] = {{"reference", reference_transpose}};

Result<Facts> infer_transpose(const Call& call, InferContext&) {
  TRY(const Dims data, call.dims(0));
  TRY(const auto perm, permutation(call, data.size()));
  Dims dims;
  for (size_t axis : perm) dims.push_back(data[axis]);
  Facts out{Fact::tensor(call.in(0).dtype, std::move(dims))};
  carry_all(call, kTranspose[0], kTransposeData, out);
  keep_attained(call.in(0), out[0]);
  return out;
}

std::vector<ViewRule> view_transpose(const Call& call, const Facts& out) {
  const auto perm = permutation(call, out[0].rank());
  if (!perm) return {};
  ViewRule rule = whole_window(out[0].rank());
  rule.axis.assign(perm->begin(), perm->end());
  return {rule};
}

Result<int64_t> block_of(const Call& call) {
  const int64_t block = call.i("blocksize");
  if (block < 1 || block > (int64_t{1} << 30))
    return refuse("blocksize", "the block size must be positive, it is {}", block);
  return block;
}

// "CRD" puts the channel before the block in the depth axis, "DCR" the block before the channel.
Result<bool> channel_first(const Call& call) {
  const std::string_view mode = call.s("mode");
  if (mode != "DCR" && mode != "CRD") return refuse("mode", "the mode {:?} is neither DCR nor CRD", mode);
  return mode == "CRD";
}

// The depth position of block offset (y, x) of channel c.
int64_t depth_position(bool crd, int64_t block, int64_t channels, int64_t c, int64_t y, int64_t x) {
  return crd ? (c * block + y) * block + x : (y * block + x) * channels + c;
}

Status reference_to_space(const Call& call, KernelArgs& args) {
  TRY(const int64_t b, block_of(call));
  TRY(const bool crd, channel_first(call));
  const int64_t channels = args.out(0).dims()[1];
  move_by(args, [&](std::span<const int64_t> i) {
    return std::array<int64_t, 4>{i[0], depth_position(crd, b, channels, i[1], i[2] % b, i[3] % b), i[2] / b, i[3] / b};
  });
  return {};
}

Status reference_to_depth(const Call& call, KernelArgs& args) {
  TRY(const int64_t b, block_of(call));
  TRY(const bool crd, channel_first(call));
  const int64_t channels = args.in(0).dims()[1];
  move_by(args, [&](std::span<const int64_t> i) {
    const int64_t c = crd ? i[1] / (b * b) : i[1] % channels;
    const int64_t offset = crd ? i[1] % (b * b) : i[1] / channels;
    return std::array<int64_t, 4>{i[0], c, i[2] * b + offset / b, i[3] * b + offset % b};
  });
  return {};
}

constexpr Kernel kToSpace[] = {{"reference", reference_to_space}};
constexpr Kernel kToDepth[] = {{"reference", reference_to_depth}};

// size / by, which must be exact.
Result<Dim> divided(InferContext& context, Dim size, Dim by, std::string_view code, std::string_view what) {
  TRY_OK(context.require(Condition::divisible(size, by), code, "{} {} must be a multiple of {}", what, print(size),
                         print(by)));
  const auto quotient = context.assumptions().exact_div(size, by);
  return quotient ? *quotient : floordiv(size, by);
}

Result<Facts> infer_to_space(const Call& call, InferContext& context) {
  TRY_OK(require_rank(call, 0, 4));
  TRY(const Dims in, call.dims(0));
  TRY(const int64_t b, block_of(call));
  TRY_OK(channel_first(call));
  TRY(const Dim channels, divided(context, in[1], b * b, "depthtospace.channels", "the number of channels"));
  Facts out{Fact::tensor(call.in(0).dtype, {in[0], channels, in[2] * Dim(b), in[3] * Dim(b)})};
  carry_all(call, kToSpace[0], kTransposeData, out);
  keep_attained(call.in(0), out[0]);
  return out;
}

Result<Facts> infer_to_depth(const Call& call, InferContext& context) {
  TRY_OK(require_rank(call, 0, 4));
  TRY(const Dims in, call.dims(0));
  TRY(const int64_t b, block_of(call));
  TRY_OK(channel_first(call));
  TRY(const Dim height, divided(context, in[2], b, "spacetodepth.size", "the height"));
  TRY(const Dim width, divided(context, in[3], b, "spacetodepth.size", "the width"));
  Facts out{Fact::tensor(call.in(0).dtype, {in[0], in[1] * Dim(b * b), height, width})};
  carry_all(call, kToDepth[0], kTransposeData, out);
  keep_attained(call.in(0), out[0]);
  return out;
}

}  // namespace

constexpr OpDef kDepthToSpace1{
    .name = "DepthToSpace",
    .since = 1,
    .sig = {kTransposeIn, kTransposeOut, "blocks of channels spread over height and width", kDepthToSpaceAttributes},
    .infer = infer_to_space,
    .kernels = kToSpace};
constexpr OpDef kSpaceToDepth1{
    .name = "SpaceToDepth",
    .since = 1,
    .sig = {kTransposeIn, kTransposeOut, "blocks of height and width moved into channels", kSpaceToDepthAttributes},
    .infer = infer_to_depth,
    .kernels = kToDepth};
constexpr OpDef kTranspose1{.name = "Transpose",
                            .since = 1,
                            .sig = {kTransposeIn, kTransposeOut, "axes in another order", kTransposeAttributes},
                            .infer = infer_transpose,
                            .kernels = kTranspose,
                            .view = view_transpose};

}  // namespace anyshape::ops
