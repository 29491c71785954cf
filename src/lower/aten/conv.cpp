#include <algorithm>

#include "lower/aten/nn.h"

namespace anyshape::lower {
namespace {

struct Window {
  std::vector<int64_t> strides, pads, dilations;  // pads: all begins, then all ends
  int64_t groups = 1;
  bool transposed = false;
  std::vector<int64_t> output_padding;
  Dims surplus;  // what the result has too much on each axis, where the padding depends on sizes
};

std::vector<int64_t> repeated(std::vector<int64_t> values, size_t count, int64_t fallback) {
  if (values.empty()) values.assign(count, fallback);
  if (values.size() == 1) values.resize(count, values[0]);
  return values;
}

// The input may lack its batch axis.
Ref convolve(Lowering& l, Ref x, Ref weight, Ref bias, Window window) {
  if (!l.need_rank(weight, 3, 5) || !l.need_rank(x, l->rank(weight) - 1, l->rank(weight))) return {};
  const size_t spatial = l->rank(weight) - 2;
  const bool batched = l->rank(x) == l->rank(weight);
  if (!batched) x = l->unsqueeze(x, {0});
  if (bias) bias = l->cast(bias, l->dtype(x));
  const Dims sizes = l->dims(weight);
  std::vector<Attribute> attributes{attr("dilations", window.dilations), attr("group", window.groups)};
  if (const auto kernel = numbers_of({sizes.begin() + 2, sizes.end()}))
    attributes.push_back(attr("kernel_shape", *kernel));
  if (window.transposed && !window.output_padding.empty())
    attributes.push_back(attr("output_padding", repeated(window.output_padding, spatial, 0)));
  attributes.push_back(attr("pads", window.pads));
  attributes.push_back(attr("strides", window.strides));
  Ref y = l.op(window.transposed ? "ConvTranspose" : "Conv", {x, weight, bias}, std::move(attributes));
  for (size_t i = 0; i < window.surplus.size(); ++i)
    if (!(window.surplus[i] == Dim(0)))
      y = l->slice(y, static_cast<int64_t>(i + 2), 0, l->dim(y, i + 2) - window.surplus[i]);
  return batched ? y : l->squeeze(y, {0});
}

// Filters of `channels` channels that each pick one place of their window.
Ref picking_filters(Lowering& l, int64_t channels, const std::vector<int64_t>& kernel, DType dtype) {
  int64_t places = 1;
  for (int64_t size : kernel) places *= size;
  std::vector<int64_t> sizes{channels * places, 1};
  sizes.insert(sizes.end(), kernel.begin(), kernel.end());
  auto filters = Tensor::allocate(DType::f32, std::move(sizes));
  if (!filters) {
    l->fail(std::move(filters).error());
    return {};
  }
  auto* entries = reinterpret_cast<float*>(filters->data());
  for (int64_t i = 0; i < channels * places; ++i) entries[i * places + i % places] = 1;
  return l->cast(l->constant(*std::move(filters)), dtype);
}

// As many groups as an axis is long (a kernel for each entry of the batch): ONNX takes the number of groups as a
// constant, so the windows are laid out as columns, and each group is a product of matrices.
Ref convolve_groups(Lowering& l, Ref x, Ref weight, Ref bias, const Window& window, Dim groups) {
  if (!l.need_rank(weight, 3, 5) || !l.need_rank(x, l->rank(weight), l->rank(weight))) return {};
  const Dims sizes = l->dims(weight);
  const auto channels = sizes[1].constant();
  const auto kernel = numbers_of({sizes.begin() + 2, sizes.end()});
  const auto filters = exact_div(l->assumptions().simplify(sizes[0]), groups);
  if (window.transposed || !channels || !kernel || !filters) {
    l->refuse("aten.symbolic", "a convolution in {} groups needs a kernel whose other sizes are numbers",
              print(groups));
    return {};
  }
  const Dim batch = l->dim(x, 0);
  Dims image = l->dims(x);
  image[0] = batch * groups;
  image[1] = *channels;
  Window apart = window;
  apart.groups = *channels;
  const Ref columns = convolve(l, l->reshape(x, std::move(image)), picking_filters(l, *channels, *kernel, l->dtype(x)),
                               {}, std::move(apart));
  Dims out = l->dims(columns);
  const Dim depth = out[1], width = product({out.begin() + 2, out.end()});
  Ref y = l.op("MatMul",
               {l->reshape(weight, {groups, *filters, depth}), l->reshape(columns, {batch, groups, depth, width})});
  out[0] = batch;
  out[1] = sizes[0];
  y = l->reshape(y, std::move(out));
  return bias ? l.op("Add", {y, with_trailing_ones(l, l->cast(bias, l->dtype(x)), kernel->size())}) : y;
}

Window window_of(Lowering& l, const Args& a, size_t spatial) {
  Window window;
  window.strides = repeated(a.ints("stride"), spatial, 1);
  window.dilations = repeated(a.ints("dilation"), spatial, 1);
  if (!a.flag("transposed", true)) return window;
  // More padding only appends: with the most there can be, what is too much is cut off.
  Dims padding = a.dims("output_padding");
  if (padding.size() == 1) padding.resize(spatial, padding[0]);
  for (size_t i = 0; i < padding.size() && i < spatial; ++i) {
    const Dim wanted = l->assumptions().simplify(padding[i]);
    const int64_t most = std::max(window.strides[i], window.dilations[i]) - 1;
    window.output_padding.push_back(wanted.constant().value_or(most));
    window.surplus.push_back(wanted.is_constant() ? Dim(0) : Dim(most) - wanted);
  }
  return window;
}

size_t spatial_axes(Lowering& l, Ref weight) { return l->rank(weight) > 2 ? l->rank(weight) - 2 : 0; }

// "same" puts the odd one of the padding behind.
bool pad_by_name(Lowering& l, const std::string& mode, Ref weight, Window& window) {
  const size_t spatial = window.strides.size();
  window.pads.assign(2 * spatial, 0);
  if (mode == "valid") return true;
  for (size_t i = 0; i < spatial; ++i) {
    const auto kernel = l->dim(weight, i + 2).constant();
    if (!kernel) {
      l->refuse("aten.symbolic", "padding=\"same\" needs a kernel whose size is a number");
      return false;
    }
    const int64_t total = window.dilations[i] * (*kernel - 1);
    window.pads[i] = total / 2;
    window.pads[spatial + i] = total - total / 2;
  }
  return true;
}

Arg conv_of(Lowering& l, const Args& a, bool transposed) {
  const Ref x = a.self(), weight = a.tensor("weight");
  const size_t spatial = spatial_axes(l, weight);
  Window window = window_of(l, a, spatial);
  window.transposed = transposed;
  if (const auto* mode = a.arg("padding").get<std::string>()) {
    if (!pad_by_name(l, *mode, weight, window)) return {};
  } else {
    window.pads = repeated(a.ints("padding"), spatial, 0);
    window.pads.insert(window.pads.end(), window.pads.begin(), window.pads.end());
  }
  const Dim groups = l->assumptions().simplify(a.dim("groups", 1));
  if (!groups.is_constant()) return convolve_groups(l, x, weight, a.tensor("bias"), window, groups);
  window.groups = *groups.constant();
  return convolve(l, x, weight, a.tensor("bias"), std::move(window));
}

Arg conv(Lowering& l, const Args& a) { return conv_of(l, a, false); }
Arg conv_transpose(Lowering& l, const Args& a) { return conv_of(l, a, true); }
Arg convolution(Lowering& l, const Args& a) { return conv_of(l, a, a.flag("transposed")); }

// Time, batch, channels; the kernel is [width, in, out].
Arg conv_tbc(Lowering& l, const Args& a) {
  const Ref x = a.self(), weight = a.tensor("weight");
  if (!l.need_rank(x, 3, 3) || !l.need_rank(weight, 3, 3)) return {};
  Window window;
  window.strides = window.dilations = {1};
  window.pads = {a.i("pad"), a.i("pad")};
  const Ref y =
      convolve(l, l->transpose(x, {1, 2, 0}), l->transpose(weight, {2, 1, 0}), a.tensor("bias"), std::move(window));
  return l->transpose(y, {2, 0, 1});
}

constexpr AtenOp kConvOps[] = {
    {"_convolution", convolution},
    {"_convolution_mode", conv},
    {"conv1d", conv},
    {"conv2d", conv},
    {"conv3d", conv},
    {"conv_tbc", conv_tbc},
    {"conv_transpose1d", conv_transpose},
    {"conv_transpose2d", conv_transpose},
    {"conv_transpose3d", conv_transpose},
    {"convolution", convolution},
    {"slow_conv3d", conv},
    {"slow_conv_dilated2d", conv},
    {"slow_conv_dilated3d", conv},
    {"slow_conv_transpose2d", conv_transpose},
    {"slow_conv_transpose3d", conv_transpose},
    {"thnn_conv2d", conv},
};

}  // namespace

std::span<const AtenOp> conv_ops() { return kConvOps; }

}  // namespace anyshape::lower
