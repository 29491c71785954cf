#include "ops/nn/blocked.h"

#include <algorithm>
#include <limits>

#include "ops/microsoft/common.h"
#include "ops/microsoft/kernel.h"
#include "ops/records.h"

// Operators of the domain anyshape over blocked channels: made by the pass `layout`, never in files. Each has the rule
// of the plain operator, and as its reference kernel that of the plain operator between two reorders.
namespace anyshape::ops {
namespace {

constexpr std::string_view kOwn = "anyshape";
constexpr int64_t kMostLanes = 1024;

constexpr Port kX[] = {{"X"}};
constexpr Port kBlockedConvIn[] = {{"X"}, {"W"}, {"B", Port::optional}, {"Z", Port::optional}};
constexpr Port kY[] = {{"Y"}};
constexpr AttributeDef kToAttributes[] = {{"lanes", AttributeDef::integer, AttributeDef::required}};
constexpr AttributeDef kFromAttributes[] = {{"channels", AttributeDef::integer, AttributeDef::required},
                                            {"lanes", AttributeDef::integer, AttributeDef::required}};
constexpr AttributeDef kBlockedConvAttributes[] = {
    {"activation", AttributeDef::string},
    {"activation_params", AttributeDef::reals},
    {"auto_pad", "NOTSET"},
    {"dilations", AttributeDef::integers},
    {"exact", 0},
    {"group", 1},
    {"kernel_shape", AttributeDef::integers},
    {"lanes", AttributeDef::integer, AttributeDef::required},
    {"pads", AttributeDef::integers},
    {"strides", AttributeDef::integers},
};
constexpr Port kTransposeIn[] = {{"X"}, {"W"}, {"B", Port::optional}};
constexpr AttributeDef kTransposeAttributes[] = {{"lanes", AttributeDef::integer, AttributeDef::required},
                                                 {"strides", AttributeDef::integers}};
constexpr AttributeDef kMaxPoolAttributes[] = {
    {"auto_pad", "NOTSET"},
    {"ceil_mode", 0},
    {"dilations", AttributeDef::integers},
    {"kernel_shape", AttributeDef::integers, AttributeDef::required},
    {"lanes", AttributeDef::integer, AttributeDef::required},
    {"pads", AttributeDef::integers},
    {"strides", AttributeDef::integers},
};
constexpr AttributeDef kAveragePoolAttributes[] = {
    {"auto_pad", "NOTSET"},
    {"ceil_mode", 0},
    {"count_include_pad", 0},
    {"dilations", AttributeDef::integers},
    {"kernel_shape", AttributeDef::integers, AttributeDef::required},
    {"lanes", AttributeDef::integer, AttributeDef::required},
    {"pads", AttributeDef::integers},
    {"strides", AttributeDef::integers},
};
// As of which the rules of the plain operators are asked.
constexpr int64_t kPoolVersion = 22, kConvVersion = 11;

Result<int64_t> lanes_of(const Call& call) {
  const int64_t lanes = call.i("lanes");
  if (lanes < 1 || lanes > kMostLanes)
    return refuse("blocked.lanes", "lanes is {}, 1..{} are possible", lanes, kMostLanes);
  return lanes;
}

Status require_f32(const Call& call, size_t input) {
  if (!call.in(input).is_tensor() || call.in(input).dtype != DType::f32)
    return refuse("dtype", "{} takes tensors of f32, input {} is {}", call.type(), input, print(call.in(input)));
  return {};
}

// The dims of input 0, which is blocked, as if it were plain with these channels.
Result<Dims> plain_dims(const Call& call, InferContext& context, int64_t lanes, Dim channels) {
  TRY(Dims dims, call.dims(0));
  if (dims.size() < 3) return refuse("rank", "{} takes an input of rank 3 or more, it is {}", call.type(), text(dims));
  TRY_OK(context.require(Condition::eq(dims.back(), lanes) && Condition::eq(dims[1], ceildiv(channels, lanes)),
                         "blocked.dims", "{} must be {} channels in blocks of {}", text(dims), print(channels), lanes));
  dims.pop_back();
  dims[1] = channels;
  return dims;
}

Result<Facts> infer_to(const Call& call, InferContext&) {
  TRY_OK(require_f32(call, 0));
  TRY(const int64_t lanes, lanes_of(call));
  TRY_OK(require_min_rank(call, 0, 2));
  return Facts{Fact::tensor(DType::f32, blocked_dims(*call.in(0).dims, lanes))};
}

Result<Facts> infer_from(const Call& call, InferContext& context) {
  TRY_OK(require_f32(call, 0));
  TRY(const int64_t lanes, lanes_of(call));
  if (call.i("channels") < 0) return refuse("blocked.channels", "channels is {}", call.i("channels"));
  TRY(Dims dims, plain_dims(call, context, lanes, call.i("channels")));
  return Facts{Fact::tensor(DType::f32, std::move(dims))};
}

Result<Facts> infer_blocked_conv(const Call& call, InferContext& context) {
  for (size_t i = 0; i < call.inputs(); ++i)
    if (call.has(i)) TRY_OK(require_f32(call, i));
  TRY(const int64_t lanes, lanes_of(call));
  TRY(const Dims w, call.dims(1));
  TRY(Dims x, call.dims(0));
  if (w.size() < 3) return refuse("rank", "BlockedConv takes weights of rank 3 or more, they are {}", text(w));
  if (x.size() == w.size() + 1) {
    TRY(x, plain_dims(call, context, lanes, w[1] * Dim(call.i("group"))));
  }
  const Fact plain = Fact::tensor(DType::f32, std::move(x));
  std::vector<const Fact*> in{&plain, &call.in(1)};
  if (call.has(2)) in.push_back(&call.in(2));
  TRY(Facts out, kConv1.infer(Call(call, kConv1, kConvVersion, in), context));
  const Dims dims = blocked_dims(*out[0].dims, lanes);
  if (call.has(3) && call.in(3).dims)
    TRY_OK(require_same_dims(context, dims, *call.in(3).dims, "the convolution and Z"));
  return Facts{Fact::tensor(DType::f32, dims)};
}

Result<Facts> infer_transpose(const Call& call, InferContext& context) {
  for (size_t i = 0; i < call.inputs(); ++i)
    if (call.has(i)) TRY_OK(require_f32(call, i));
  TRY(const int64_t lanes, lanes_of(call));
  TRY(const Dims w, call.dims(1));
  if (w.size() < 3) return refuse("rank", "{} takes weights of rank 3 or more, they are {}", call.type(), text(w));
  TRY(Dims x, plain_dims(call, context, lanes, w[0]));
  const Fact plain = Fact::tensor(DType::f32, std::move(x));
  std::vector<const Fact*> in{&plain, &call.in(1)};
  if (call.has(2)) in.push_back(&call.in(2));
  TRY(const Facts out, kConvTranspose1.infer(Call(call, kConvTranspose1, kConvVersion, in), context));
  return Facts{Fact::tensor(DType::f32, blocked_dims(*out[0].dims, lanes))};
}

Result<Facts> infer_pool(const Call& call, InferContext& context, const OpDef& pool) {
  TRY_OK(require_f32(call, 0));
  TRY(const int64_t lanes, lanes_of(call));
  TRY(const Dims x, call.dims(0));
  if (x.size() < 4) return refuse("rank", "{} takes an input of rank 4 or more, it is {}", call.type(), text(x));
  TRY(Dims dims, plain_dims(call, context, lanes, x[1] * Dim(lanes)));
  const Fact plain = Fact::tensor(DType::f32, std::move(dims));
  const std::vector<const Fact*> in{&plain};
  TRY(const Facts out, pool.infer(Call(call, pool, kPoolVersion, in), context));
  Dims pooled = *out[0].dims;
  pooled[1] = x[1];
  pooled.push_back(lanes);
  return Facts{Fact::tensor(DType::f32, std::move(pooled))};
}

Result<Facts> infer_max(const Call& call, InferContext& context) { return infer_pool(call, context, kMaxPool1); }
Result<Facts> infer_average(const Call& call, InferContext& context) {
  return infer_pool(call, context, kAveragePool1);
}

// The same tensor in the other layout, seen as rows of `plane` places.
struct Layout {
  int64_t batch = 0, channels = 0, blocks = 0, plane = 1, lanes = 0;

  template <class Copy>
  void for_each(Copy copy) const {
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t i = 0; i < plane; ++i)
          copy((n * channels + c) * plane + i, ((n * blocks + c / lanes) * plane + i) * lanes + c % lanes);
  }
};

Layout layout_of(std::span<const int64_t> blocked, int64_t channels) {
  Layout out{blocked[0], channels, blocked[1], 1, blocked.back()};
  for (int64_t d : blocked.subspan(2, blocked.size() - 3)) out.plane *= d;
  return out;
}

Status run_to(const Call& call, KernelArgs& args) {
  TRY(const Tensor blocked, to_blocked(args.in(0), call.i("lanes")));
  return put(blocked, args.out(0));
}

Status run_from(const Call& call, KernelArgs& args) {
  TRY(const Tensor plain, from_blocked(args.in(0), call.i("channels")));
  return put(plain, args.out(0));
}

// The plain tensor for an output that is blocked.
Result<Tensor> plain_for(const Tensor& blocked, int64_t channels) {
  auto dims = temporary(blocked.dims());
  if (dims.size() < 3) return refuse("kernel.shape", "a tensor of rank {} is not blocked", dims.size());
  dims.pop_back();
  dims[1] = channels;
  return Tensor::allocate(DType::f32, dims);
}

Status run_blocked_conv(const Call& call, KernelArgs& args) {
  Tensor x = args.in(0), z = args.in(3);
  const Tensor& w = args.in(1);
  if (w.rank() < 3) return refuse("kernel.shape", "the weights of a convolution do not fit it");
  if (x.rank() > w.rank()) {
    TRY(x, from_blocked(x, w.dims()[1] * call.i("group")));
  }
  if (z) {
    TRY(z, from_blocked(z, w.dims()[0]));
  }
  TRY(Tensor y, plain_for(args.out(0), w.dims()[0]));
  TRY_OK(run_as(kMsFusedConv1, 1, call, {x, w, args.in(2), z}, y));
  TRY(const Tensor blocked, to_blocked(y, call.i("lanes")));
  return put(blocked, args.out(0));
}

Status run_transpose(const Call& call, KernelArgs& args) {
  const Tensor& w = args.in(1);
  if (w.rank() < 3) return refuse("kernel.shape", "the weights of a convolution do not fit it");
  TRY(const Tensor x, from_blocked(args.in(0), w.dims()[0]));
  TRY(Tensor y, plain_for(args.out(0), w.dims()[1]));
  TRY_OK(run_as(kConvTranspose1, kConvVersion, call, {x, w, args.in(2)}, y));
  TRY(const Tensor blocked, to_blocked(y, call.i("lanes")));
  return put(blocked, args.out(0));
}

Status run_pool(const Call& call, KernelArgs& args, const OpDef& pool) {
  if (args.in(0).rank() < 4) return refuse("kernel.shape", "the input of a pool is not blocked");
  const int64_t channels = args.in(0).dims()[1] * args.in(0).dims().back();
  TRY(const Tensor x, from_blocked(args.in(0), channels));
  TRY(Tensor y, plain_for(args.out(0), channels));
  TRY_OK(run_as(pool, kPoolVersion, call, {x}, y));
  TRY(const Tensor blocked, to_blocked(y, call.i("lanes")));
  return put(blocked, args.out(0));
}

Status run_max(const Call& call, KernelArgs& args) { return run_pool(call, args, kMaxPool1); }
Status run_average(const Call& call, KernelArgs& args) { return run_pool(call, args, kAveragePool1); }

constexpr Kernel kToKernels[] = {{"reference", run_to}};
constexpr Kernel kFromKernels[] = {{"reference", run_from}};
constexpr Kernel kBlockedConvKernels[] = {{"reference", run_blocked_conv}};
constexpr Kernel kTransposeKernels[] = {{"reference", run_transpose}};
constexpr Kernel kMaxKernels[] = {{"reference", run_max}};
constexpr Kernel kAverageKernels[] = {{"reference", run_average}};

}  // namespace

Dims blocked_dims(const Dims& plain, int64_t lanes) {
  Dims out = plain;
  out[1] = ceildiv(plain[1], lanes);
  out.push_back(lanes);
  return out;
}

Result<Tensor> to_blocked(const Tensor& plain, int64_t lanes) {
  if (plain.dtype() != DType::f32 || plain.rank() < 2 || lanes < 1 || lanes > kMostLanes)
    return refuse("kernel.shape", "a tensor of rank {} cannot be blocked by {} lanes", plain.rank(), lanes);
  auto dims = temporary(plain.dims());
  dims[1] = dims[1] / lanes + (dims[1] % lanes != 0);
  dims.push_back(lanes);
  TRY(Tensor out, Tensor::allocate(DType::f32, dims));
  const auto to = out.as_mutable<float>();
  std::fill(to.begin(), to.end(), 0.0f);
  layout_of(dims, plain.dims()[1]).for_each([&](int64_t from, int64_t at) {
    to[static_cast<size_t>(at)] = plain.at<float>(from);
  });
  return out;
}

Result<Tensor> from_blocked(const Tensor& blocked, int64_t channels) {
  const auto& dims = blocked.dims();
  if (blocked.dtype() != DType::f32 || blocked.rank() < 3 || channels < 0 || dims.back() < 1 ||
      channels / dims.back() + (channels % dims.back() != 0) != dims[1])
    return refuse("kernel.shape", "a tensor of rank {} is not {} channels in blocks", blocked.rank(), channels);
  TRY(Tensor out, plain_for(blocked, channels));
  const auto to = out.as_mutable<float>();
  layout_of(dims, channels).for_each([&](int64_t at, int64_t from) {
    to[static_cast<size_t>(at)] = blocked.at<float>(from);
  });
  return out;
}

constexpr OpDef kBlockedAveragePool1{.name = "BlockedAveragePool",
                                     .domain = kOwn,
                                     .sig = {kX, kY, "AveragePool of blocked channels", kAveragePoolAttributes},
                                     .infer = infer_average,
                                     .kernels = kAverageKernels};
constexpr OpDef kBlockedConv1{
    .name = "BlockedConv",
    .domain = kOwn,
    .sig = {kBlockedConvIn, kY, "Conv, sum and activation into blocked channels", kBlockedConvAttributes},
    .infer = infer_blocked_conv,
    .kernels = kBlockedConvKernels};
constexpr OpDef kBlockedConvTranspose1{
    .name = "BlockedConvTranspose",
    .domain = kOwn,
    .sig = {kTransposeIn, kY, "ConvTranspose of blocked channels", kTransposeAttributes},
    .infer = infer_transpose,
    .kernels = kTransposeKernels};
constexpr OpDef kBlockedMaxPool1{.name = "BlockedMaxPool",
                                 .domain = kOwn,
                                 .sig = {kX, kY, "MaxPool of blocked channels", kMaxPoolAttributes},
                                 .infer = infer_max,
                                 .kernels = kMaxKernels};
constexpr OpDef kFromBlocked1{.name = "FromBlocked",
                              .domain = kOwn,
                              .sig = {kX, kY, "channels as they were before they were blocked", kFromAttributes},
                              .infer = infer_from,
                              .kernels = kFromKernels};
constexpr OpDef kToBlocked1{.name = "ToBlocked",
                            .domain = kOwn,
                            .sig = {kX, kY, "channels in blocks of some lanes", kToAttributes},
                            .infer = infer_to,
                            .kernels = kToKernels};

}  // namespace anyshape::ops
