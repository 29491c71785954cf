#include "ops/nn/conv_transpose.h"

#include <algorithm>

#include "kernels/conv.h"
#include "ops/records.h"
#include "ops/wide.h"

namespace anyshape::ops {
namespace {

constexpr Port kConvTransposeIn[] = {{"X"}, {"W"}, {"B", Port::optional}};
constexpr Port kConvTransposeOut[] = {{"Y"}};
constexpr AttributeDef kConvTransposeAttributes[] = {
    {"auto_pad", "NOTSET"},
    {"dilations", AttributeDef::integers},
    {"group", 1},
    {"kernel_shape", AttributeDef::integers},
    {"output_padding", AttributeDef::integers},
    {"output_shape", AttributeDef::integers},
    {"pads", AttributeDef::integers},
    {"strides", AttributeDef::integers},
};

Status require_operands(const Call& call, InferContext& context, const Dims& x, const Dims& w, int64_t group) {
  if (group < 1) return refuse("conv.group", "group is {}, at least 1 is needed", group);
  TRY_OK(context.require(Condition::eq(x[1], w[0]), "conv.channels",
                         "the channels of the input {}, {}, must be those that the weights {} take: {}", text(x),
                         print(x[1]), text(w), print(w[0])));
  TRY_OK(context.require(Condition::divisible(x[1], group), "conv.group", "{} channels must be a multiple of {} groups",
                         print(x[1]), group));
  if (const auto* given = call.ints("kernel_shape"); given && !given->empty()) {
    if (given->size() + 2 != w.size())
      return refuse("conv.kernel", "kernel_shape has {} entries for {} spatial axes", given->size(), w.size() - 2);
    for (size_t i = 0; i < given->size(); ++i)
      TRY_OK(context.require(Condition::eq(w[i + 2], (*given)[i]), "conv.kernel",
                             "kernel_shape along axis {1} must be that of the weights: {0} and {2}", (*given)[i], i,
                             print(w[i + 2])));
  }
  for (size_t i = 2; i < w.size(); ++i)
    TRY_OK(context.require(Condition::ge(w[i], 1), "conv.kernel", "the kernel {} must not be empty", text(w)));
  return require_vector(call, context, 2, w[1] * Dim(group), "conv.bias", "the bias");
}

// The size asked for: the pads follow from it, none may be left over beyond one step of the window.
Result<Dim> explicit_size(InferContext& context, const TransposedWindow& p, size_t i, Dim in) {
  const int64_t size = p.output_shape[i];
  if (size == -1) return refuse(lenient("lenient.output_shape"), "output_shape has the entry -1");
  if (size < 1) return refuse("convtranspose.output_shape", "output_shape has the entry {}", size);
  const Dim most = in * Dim(p.window.strides[i]) + p.window.extent(i) - 1;
  TRY_OK(context.require(Condition::le(size, most), "convtranspose.output_shape",
                         "output_shape {} along axis {} must be within reach: {} cells reach {} at most", size, i,
                         print(in), print(most)));
  TRY_OK(context.require(Condition::ge(in, 1), "convtranspose.empty", "spatial axis {} must be at least 1, it is {}", i,
                         print(in)));
  return Dim(size);
}

Result<Dim> computed_size(InferContext& context, const TransposedWindow& p, size_t i, Dim in) {
  const Window& w = p.window;
  const Dim stride = w.strides[i];
  if (p.output_padding[i] > 0)
    TRY_OK(context.require(Condition::ge(in, 1), "convtranspose.empty",
                           "spatial axis {} must be at least 1 for output_padding, it is {}", i, print(in)));
  const Dim full = stride * (in - 1) + w.extent(i) + Dim(p.output_padding[i]);
  Dim size = full;
  // Padding only takes away: a window smaller than its stride keeps the gap.
  if (w.same()) size = min(full, in * stride);
  if (w.auto_pad == AutoPad::explicit_pads) size = full - w.padding(i);
  TRY_OK(context.require(Condition::ge(size, 1), "convtranspose.size",
                         "spatial axis {} of {} cells must become at least 1, it becomes {}", i, print(in),
                         print(size)));
  return size;
}

Result<Facts> infer_conv_transpose(const Call& call, InferContext& context) {
  TRY(const Dims x, call.dims(0));
  if (x.size() < 3) return refuse("rank", "ConvTranspose takes an input of rank 3 or more, it is {}", text(x));
  TRY(const Dims w, dims_of_rank(call, 1, x.size()));
  const int64_t group = call.i("group");
  TRY_OK(require_operands(call, context, x, w, group));
  TRY(const TransposedWindow p, read_transposed_window(call, w));
  Dims out{x[0], w[1] * Dim(group)};
  for (size_t i = 0; i < p.window.rank(); ++i) {
    TRY(const Dim size,
        p.output_shape.empty() ? computed_size(context, p, i, x[i + 2]) : explicit_size(context, p, i, x[i + 2]));
    out.push_back(size);
  }
  return Facts{Fact::tensor(call.in(0).dtype, std::move(out))};
}

Status reference_conv_transpose(const Call& call, KernelArgs& args) {
  const Tensor &x = args.in(0), &w = args.in(1), &out = args.out(0);
  if (x.rank() < 3 || w.rank() != x.rank() || out.rank() != x.rank())
    return refuse("kernel.shape", "the tensors of a convolution do not fit each other");
  TRY(const TransposedWindow p, read_transposed_window(call, Temporary<Dim>(w.dims().begin(), w.dims().end())));
  kernels::Conv conv{p.window.strides, p.window.dilations, {}, call.i("group")};
  for (size_t i = 0; i < p.window.rank(); ++i)
    conv.pads.push_back(cut_before(p, i, x.dims()[i + 2], out.dims()[i + 2]));
  return run_wide(args, [&](KernelArgs& wide) {
    return kernels::conv_transpose(conv, wide.in(0), wide.in(1), wide.in(2), wide.out(0));
  });
}

constexpr Kernel kConvTransposeKernels[] = {{"reference", reference_conv_transpose}};

}  // namespace

Result<TransposedWindow> read_transposed_window(const Call& call, std::span<const Dim> w) {
  TransposedWindow p;
  TRY(p.window, read_window(call, w.subspan(2)));
  const size_t n = p.window.rank();
  const auto* pads = call.ints("pads");
  if (p.window.auto_pad != AutoPad::explicit_pads && pads && !pads->empty())
    return refuse("conv.pads", "pads cannot be given together with auto_pad");
  TRY(p.output_padding, axis_ints(call, "output_padding", n, 0, 0));
  for (size_t i = 0; i < n; ++i)
    if (p.output_padding[i] >= p.window.strides[i])
      return refuse("convtranspose.output_padding", "output_padding {} must be smaller than the stride of {}",
                    p.output_padding[i], p.window.strides[i]);
  if (const auto* shape = call.ints("output_shape"); shape && !shape->empty()) {
    if (shape->size() != n && shape->size() != n + 2)
      return refuse("convtranspose.output_shape", "output_shape has {} entries for {} spatial axes", shape->size(), n);
    p.output_shape.assign(shape->end() - static_cast<ptrdiff_t>(n), shape->end());
  }
  return p;
}

int64_t cut_before(const TransposedWindow& p, size_t i, int64_t in, int64_t out) {
  const Window& w = p.window;
  if (p.output_shape.empty() && !w.same()) return w.auto_pad == AutoPad::valid ? 0 : w.pads_begin[i];
  const int64_t extent = w.extent(i).constant().value_or(1);
  const int64_t total = std::max<int64_t>(0, w.strides[i] * (in - 1) + extent + p.output_padding[i] - out);
  return w.auto_pad == AutoPad::same_upper ? total / 2 : total - total / 2;
}

constexpr OpDef kConvTranspose1{
    .name = "ConvTranspose",
    .since = 1,
    .sig = {kConvTransposeIn, kConvTransposeOut, "transposed convolution", kConvTransposeAttributes},
    .infer = infer_conv_transpose,
    .kernels = kConvTransposeKernels};

}  // namespace anyshape::ops
