#include "ops/movement/pad.h"

#include <algorithm>

#include "kernels/dispatch.h"
#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kIn1[] = {{"data"}};
constexpr Port kIn11[] = {{"data"}, {"pads", Port::value}, {"constant_value", Port::optional}};
constexpr Port kIn18[] = {
    {"data"}, {"pads", Port::value}, {"constant_value", Port::optional}, {"axes", Port::optional | Port::value}};
constexpr Port kPadOut[] = {{"output"}};
constexpr Port kCropIn[] = {{"input_data"}, {"shape", Port::value}};
constexpr AttributeDef kCenterCropPadAttributes[] = {
    {"axes", AttributeDef::integers},
};
constexpr AttributeDef kPad1Attributes[] = {
    {"mode", "constant"},
    {"pads", AttributeDef::integers, AttributeDef::required, {2}},
    {"value", 0.0f},
    {"paddings", AttributeDef::integers, AttributeDef::required, {1, 1}},
};
constexpr AttributeDef kPad11Attributes[] = {
    {"mode", "constant"},
};
constexpr size_t kPadData[] = {0}, kDataAndValue[] = {0, 2};

using Mode = kernels::PadMode;

const std::vector<int64_t>* pads_attribute(const Call& call) {
  return call.ints(call.version() == 1 ? "paddings" : "pads");
}

struct DimPads {
  Dim before = 0, after = 0;
};
template <class T>
using Pair = std::conditional_t<std::is_same_v<T, Dim>, DimPads, kernels::AxisPads>;

// Pads per axis of the data from the list [before..., after...] over `axes` (all when missing).
template <class T>
Result<Temporary<Pair<T>>> pads_per_axis(std::span<const T> pads, std::optional<std::span<const int64_t>> axes,
                                         size_t rank) {
  const size_t count = axes ? axes->size() : rank;
  if (pads.size() != 2 * count)
    return refuse("pad.pads", "{} pads are given for {} axes, two for each are wanted", pads.size(), count);
  Temporary<Pair<T>> out(rank);
  Temporary<size_t> normal(count);
  for (size_t i = 0; i < count; ++i) normal[i] = i;
  if (axes) {
    TRY(normal, normalize_axes(*axes, rank));
  }
  for (size_t i = 0; i < count; ++i) out[normal[i]] = {pads[i], pads[count + i]};
  return out;
}

std::optional<size_t> axes_input(const Call& call) { return call.version() >= 18 ? 3 : std::optional<size_t>(99); }

// ONNX Runtime looks at the other modes' needs only when there are elements; the operator's text does not say so.
RuleCode code_for_pad(InferContext& context, const Dims& data, std::string_view code) {
  return context.proves(Condition::eq(product(data), 0)) ? lenient("lenient.pad") : RuleCode(code);
}

Status require_legal(InferContext& context, Mode mode, const Dims& data, const Pair<Dim>& pad, size_t axis) {
  const Dim size = data[axis], b = pad.before, e = pad.after;
  TRY_OK(context.require(Condition::ge(size + b + e, 0), "pad.negative",
                         "axis {} of {} entries, padded by {} and {}, must not get a negative size", axis, print(size),
                         print(b), print(e)));
  if (mode == Mode::constant) return {};
  const Condition nothing = Condition::eq(b, 0) && Condition::eq(e, 0);
  const Dim left = size + context.simplify(min(b, Dim(0))) + context.simplify(min(e, Dim(0)));
  TRY_OK(context.require(nothing || Condition::ge(left, 1), code_for_pad(context, data, "pad.empty"),
                         "axis {} of {} entries must have one to repeat for pads of {} and {}", axis, print(size),
                         print(b), print(e)));
  if (mode == Mode::wrap)
    return context.require(Condition::ge(size, 1), "pad.empty", "wrapping needs entries in every axis, axis {} has {}",
                           axis, print(size));
  if (mode != Mode::reflect) return {};
  return context.require(nothing || (Condition::lt(b, left) && Condition::lt(e, left)),
                         code_for_pad(context, data, "pad.reflect"),
                         "reflecting {} and {} entries needs more than that at axis {}, which has {}", print(b),
                         print(e), axis, print(left));
}

// nullopt: not known before the model runs.
Result<std::optional<Temporary<Pair<Dim>>>> known_pads(const Call& call, size_t rank) {
  using Pads = std::optional<Temporary<Pair<Dim>>>;
  if (call.version() < 11) {
    const auto* pads = pads_attribute(call);
    if (!pads) return refuse("pad.pads", "the attribute pads is missing");
    TRY(auto out, pads_per_axis<Dim>(Dims(pads->begin(), pads->end()), std::nullopt, rank));
    return Pads(std::move(out));
  }
  TRY_OK(require_integers(call, 1));
  TRY_OK(require_integers(call, 3));
  const bool axes_missing = call.has(3) && !known_numbers(call, 3);
  if (axes_missing || !call.in(1).elements || call.in(1).denominator != 1) return Pads();
  TRY(const auto axes, axes_of(call, axes_input(call)));
  TRY(auto out, pads_per_axis<Dim>(*call.in(1).elements, axes, rank));
  return Pads(std::move(out));
}

Status reference_pad(const Call& call, KernelArgs& args);
constexpr Kernel kPadKernels[] = {{"reference", reference_pad}};

Result<Facts> infer_pad(const Call& call, InferContext& context) {
  TRY(Dims dims, call.dims(0));
  TRY(const Mode mode, pad_mode_of(call));
  TRY_OK(require_same_dtype(call, {0, 2}));
  if (call.has(2) && call.in(2).dims)
    TRY_OK(context.require(Condition::eq(product(*call.in(2).dims), 1), "pad.value",
                           "the fill value must be one element, it is {}", print(call.in(2))));
  if (dims.empty()) return refuse("pad.rank", "a scalar cannot be padded");
  const Dims data = dims;
  TRY(const auto pads, known_pads(call, dims.size()));
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!pads) {
      dims[i] = context.fresh(source_of(call, {1, 3}), "pad");
      continue;
    }
    TRY_OK(require_legal(context, mode, data, (*pads)[i], i));
    dims[i] = dims[i] + (*pads)[i].before + (*pads)[i].after;
  }
  Facts out{Fact::tensor(call.in(0).dtype, std::move(dims))};
  const bool value_outside = call.version() < 11 && call.f("value") != 0;
  if (pads && !value_outside)
    carry_all(call, kPadKernels[0],
              mode == Mode::constant ? std::span<const size_t>(kDataAndValue) : std::span<const size_t>(kPadData), out);
  return out;
}

Result<Temporary<Pair<int64_t>>> kernel_pads(const Call& call, const KernelArgs& args) {
  const size_t rank = args.in(0).rank();
  if (has_pad_attributes(call)) return pads_of_attributes(call, rank);
  return pads_per_axis<int64_t>(ints_of(args.in(1)), axes_in(call, args, axes_input(call)), rank);
}

// Strings, and elements that are no whole bytes.
void pad_elements(Mode mode, const Tensor& data, std::span<const kernels::AxisPads> pads, const Tensor& fill,
                  Tensor& out) {
  const auto strides = row_strides(data.dims());
  for_each_index(out.dims(), [&](std::span<const int64_t> index, int64_t n) {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size() && offset >= 0; ++i) {
      const int64_t p = kernels::pad_source(mode, index[i] - pads[i].before, data.dims()[i], pads[i]);
      offset = p < 0 ? -1 : offset + p * strides[i];
    }
    if (offset >= 0) kernels::copy_elements(out, n, data, offset, 1);
    if (offset < 0 && fill) kernels::copy_elements(out, n, fill, 0, 1);
  });
}

Status reference_pad(const Call& call, KernelArgs& args) {
  const Tensor& data = args.in(0);
  TRY(const Mode mode, pad_mode_of(call));
  TRY(const auto pads, kernel_pads(call, args));
  Tensor fill;
  if (has_pad_attributes(call)) {
    TRY(fill, fill_of_attributes(call, data.dtype()));
  } else {
    fill = args.in(2);
  }
  if (fill.count() != 1) fill = Tensor();
  Tensor& out = args.out(0);
  if (!out) return unknown("pad.pads", "the sizes of the output are not known");
  if (data.dtype() == DType::string || bits(data.dtype()) < 8) {
    pad_elements(mode, data, pads, fill, out);
    return {};
  }
  const kernels::PadRows rows{mode,
                              data.dims(),
                              out.dims(),
                              pads,
                              static_cast<size_t>(bits(data.dtype()) / 8),
                              fill ? fill.bytes().data() : nullptr,
                              data.bytes().data(),
                              out.data()};
  rows.run(0, rows.rows());
  return {};
}

Status reference_crop(const Call& call, KernelArgs& args);
constexpr Kernel kCropKernels[] = {{"reference", reference_crop}};

Result<Facts> infer_crop(const Call& call, InferContext& context) {
  TRY(Dims dims, call.dims(0));
  TRY_OK(require_integers(call, 1));
  TRY(const Dims sizes, sizes_from(call, context, 1, "crop"));
  const auto* named = call.ints("axes");
  const size_t count = named ? named->size() : dims.size();
  if (sizes.size() != count)
    return refuse(lenient("lenient.centercroppad"), "{} sizes are given for {} axes", sizes.size(), count);
  Temporary<size_t> axes(count);
  for (size_t i = 0; i < count; ++i) axes[i] = i;
  if (named) {
    TRY(axes, normalize_axes(*named, dims.size()));
  }
  for (size_t i = 0; i < count; ++i) {
    TRY_OK(context.require(Condition::ge(sizes[i], 0), lenient("lenient.centercroppad"),
                           "axis {} must be cropped to at least 0 entries, not {}", axes[i], print(sizes[i])));
    dims[axes[i]] = context.only_if(Condition::ge(sizes[i], 0), sizes[i]);
  }
  Facts out{Fact::tensor(call.in(0).dtype, std::move(dims))};
  carry_all(call, kCropKernels[0], kPadData, out);
  return out;
}

Status reference_crop(const Call&, KernelArgs& args) {
  const Tensor& data = args.in(0);
  if (!args.out(0)) return unknown("infer.rank", "the sizes of the output are not known");
  const auto strides = row_strides(data.dims());
  const auto& target = args.out(0).dims();
  fill_by(args.out(0), data, [&](std::span<const int64_t> index) {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i) {
      const int64_t size = data.dims()[i];
      const int64_t p = target[i] < size ? index[i] + (size - target[i]) / 2 : index[i] - (target[i] - size) / 2;
      if (p < 0 || p >= size) return int64_t{-1};
      offset += p * strides[i];
    }
    return offset;
  });
  return {};
}

}  // namespace

Result<kernels::PadMode> pad_mode_of(const Call& call) {
  const std::string_view mode = call.s("mode");
  if (mode == "constant") return Mode::constant;
  if (mode == "reflect") return Mode::reflect;
  if (mode == "edge") return Mode::edge;
  if (mode == "wrap" && call.version() >= 19) return Mode::wrap;
  return refuse("pad.mode", "the mode {:?} does not exist in version {}", mode, call.version());
}

Result<Temporary<kernels::AxisPads>> pads_of_attributes(const Call& call, size_t rank) {
  const auto* pads = pads_attribute(call);
  if (!pads) return refuse("pad.pads", "the attribute pads is missing");
  return pads_per_axis<int64_t>(*pads, std::nullopt, rank);
}

Result<Tensor> fill_of_attributes(const Call& call, DType dtype) {
  const float value = call.f("value");
  if (value == 0) return Tensor();
  TRY(Tensor fill, Tensor::allocate(dtype, {}));
  TRY_OK(kernels::visit_type<kernels::kFloats>(fill.dtype(), [&]<class T>(T) -> Status {
    fill.as_mutable<T>()[0] = kernels::narrow<T>(static_cast<kernels::Compute<T>>(value));
    return {};
  }));
  return fill;
}

constexpr OpDef kCenterCropPad18{
    .name = "CenterCropPad",
    .since = 18,
    .sig = {kCropIn, kPadOut, "axes cropped or padded to sizes, centred", kCenterCropPadAttributes},
    .infer = infer_crop,
    .kernels = kCropKernels};
constexpr OpDef kPad1{.name = "Pad",
                      .since = 1,
                      .sig = {kIn1, kPadOut, "entries added to or removed from both ends of axes", kPad1Attributes},
                      .infer = infer_pad,
                      .kernels = kPadKernels};
constexpr OpDef kPad11{.name = "Pad",
                       .since = 11,
                       .sig = {kIn11, kPadOut, "entries added to or removed from both ends of axes", kPad11Attributes},
                       .infer = infer_pad,
                       .kernels = kPadKernels};
constexpr OpDef kPad18{.name = "Pad",
                       .since = 18,
                       .sig = {kIn18, kPadOut, "entries added to or removed from both ends of axes", kPad11Attributes},
                       .infer = infer_pad,
                       .kernels = kPadKernels};

}  // namespace anyshape::ops
