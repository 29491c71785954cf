#include "kernels/conv.h"

#include <algorithm>

#include "kernels/wide.h"
#include "kernels/zero_point.h"
#include "ops/nn/window.h"
#include "ops/records.h"
#include "ops/shown.h"
#include "ops/wide.h"

namespace anyshape::ops {
namespace {

constexpr Port kConvIn[] = {{"X"}, {"W"}, {"B", Port::optional}};
constexpr Port kInInteger[] = {{"x"}, {"w"}, {"x_zero_point", Port::optional}, {"w_zero_point", Port::optional}};
constexpr Port kInQLinear[] = {{"x"},       {"x_scale"},      {"x_zero_point"},
                               {"w"},       {"w_scale"},      {"w_zero_point"},
                               {"y_scale"}, {"y_zero_point"}, {"B", Port::optional}};
constexpr Port kInDeform[] = {{"X"}, {"W"}, {"offset"}, {"B", Port::optional}, {"mask", Port::optional}};
constexpr Port kInCausal[] = {{"input"}, {"weight"}, {"bias", Port::optional}, {"past_state", Port::optional}};
constexpr Port kConvOut[] = {{"Y"}};
constexpr Port kOutCausal[] = {{"output"}, {"present_state"}};
constexpr AttributeDef kCausalConvWithStateAttributes[] = {
    {"activation", "none"},
};
constexpr AttributeDef kConvAttributes[] = {
    {"auto_pad", "NOTSET"},
    {"dilations", AttributeDef::integers},
    {"group", 1},
    {"kernel_shape", AttributeDef::integers},
    {"pads", AttributeDef::integers},
    {"strides", AttributeDef::integers},
};
constexpr AttributeDef kDeformConvAttributes[] = {
    {"dilations", AttributeDef::integers},    {"group", 1},
    {"kernel_shape", AttributeDef::integers}, {"offset_group", 1},
    {"pads", AttributeDef::integers},         {"strides", AttributeDef::integers},
};

// Input and weights of a convolution after the checks all of them share.
struct Operands {
  Dims x, w;
  Window window;
  int64_t group = 1;
};

Status require_group(const Call& call, InferContext& context, const Dims& x, const Dims& w, int64_t group) {
  if (group < 1) return refuse("conv.group", "group is {}, at least 1 is needed", group);
  TRY_OK(
      context.require(Condition::eq(x[1], w[1] * Dim(group)), "conv.channels",
                      "the channels of the input {0}, {1}, must be those that the weights {2} in {3} groups take: {4}",
                      shown(x), shown(x[1]), shown(w), group, shown(w[1] * Dim(group))));
  return context.require(Condition::divisible(w[0], group), "conv.group",
                         "{} makes {} channels, which must be a multiple of {} groups", call.type(), shown(w[0]),
                         group);
}

Status require_kernel(const Call& call, InferContext& context, const Dims& kernel) {
  if (const auto* given = call.given<std::vector<int64_t>>("kernel_shape"); given && !given->empty()) {
    if (given->size() != kernel.size())
      return refuse("conv.kernel", "kernel_shape has {} entries for {} spatial axes", given->size(), kernel.size());
    for (size_t i = 0; i < kernel.size(); ++i)
      TRY_OK(context.require(Condition::eq(kernel[i], (*given)[i]), "conv.kernel",
                             "kernel_shape along axis {1} must be that of the weights: {0} and {2}", (*given)[i], i,
                             shown(kernel[i])));
  }
  for (Dim k : kernel)
    TRY_OK(context.require(Condition::ge(k, 1), "conv.kernel", "the kernel {} must not be empty", shown(k)));
  return {};
}

Result<Operands> read_operands(const Call& call, InferContext& context, size_t x, size_t w) {
  Operands o;
  TRY(o.x, call.dims(x));
  if (o.x.size() < 3) return refuse("rank", "{} takes an input of rank 3 or more, it is {}", call.type(), shown(o.x));
  TRY(o.w, dims_of_rank(call, w, o.x.size()));
  o.group = call.i("group");
  TRY_OK(require_group(call, context, o.x, o.w, o.group));
  const Dims kernel(o.w.begin() + 2, o.w.end());
  TRY_OK(require_kernel(call, context, kernel));
  TRY(o.window, read_window(call, kernel));
  const auto* pads = call.ints("pads");
  if (o.window.auto_pad != AutoPad::explicit_pads && pads && !pads->empty())
    return refuse("conv.pads", "pads cannot be given together with auto_pad");
  return o;
}

Result<Dims> output_dims_conv(InferContext& context, const Operands& o, RuleCode code = "conv.window") {
  Dims out{o.x[0], o.w[0]};
  for (size_t i = 0; i < o.window.rank(); ++i) {
    TRY(const Dim count, window_count(context, o.window, i, o.x[i + 2], code));
    out.push_back(count);
  }
  return out;
}

// A scale or zero point: one entry, or where `channels` is given one per output channel.
Status require_parameter(const Call& call, InferContext& context, size_t input, std::optional<Dim> channels,
                         std::string_view what) {
  if (!call.has(input) || !call.in(input).dims) return {};
  const Dims& dims = *call.in(input).dims;
  if (dims.empty()) return {};
  if (dims.size() > 1)
    return refuse("conv.quantization", "{} must be a scalar or a vector, it is {}", what, shown(dims));
  Condition legal = Condition::eq(dims[0], 1);
  if (channels) legal = legal || Condition::eq(dims[0], *channels);
  return context.require(legal, "conv.quantization", "{} must have 1 entry or one per channel, it has {}", what,
                         shown(dims[0]));
}

Result<Facts> infer_conv(const Call& call, InferContext& context) {
  TRY(const Operands o, read_operands(call, context, 0, 1));
  TRY_OK(require_vector(call, context, 2, o.w[0], "conv.bias", "the bias"));
  TRY(Dims out, output_dims_conv(context, o));
  return Facts{Fact::tensor(call.in(0).dtype, std::move(out))};
}

Result<Facts> infer_integer(const Call& call, InferContext& context) {
  TRY(const Operands o, read_operands(call, context, 0, 1));
  TRY_OK(require_parameter(call, context, 2, std::nullopt, "x_zero_point"));
  TRY_OK(require_parameter(call, context, 3, o.w[0], "w_zero_point"));
  TRY(Dims out, output_dims_conv(context, o));
  return Facts{Fact::tensor(DType::i32, std::move(out))};
}

Result<Facts> infer_qlinear(const Call& call, InferContext& context) {
  TRY(const Operands o, read_operands(call, context, 0, 3));
  TRY_OK(require_parameter(call, context, 1, std::nullopt, "x_scale"));
  TRY_OK(require_parameter(call, context, 2, std::nullopt, "x_zero_point"));
  TRY_OK(require_parameter(call, context, 4, o.w[0], "w_scale"));
  TRY_OK(require_parameter(call, context, 5, o.w[0], "w_zero_point"));
  TRY_OK(require_parameter(call, context, 6, std::nullopt, "y_scale"));
  TRY_OK(require_parameter(call, context, 7, std::nullopt, "y_zero_point"));
  TRY_OK(require_vector(call, context, 8, o.w[0], "conv.bias", "the bias"));
  TRY(Dims out, output_dims_conv(context, o));
  return Facts{Fact::tensor(call.in(7).dtype, std::move(out))};
}

Result<Facts> infer_deform(const Call& call, InferContext& context) {
  TRY(const Operands o, read_operands(call, context, 0, 1));
  const int64_t groups = call.i("offset_group");
  if (groups < 1) return refuse("deformconv.offset_group", "offset_group is {}, at least 1 is needed", groups);
  TRY_OK(context.require(Condition::divisible(o.x[1], groups), "deformconv.offset_group",
                         "{} channels must be a multiple of offset_group {}", shown(o.x[1]), groups));
  TRY_OK(require_vector(call, context, 3, o.w[0], "conv.bias", "the bias"));
  TRY(Dims out, output_dims_conv(context, o, lenient("lenient.deformconv")));
  for (size_t i = 0; i < o.window.rank(); ++i)
    out[i + 2] = context.only_if(window_fits(o.window, i, o.x[i + 2]), out[i + 2]);
  const Dim points = product(Dims(o.window.kernel.begin(), o.window.kernel.end())) * Dim(groups);
  Dims offset = out;
  offset[1] = points * Dim(o.window.rank());
  TRY_OK(require_dims(call, context, 2, offset, "deformconv.offset", "the offset"));
  offset[1] = points;
  TRY_OK(require_dims(call, context, 4, offset, "deformconv.mask", "the mask"));
  return Facts{Fact::tensor(call.in(0).dtype, std::move(out))};
}

Result<Facts> infer_causal(const Call& call, InferContext& context) {
  TRY(const Dims x, dims_of_rank(call, 0, 3));
  TRY(const Dims w, dims_of_rank(call, 1, 3));
  const auto activation = call.s("activation");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return refuse("conv.activation", "activation {:?} is not one of none, silu, swish", activation);
  TRY_OK(require_dims(call, context, 1, {x[1], 1, w[2]}, "conv.channels", "the weights"));
  TRY_OK(require_kernel(call, context, {w[2]}));
  TRY_OK(require_vector(call, context, 2, x[1], "conv.bias", "the bias"));
  const Dims state{x[0], x[1], w[2] - 1};
  TRY_OK(require_dims(call, context, 3, state, "conv.state", "past_state"));
  return Facts{Fact::tensor(call.in(0).dtype, x), Fact::tensor(call.in(0).dtype, state)};
}

Result<kernels::Conv> read_conv(const Call& call, const Tensor& x, const Tensor& w, const Tensor& out) {
  if (x.rank() < 3 || w.rank() != x.rank() || out.rank() != x.rank())
    return refuse("kernel.shape", "the tensors of a convolution do not fit each other");
  const Temporary<Dim> kernel(w.dims().begin() + 2, w.dims().end());
  TRY(const Window window, read_window(call, kernel));
  TRY(Padding pads, resolve_pads(window, std::span(x.dims()).subspan(2), std::span(out.dims()).subspan(2)));
  return kernels::Conv{window.strides, window.dilations, std::move(pads.before), call.i("group")};
}

Status reference_conv(const Call& call, KernelArgs& args) {
  TRY(const kernels::Conv conv, read_conv(call, args.in(0), args.in(1), args.out(0)));
  return run_wide(
      args, [&](KernelArgs& wide) { return kernels::conv(conv, wide.in(0), wide.in(1), wide.in(2), wide.out(0)); });
}

// One number, or one per output channel, which is axis 0 of `rank` axes.
kernels::Parameter channel_parameter(const Tensor& tensor, size_t rank) {
  Temporary<int64_t> dims;
  if (tensor && tensor.count() != 1) {
    dims.assign(rank, 1);
    dims[0] = tensor.count();
  }
  return {tensor, std::move(dims)};
}

// The convolution of the inputs without their zero points, as f64.
Result<Tensor> centered_conv(const Call& call, const Tensor& x, const Tensor& x_zero, const Tensor& w,
                             const Tensor& w_zero, const Tensor& bias, const Tensor& out) {
  TRY(const kernels::Conv conv, read_conv(call, x, w, out));
  TRY(const Tensor left, kernels::centered(x, {x_zero, {}}));
  TRY(const Tensor right, kernels::centered(w, channel_parameter(w_zero, w.rank())));
  TRY(Tensor sums, Tensor::allocate(DType::f64, out.dims()));
  Tensor wide_bias;
  if (bias) {
    TRY(wide_bias, kernels::converted(bias, DType::f64));
  }
  TRY_OK(kernels::conv(conv, left, right, wide_bias, sums));
  return sums;
}

Status reference_integer(const Call& call, KernelArgs& args) {
  TRY(const Tensor sums, centered_conv(call, args.in(0), args.in(2), args.in(1), args.in(3), {}, args.out(0)));
  kernels::sums_to_i32(sums, args.out(0));
  return {};
}

Status reference_qlinear(const Call& call, KernelArgs& args) {
  TRY(const Tensor sums, centered_conv(call, args.in(0), args.in(2), args.in(3), args.in(5), args.in(8), args.out(0)));
  const kernels::Parameter x_scale{args.in(1), {}};
  const auto w_scale = channel_parameter(args.in(4), args.out(0).rank() - 1);
  return kernels::requantize(sums, x_scale, w_scale, args.in(6), args.in(7), args.out(0));
}

Status reference_deform(const Call& call, KernelArgs& args) {
  TRY(kernels::Conv conv, read_conv(call, args.in(0), args.in(1), args.out(0)));
  const kernels::DeformConv deform{std::move(conv), call.i("offset_group")};
  return run_wide(args, [&](KernelArgs& wide) {
    return kernels::deform_conv(deform, wide.in(0), wide.in(1), wide.in(2), wide.in(3), wide.in(4), wide.out(0));
  });
}

Status reference_causal(const Call& call, KernelArgs& args) {
  const bool silu = call.s("activation") != "none";
  return run_wide(args, [&](KernelArgs& wide) {
    return kernels::causal_conv(wide.in(0), wide.in(1), wide.in(2), wide.in(3), silu, wide.out(0), wide.out(1));
  });
}

constexpr Kernel kConvKernels[] = {{"reference", reference_conv}};
constexpr Kernel kIntegerKernels[] = {{"reference", reference_integer}};
constexpr Kernel kQLinearKernels[] = {{"reference", reference_qlinear}};
constexpr Kernel kDeformKernels[] = {{"reference", reference_deform}};
constexpr Kernel kCausalKernels[] = {{"reference", reference_causal}};

}  // namespace

constexpr OpDef kCausalConvWithState27{
    .name = "CausalConvWithState",
    .since = 27,
    .sig = {kInCausal, kOutCausal, "depthwise convolution over the past, with the state of earlier calls",
            kCausalConvWithStateAttributes},
    .infer = infer_causal,
    .kernels = kCausalKernels};
constexpr OpDef kConv1{.name = "Conv",
                       .since = 1,
                       .sig = {kConvIn, kConvOut, "convolution", kConvAttributes},
                       .infer = infer_conv,
                       .kernels = kConvKernels};
constexpr OpDef kConvInteger10{
    .name = "ConvInteger",
    .since = 10,
    .sig = {kInInteger, kConvOut, "convolution of 8-bit integers into int32", kConvAttributes},
    .infer = infer_integer,
    .kernels = kIntegerKernels};
constexpr OpDef kDeformConv19{
    .name = "DeformConv",
    .since = 19,
    .sig = {kInDeform, kConvOut, "convolution with learned sampling offsets", kDeformConvAttributes},
    .infer = infer_deform,
    .kernels = kDeformKernels};
constexpr OpDef kQLinearConv10{.name = "QLinearConv",
                               .since = 10,
                               .sig = {kInQLinear, kConvOut, "convolution of quantized tensors", kConvAttributes},
                               .infer = infer_qlinear,
                               .kernels = kQLinearKernels};

}  // namespace anyshape::ops
