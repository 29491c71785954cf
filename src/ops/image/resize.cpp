#include "ops/image/resize.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/reals.h"
#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kIn10[] = {{"X"}, {"scales", Port::value}};
constexpr Port kIn11[] = {
    {"X"}, {"roi", Port::optional}, {"scales", Port::optional | Port::value}, {"sizes", Port::optional | Port::value}};
constexpr Port kUpsampleIn1[] = {{"X"}};
constexpr Port kUpsampleIn9[] = {{"X"}, {"scales", Port::value}};
constexpr Port kResizeOut[] = {{"Y"}};
constexpr AttributeDef kResize10Attributes[] = {{"mode", "nearest"}};
constexpr AttributeDef kResize11Attributes[] = {
    {"antialias", 0, {18}},
    {"axes", AttributeDef::integers, {18}},
    {"coordinate_transformation_mode", "half_pixel"},
    {"cubic_coeff_a", -0.75f},
    {"exclude_outside", 0},
    {"extrapolation_value", 0.0f},
    {"keep_aspect_ratio_policy", "stretch", {18}},
    {"mode", "nearest"},
    {"nearest_mode", "round_prefer_floor"},
};
constexpr AttributeDef kUpsample1Attributes[] = {
    {"mode", "nearest"},
    {"scales", AttributeDef::reals, AttributeDef::required, {7}},
    {"height_scale", AttributeDef::real, AttributeDef::required, {1, 6}},
    {"width_scale", AttributeDef::real, AttributeDef::required, {1, 6}},
};

// The product is rounded to float before it is cut, as the kernels do it.
int64_t scaled_size(int64_t size, float scale) { return static_cast<int64_t>(static_cast<float>(size) * scale); }

struct Fraction {
  int64_t over = 1, under = 1;
};

// The simplest p/q with size * p // q == scaled_size(size, scale) at every size up to kSizeClaim.
std::optional<Fraction> simple_fraction(float scale) {
  if (!(scale > 0 && scale < 1024)) return std::nullopt;
  // Convergents of the continued fraction.
  double rest = scale;
  int64_t p0 = 1, q0 = 0, p1 = static_cast<int64_t>(rest), q1 = 1;
  const auto holds = [&](int64_t p, int64_t q) {
    for (int64_t n = 0; n <= kSizeClaim; ++n)
      if (n * p / q != scaled_size(n, scale)) return false;
    return true;
  };
  while (q1 <= 1000) {
    if (p1 > 0 && std::fabs(static_cast<double>(p1) / static_cast<double>(q1) - scale) < 1e-6 * scale && holds(p1, q1))
      return Fraction{p1, q1};
    const double fraction = rest - std::floor(rest);
    if (fraction < 1e-6) return std::nullopt;
    rest = 1 / fraction;
    const auto digit = static_cast<int64_t>(rest);
    const int64_t p2 = digit * p1 + p0, q2 = digit * q1 + q0;
    p0 = p1;
    q0 = q1;
    p1 = p2;
    q1 = q2;
  }
  return std::nullopt;
}

Fact from_shapes() {
  Fact fact;
  fact.from_shapes = true;
  return fact;
}

Result<Dim> scaled(InferContext& context, Dim size, float scale, float least, size_t axis) {
  if (!(scale > 0) || scale < least || std::isinf(scale))
    return refuse("resize.scale", "the scale {} of axis {} is not allowed", scale, axis);
  if (scale == 1) return size;
  if (const auto number = size.constant()) {
    if (static_cast<double>(*number) * scale > 9e15) return refuse("resize.scale", "axis {} becomes too long", axis);
    return Dim(scaled_size(*number, scale));
  }
  const auto fraction = simple_fraction(scale);
  if (fraction && fraction->under == 1) return size * Dim(fraction->over);
  // A binary fraction is exact as long as the product is exact in float; any other was tried up to kSizeClaim.
  const bool binary = fraction && (fraction->under & (fraction->under - 1)) == 0;
  if (fraction &&
      (binary ? context.fits(size * Dim(fraction->over), 0, int64_t{1} << 24) : context.fits(size, 0, kSizeClaim)))
    return floordiv(size * Dim(fraction->over), fraction->under);
  if (scale > 1e9f) return context.fresh(from_shapes(), "resize");
  return context.fresh(from_shapes(), "resize", 0, size * Dim(static_cast<int64_t>(std::ceil(scale))));
}

// Scales as floats: an attribute or a constant.
std::optional<std::vector<float>> float_scales(const Fact& fact) {
  if (!fact.constant || fact.constant->dtype() != DType::f32) return std::nullopt;
  std::vector<float> out;
  for (int64_t i = 0; i < fact.constant->count(); ++i) out.push_back(fact.constant->at<float>(i));
  return out;
}

Status require_length(size_t given, size_t axes, std::string_view what) {
  if (given == axes) return {};
  return refuse("resize.length", "{} {} are given for {} axes", given, what, axes);
}

Status by_floats(InferContext& context, Dims& dims, std::span<const size_t> axes, const std::vector<float>& scales,
                 float least) {
  TRY_OK(require_length(scales.size(), axes.size(), "scales"));
  for (size_t i = 0; i < axes.size(); ++i) {
    TRY(dims[axes[i]], scaled(context, dims[axes[i]], scales[i], least, axes[i]));
  }
  return {};
}

// Scales that are not plain numbers.
Status by_entries(InferContext& context, Dims& dims, std::span<const size_t> axes, const Fact& scales) {
  const auto values = rationals_of(scales);
  if (values) TRY_OK(require_length(values->numerators.size(), axes.size(), "scales"));
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& d = dims[axes[i]];
    if (!values) {
      d = context.fresh(scales, "resize");
      continue;
    }
    const Dim over = values->numerators[i];
    TRY_OK(context.require(Condition::ge(over, 1), "resize.scale", "the scale of axis {} must be positive", axes[i]));
    const bool exact = context.fits(d * over, 0, int64_t{1} << 24);
    d = exact ? floordiv(d * over, values->denominator) : context.fresh(scales, "resize");
  }
  return {};
}

Status by_scales(const Call& call, InferContext& context, size_t input, Dims& dims) {
  TRY(const auto axes, resized_axes(call, dims.size()));
  const float least = call.type() == "Upsample" ? 1 : 0;
  const Fact& fact = call.in(input);
  if (const auto scales = float_scales(fact)) return by_floats(context, dims, axes, *scales, least);
  const auto length = fact.numeric_dims();
  if (length && length->size() == 1 && length->front() != static_cast<int64_t>(axes.size()))
    return require_length(static_cast<size_t>(length->front()), axes.size(), "scales");
  return by_entries(context, dims, axes, fact);
}

// Where the aspect ratio is kept every axis is scaled by one factor: the least or the greatest of those asked for.
Status keep_aspect(const Call& call, InferContext& context, Dims& dims, std::span<const size_t> axes, const Dims& sizes,
                   bool larger) {
  bool numeric = true;
  for (size_t i = 0; i < axes.size(); ++i) numeric &= dims[axes[i]].is_constant() && sizes[i].is_constant();
  if (!numeric) {
    const Fact source = source_of(call, {3});
    for (size_t i = 0; i < axes.size(); ++i)
      dims[axes[i]] = larger ? context.fresh(source, "resize", sizes[i]) : context.fresh(source, "resize", 0, sizes[i]);
    return {};
  }
  std::optional<float> scale;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (dims[axes[i]] == Dim(0)) continue;
    const float own = static_cast<float>(*sizes[i].constant()) / static_cast<float>(*dims[axes[i]].constant());
    scale = !scale ? own : (larger ? std::max(*scale, own) : std::min(*scale, own));
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    const float product = scale.value_or(1) * static_cast<float>(*dims[axes[i]].constant());
    if (!(product < 9e15f)) return refuse("resize.sizes", "axis {} becomes too long", axes[i]);
    dims[axes[i]] = static_cast<int64_t>(std::round(product));
  }
  return {};
}

Status by_sizes(const Call& call, InferContext& context, Dims& dims) {
  TRY(const auto axes, resized_axes(call, dims.size()));
  TRY_OK(require_integers(call, 3));
  TRY(const Dims sizes, sizes_from(call, context, 3, "resize"));
  TRY_OK(require_length(sizes.size(), axes.size(), "sizes"));
  const std::string_view policy = call.version() >= 18 ? call.s("keep_aspect_ratio_policy") : "stretch";
  // ONNX Runtime takes the greatest factor, and a size of 0 beside it.
  const RuleCode code = policy == "not_smaller" ? lenient("lenient.resize") : RuleCode("resize.sizes");
  for (size_t i = 0; i < axes.size(); ++i) {
    const Dim from = dims[axes[i]];
    if (from == sizes[i]) continue;
    const auto legal = (Condition::ge(from, 1) && Condition::ge(sizes[i], 1)) ||
                       (Condition::eq(from, 0) && Condition::eq(sizes[i], 0));
    TRY_OK(context.require(legal, code,
                           "axis {} must have entries before and after, or none: it is resized from {} to {}", axes[i],
                           print(from), print(sizes[i])));
  }
  if (policy == "not_larger" || policy == "not_smaller")
    return keep_aspect(call, context, dims, axes, sizes, policy == "not_smaller");
  if (policy != "stretch") return refuse("resize.policy", "the policy {:?} does not exist", policy);
  for (size_t i = 0; i < axes.size(); ++i) dims[axes[i]] = sizes[i];
  return {};
}

// An input that is there and not an empty list, which old exporters write for an absent one.
bool given(const Call& call, size_t input) {
  return call.has(input) && !(call.in(input).dims && *call.in(input).dims == Dims{0});
}

Result<kernels::Interpolation> interpolation_of_resize(const Call& call) {
  const std::string_view mode = call.s("mode");
  if (mode == "nearest") return kernels::Interpolation::nearest;
  if (mode == "linear" || mode == "bilinear") return kernels::Interpolation::linear;
  if (mode == "cubic") return kernels::Interpolation::cubic;
  return refuse("resize.mode", "the mode {:?} does not exist", mode);
}

template <class Enum, size_t count>
Result<Enum> named(const std::pair<std::string_view, Enum> (&names)[count], std::string_view text) {
  for (const auto& [name, value] : names)
    if (name == text) return value;
  return refuse("resize.mode", "{:?} does not exist", text);
}

constexpr std::pair<std::string_view, kernels::Coordinates> kCoordinates[] = {
    {"half_pixel", kernels::Coordinates::half_pixel},
    {"half_pixel_symmetric", kernels::Coordinates::half_pixel_symmetric},
    {"pytorch_half_pixel", kernels::Coordinates::pytorch_half_pixel},
    {"align_corners", kernels::Coordinates::align_corners},
    {"asymmetric", kernels::Coordinates::asymmetric},
    {"tf_crop_and_resize", kernels::Coordinates::tf_crop_and_resize},
    {"tf_half_pixel_for_nn", kernels::Coordinates::tf_half_pixel_for_nn},
};
constexpr std::pair<std::string_view, kernels::NearestRule> kNearest[] = {
    {"round_prefer_floor", kernels::NearestRule::round_prefer_floor},
    {"round_prefer_ceil", kernels::NearestRule::round_prefer_ceil},
    {"floor", kernels::NearestRule::floor},
    {"ceil", kernels::NearestRule::ceil},
};

// What no entry can change is refused before anything runs.
Status check_modes(const Call& call) {
  TRY(const kernels::Resample how, read_resize_modes(call));
  return kernels::require_numbers(how.interpolation, call.in(0).dtype);
}

Result<Facts> infer_resize(const Call& call, InferContext& context) {
  TRY_OK(check_modes(call));
  TRY(Dims dims, call.dims(0));
  if (call.version() < 11) {
    TRY_OK(by_scales(call, context, 1, dims));
  } else {
    const bool scales = given(call, 2), sizes = given(call, 3);
    if (scales && sizes) return refuse("resize.target", "both scales and sizes are given");
    if (!scales && !sizes) return refuse("resize.target", "neither scales nor sizes are given");
    TRY_OK(scales ? by_scales(call, context, 2, dims) : by_sizes(call, context, dims));
  }
  return Facts{Fact::tensor(call.in(0).dtype, std::move(dims))};
}

Result<Facts> infer_upsample(const Call& call, InferContext& context) {
  TRY_OK(check_modes(call));
  TRY(Dims dims, call.dims(0));
  if (call.version() >= 10)
    return refuse("upsample.deprecated", "Upsample does not exist since version 10, Resize does");
  if (call.version() >= 9) {
    TRY_OK(by_scales(call, context, 1, dims));
    return Facts{Fact::tensor(call.in(0).dtype, std::move(dims))};
  }
  std::vector<float> scales;
  if (call.version() >= 7) {
    const auto* attribute = call.floats("scales");
    if (!attribute) return refuse("upsample.scales", "the attribute scales is missing");
    scales = *attribute;
  } else {
    TRY_OK(require_rank(call, 0, 4));
    scales = {1, 1, call.f("height_scale"), call.f("width_scale")};
  }
  TRY(const auto axes, resized_axes(call, dims.size()));
  TRY_OK(by_floats(context, dims, axes, scales, 1));
  return Facts{Fact::tensor(call.in(0).dtype, std::move(dims))};
}

// The scales that lead from the sizes of the input to those asked for.
Result<Temporary<double>> scales_of_sizes(const Call& call, const Tensor& x, const Tensor& sizes,
                                          std::span<const size_t> axes) {
  TRY_OK(require_length(static_cast<size_t>(sizes.count()), axes.size(), "sizes"));
  Temporary<double> out;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t from = x.dims()[axes[i]];
    out.push_back(from == 0 ? 1
                            : static_cast<double>(sizes.int_at(static_cast<int64_t>(i))) / static_cast<double>(from));
  }
  const AspectRatio kept = aspect_ratio_of(call);
  if (kept == AspectRatio::stretch || out.empty()) return out;
  const auto [least, most] = std::minmax_element(out.begin(), out.end());
  return Temporary<double>(out.size(), kept == AspectRatio::not_larger ? *least : *most);
}

Result<Temporary<double>> scales_in(const Call& call, const KernelArgs& args, std::span<const size_t> axes) {
  Temporary<double> out = scales_of_attributes(call);
  if (!has_scale_attributes(call)) {
    const bool sized = call.type() == "Resize" && call.version() >= 11;
    const Tensor& scales = args.in(sized ? 2 : 1);
    if (sized && (!scales || scales.count() == 0)) return scales_of_sizes(call, args.in(0), args.in(3), axes);
    TRY(out, kernels::to_reals(scales));
  }
  TRY_OK(require_length(out.size(), axes.size(), "scales"));
  return out;
}

Status read_roi(const Tensor& roi, kernels::Resample& how) {
  if (how.coordinates != kernels::Coordinates::tf_crop_and_resize) return {};
  TRY(const auto values, kernels::to_reals(roi));
  const size_t count = how.axes.size();
  if (values.size() != 2 * count)
    return refuse("resize.roi", "roi has {} numbers, {} are needed", values.size(), 2 * count);
  for (size_t i = 0; i < count; ++i) {
    how.axes[i].roi_start = values[i];
    how.axes[i].roi_end = values[count + i];
  }
  return {};
}

Status reference_resize(const Call& call, KernelArgs& args) {
  const Tensor& x = args.in(0);
  if (!args.out(0)) return unknown("resize.sizes", "the sizes are not known");
  TRY(kernels::Resample how, read_resize_modes(call));
  TRY(const auto axes, resized_axes(call, x.rank()));
  TRY(const auto scales, scales_in(call, args, axes));
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!(scales[i] > 0)) return refuse("resize.scale", "the scale {} of axis {} is not allowed", scales[i], axes[i]);
    how.axes.push_back({axes[i], scales[i]});
  }
  TRY_OK(read_roi(args.in(1), how));
  return kernels::resample(how, x, args.out(0));
}

constexpr Kernel kResizeKernels[] = {{"reference", reference_resize}};

}  // namespace

Result<Temporary<size_t>> resized_axes(const Call& call, size_t rank) {
  const auto* axes = call.type() == "Resize" && call.version() >= 18 ? call.ints("axes") : nullptr;
  if (axes && !axes->empty()) return normalize_axes(*axes, rank);
  Temporary<size_t> out(rank);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

// Before version 11 there was one way to look up positions.
Result<kernels::Resample> read_resize_modes(const Call& call) {
  kernels::Resample how;
  TRY(how.interpolation, interpolation_of_resize(call));
  if (call.type() == "Upsample" || call.version() < 11) {
    how.coordinates = kernels::Coordinates::asymmetric;
    how.nearest = kernels::NearestRule::simple;
    return how;
  }
  TRY(how.coordinates, named(kCoordinates, call.s("coordinate_transformation_mode")));
  TRY(how.nearest, named(kNearest, call.s("nearest_mode")));
  how.antialias = how.interpolation != kernels::Interpolation::nearest && call.i("antialias") != 0;
  how.exclude_outside = call.i("exclude_outside") != 0;
  how.cubic_a = call.f("cubic_coeff_a");
  how.extrapolation = call.f("extrapolation_value");
  return how;
}

AspectRatio aspect_ratio_of(const Call& call) {
  const std::string_view policy =
      call.type() == "Resize" && call.version() >= 18 ? call.s("keep_aspect_ratio_policy") : "stretch";
  if (policy == "stretch") return AspectRatio::stretch;
  return policy == "not_larger" ? AspectRatio::not_larger : AspectRatio::not_smaller;
}

bool has_scale_attributes(const Call& call) { return call.type() == "Upsample" && call.version() < 9; }

Temporary<double> scales_of_attributes(const Call& call) {
  if (!has_scale_attributes(call)) return {};
  if (call.version() < 7) return {1, 1, call.f("height_scale"), call.f("width_scale")};
  const auto* scales = call.floats("scales");
  return scales ? Temporary<double>(scales->begin(), scales->end()) : Temporary<double>();
}

constexpr OpDef kResize10{.name = "Resize",
                          .since = 10,
                          .sig = {kIn10, kResizeOut, "axes resampled to other sizes", kResize10Attributes},
                          .infer = infer_resize,
                          .kernels = kResizeKernels};
constexpr OpDef kResize11{.name = "Resize",
                          .since = 11,
                          .sig = {kIn11, kResizeOut, "axes resampled to other sizes", kResize11Attributes},
                          .infer = infer_resize,
                          .kernels = kResizeKernels};
constexpr OpDef kUpsample1{.name = "Upsample",
                           .since = 1,
                           .sig = {kUpsampleIn1, kResizeOut, "axes resampled to larger sizes", kUpsample1Attributes},
                           .infer = infer_upsample,
                           .kernels = kResizeKernels};
constexpr OpDef kUpsample9{.name = "Upsample",
                           .since = 9,
                           .sig = {kUpsampleIn9, kResizeOut, "axes resampled to larger sizes", kResize10Attributes},
                           .infer = infer_upsample,
                           .kernels = kResizeKernels};

}  // namespace anyshape::ops
