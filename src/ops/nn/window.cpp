#include "ops/nn/window.h"

#include <algorithm>

#include "ops/shown.h"

namespace anyshape::ops {
namespace {

constexpr int64_t kMost = (int64_t{1} << 31) - 1;

Result<AutoPad> read_auto_pad(const Call& call) {
  const auto* given = call.given<std::string>("auto_pad");
  const std::string_view text = given ? std::string_view(*given) : "";
  if (text == "NOTSET" || text.empty()) return AutoPad::explicit_pads;
  if (text == "SAME_UPPER") return AutoPad::same_upper;
  if (text == "SAME_LOWER") return AutoPad::same_lower;
  if (text == "VALID") return AutoPad::valid;
  return refuse("window.auto_pad", "auto_pad {:?} is not one of NOTSET, SAME_UPPER, SAME_LOWER, VALID", text);
}

}  // namespace

Result<Temporary<int64_t>> axis_ints(const Call& call, std::string_view name, size_t count, int64_t fallback,
                                     int64_t lo) {
  const auto* given = call.given<std::vector<int64_t>>(name);
  if (!given || given->empty()) return Temporary<int64_t>(count, fallback);
  if (given->size() != count)
    return refuse("window.attribute", "{} has {} entries, {} are needed", name, given->size(), count);
  for (int64_t v : *given)
    if (v < lo || v > kMost) return refuse("window.attribute", "{} has the entry {}, {} is the least", name, v, lo);
  return temporary(*given);
}

Result<Window> read_window(const Call& call, std::span<const Dim> kernel) {
  Window w;
  const size_t n = kernel.size();
  w.kernel.assign(kernel.begin(), kernel.end());
  TRY(w.strides, axis_ints(call, "strides", n, 1, 1));
  TRY(w.dilations, axis_ints(call, "dilations", n, 1, 1));
  TRY(w.auto_pad, read_auto_pad(call));
  TRY(const auto pads, axis_ints(call, "pads", 2 * n, 0, -kMost));
  // ONNX Runtime runs a convolution with negative pads when it has no kernel_shape.
  if (std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p < 0; }))
    return refuse(lenient("lenient.pads"), "pads must not be negative");
  w.pads_begin.assign(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(n));
  w.pads_end.assign(pads.begin() + static_cast<ptrdiff_t>(n), pads.end());
  if (w.auto_pad != AutoPad::explicit_pads) {
    const bool any = std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p != 0; });
    if (any) return refuse(lenient("lenient.pads"), "pads cannot be given together with auto_pad");
  }
  return w;
}

Condition window_fits(const Window& w, size_t i, Dim in) {
  return w.same() ? Condition::ge(in, 1) : Condition::ge(in + w.padding(i) - w.extent(i), 0);
}

Result<Dim> window_count(InferContext& context, const Window& w, size_t i, Dim in, RuleCode code) {
  if (w.same()) {
    TRY_OK(context.require(window_fits(w, i, in), code, "spatial axis {} must be at least 1, it is {}", i, shown(in)));
    return ceildiv(in, w.strides[i]);
  }
  const Dim slack = in + w.padding(i) - w.extent(i);
  TRY_OK(context.require(window_fits(w, i, in), code,
                         "spatial axis {} of {} cells plus {} padding must not be smaller than the window of {}", i,
                         shown(in), shown(w.padding(i)), shown(w.extent(i))));
  return floordiv(slack, w.strides[i]) + 1;
}

Result<Dim> window_count_ceil(InferContext& context, const Window& w, size_t i, Dim in, RuleCode code) {
  if (w.same()) return window_count(context, w, i, in, code);
  const Dim stride = w.strides[i];
  const Dim slack = in + w.padding(i) - w.extent(i);
  TRY_OK(context.require(
      Condition::gt(slack, -stride), code,
      "spatial axis {} of {} cells plus {} padding must be large enough for a window of {} by steps of {}", i,
      shown(in), shown(w.padding(i)), shown(w.extent(i)), w.strides[i]));
  // Where the part of a window beyond its end padding is at least one stride, no window can start in that padding.
  const Dim inside = w.extent(i) - Dim(w.pads_end[i]) - stride;
  if (inside.is_constant() && *inside.constant() < 0) return ceildiv(in + Dim(w.pads_begin[i]), stride);
  return ceildiv(slack, stride) + 1;
}

Result<Padding> resolve_pads(const Window& w, std::span<const int64_t> in, std::span<const int64_t> out, bool crop) {
  if (in.size() != w.rank() || out.size() != w.rank())
    return refuse("kernel.shape", "the windows do not fit the input");
  Padding pads{w.pads_begin, w.pads_end};
  for (size_t i = 0; i < w.rank(); ++i) {
    if (w.auto_pad == AutoPad::valid) pads.before[i] = pads.after[i] = 0;
    if (!w.same()) continue;
    const auto extent = w.extent(i).constant();
    if (!extent) return refuse("kernel.shape", "the windows do not fit the input");
    int64_t total = (out[i] - 1) * w.strides[i] + *extent - in[i];
    if (!crop) total = std::max<int64_t>(0, total);
    pads.before[i] = (w.auto_pad == AutoPad::same_upper ? total : total + 1) / 2;
    pads.after[i] = total - pads.before[i];
  }
  return pads;
}

Result<Dims> dims_of_rank(const Call& call, size_t input, size_t rank) {
  if (call.in(input).kind != Fact::Kind::unknown && !call.in(input).is_tensor())
    return refuse("input.kind", "{} takes a tensor as input {}, it is {}", call.type(), input, print(call.in(input)));
  TRY_OK(require_rank(call, input, rank));
  return call.dims(input);
}

Status require_vector(const Call& call, InferContext& context, size_t input, Dim size, RuleCode code,
                      std::string_view what) {
  return require_dims(call, context, input, {size}, code, what);
}

Status require_dims(const Call& call, InferContext& context, size_t input, const Dims& dims, RuleCode code,
                    std::string_view what) {
  if (!call.has(input) || !call.in(input).dims) return {};
  const Dims& given = *call.in(input).dims;
  if (given.size() != dims.size())
    return refuse(code, "{} must have the shape {}, it is {}", what, shown(dims), shown(given));
  for (size_t i = 0; i < dims.size(); ++i)
    TRY_OK(context.require(Condition::eq(given[i], dims[i]), code, "{} must have the shape {}, it is {}", what,
                           shown(dims), shown(given)));
  return {};
}

}  // namespace anyshape::ops
