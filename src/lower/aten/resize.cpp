#include <algorithm>
#include <cmath>

#include "lower/aten/nn.h"

namespace anyshape::lower {
namespace {

// How one axis is resized. Without a factor the ratio of the sizes counts.
struct Axis {
  Dim in, out;
  std::optional<double> factor;
};

struct Target {
  std::vector<Axis> axes;
  bool by_factor = false;  // sizes are the factors' and need not be written
};

Dim scaled_size(Lowering& l, Dim in, double factor) {
  if (const auto number = in.constant()) return static_cast<int64_t>(std::floor(static_cast<double>(*number) * factor));
  const double whole = std::round(factor);
  if (whole == factor) return in * Dim(static_cast<int64_t>(whole));
  for (int64_t under = 2; under <= 1024; ++under) {
    const double over = factor * static_cast<double>(under);
    if (std::fabs(over - std::round(over)) < 1e-9 * over)
      return floordiv(in * Dim(static_cast<int64_t>(std::round(over))), under);
  }
  l->refuse("aten.resize", "the scale factor {} of a dynamic axis is no simple fraction; give the size instead",
            factor);
  return 0;
}

// .vec: output_size or scale_factors; otherwise output_size and one factor per axis, which may be left out.
std::optional<Target> target_of(Lowering& l, const Args& a, Ref x, size_t spatial) {
  if (!l.need_rank(x, spatial + 2, spatial + 2)) return std::nullopt;
  Target target;
  const Dims sizes = a.dims("output_size");
  const std::vector<double> factors = a.floats("scale_factors");
  static constexpr std::string_view kNames[] = {"scales_d", "scales_h", "scales_w"};
  for (size_t i = 0; i < spatial; ++i) {
    Axis axis{l->dim(x, i + 2), {}, std::nullopt};
    if (!factors.empty()) {
      axis.factor = factors[std::min(i, factors.size() - 1)];
    } else {
      const std::string_view name = spatial == 1 ? "scales" : kNames[3 - spatial + i];
      if (a.has(name) && a.f(name) > 0) axis.factor = a.f(name);
    }
    if (sizes.empty()) {
      if (!axis.factor) return std::nullopt;
      axis.out = scaled_size(l, axis.in, *axis.factor);
    } else {
      axis.out = l->assumptions().simplify(sizes[std::min(i, sizes.size() - 1)]);
    }
    target.axes.push_back(axis);
  }
  target.by_factor = sizes.empty();
  if (l->failed()) return std::nullopt;
  return target;
}

// A factor that is the ratio of the sizes anyway says nothing.
void drop_idle_factors(Lowering& l, Target& target) {
  for (Axis& axis : target.axes) {
    if (!axis.factor || target.by_factor) continue;
    const auto in = axis.in.constant(), out = axis.out.constant();
    const bool number = in && out && static_cast<double>(*out) == static_cast<double>(*in) * *axis.factor;
    const double whole = std::round(*axis.factor);
    if (number || (whole == *axis.factor && l->same(axis.out, axis.in * Dim(static_cast<int64_t>(whole)))))
      axis.factor.reset();
  }
}

Ref float_list(Lowering& l, const std::vector<double>& values) {
  auto tensor = Tensor::allocate(DType::f32, {static_cast<int64_t>(values.size())});
  if (!tensor) {
    l->fail(std::move(tensor).error());
    return {};
  }
  for (size_t i = 0; i < values.size(); ++i) tensor->as_mutable<float>()[i] = static_cast<float>(values[i]);
  return l->constant(*std::move(tensor));
}

// The ratio of every axis as a number, where there is one: then the sizes need not be known when the model runs.
std::optional<std::vector<double>> constant_factors(Lowering& l, const Target& target) {
  std::vector<double> out{1, 1};
  for (const Axis& axis : target.axes) {
    if (axis.factor) {
      out.push_back(*axis.factor);
    } else if (l->same(axis.in, axis.out)) {
      out.push_back(1);
    } else {
      const auto quotient = l->assumptions().exact_div(axis.out, axis.in);
      if (!quotient || !quotient->is_constant()) return std::nullopt;
      out.push_back(static_cast<double>(*quotient->constant()));
    }
  }
  return out;
}

struct Mode {
  std::string_view mode, coordinates;
  double cubic = 0;
  bool antialias = false;
  std::string_view nearest = {};
};

Ref resize(Lowering& l, Ref x, const Target& target, const Mode& mode) {
  std::vector<Attribute> attributes;
  if (mode.antialias) attributes.push_back(attr("antialias", 1));
  attributes.push_back(attr("coordinate_transformation_mode", mode.coordinates));
  if (mode.cubic != 0) attributes.push_back(attr("cubic_coeff_a", mode.cubic));
  if (mode.antialias) attributes.push_back(attr("exclude_outside", 1));
  attributes.push_back(attr("mode", mode.mode));
  if (!mode.nearest.empty()) attributes.push_back(attr("nearest_mode", mode.nearest));
  const Ref region = l->opset() < 13 ? float_list(l, {}) : Ref();
  const bool numbers = std::all_of(target.axes.begin(), target.axes.end(), [](const Axis& axis) {
    return axis.in.is_constant() && axis.out.is_constant() && !axis.factor;
  });
  const auto factors = constant_factors(l, target);
  if (factors && !numbers) return l.op("Resize", {x, region, float_list(l, *factors)}, std::move(attributes));
  Dims sizes{l->dim(x, 0), l->dim(x, 1)};
  for (const Axis& axis : target.axes) sizes.push_back(axis.out);
  const Ref no_scales = l->opset() < 13 ? float_list(l, {}) : Ref();
  return l.op("Resize", {x, region, no_scales, l->shape(sizes)}, std::move(attributes));
}

// A factor and a size that disagree: the size is reached by cutting, or cannot be.
bool refuse_mixed(Lowering& l, const Target& target) {
  if (target.by_factor) return false;
  const bool mixed = std::any_of(target.axes.begin(), target.axes.end(), [](const Axis& a) { return a.factor; });
  if (!mixed) return false;
  bool all = true;
  for (const Axis& axis : target.axes) {
    const Dim reached = axis.factor ? scaled_size(l, axis.in, *axis.factor) : axis.out;
    all &= l->same(reached, axis.out);
  }
  if (l->failed() || all) return l->failed();
  l->refuse("aten.resize", "a resize is given scale factors and sizes that do not belong together");
  return true;
}

template <size_t Spatial>
Arg linear_resize(Lowering& l, const Args& a) {
  const Ref x = a.self();
  auto target = target_of(l, a, x, Spatial);
  if (!target) return {};
  drop_idle_factors(l, *target);
  if (refuse_mixed(l, *target)) return {};
  return resize(l, x, *target, {"linear", a.flag("align_corners") ? "align_corners" : "half_pixel"});
}

Arg cubic(Lowering& l, const Args& a) {
  const Ref x = a.self();
  auto target = target_of(l, a, x, 2);
  if (!target) return {};
  drop_idle_factors(l, *target);
  if (refuse_mixed(l, *target)) return {};
  return resize(l, x, *target, {"cubic", a.flag("align_corners") ? "align_corners" : "half_pixel", -0.75});
}

template <bool Cubic>
Arg antialiased(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (l->opset() < 18) {
    l->refuse(kOpsetCode, "resizing with antialias=True needs opset 18 or later");
    return {};
  }
  auto target = target_of(l, a, x, 2);
  if (!target) return {};
  drop_idle_factors(l, *target);
  if (refuse_mixed(l, *target)) return {};
  Mode mode{Cubic ? "cubic" : "linear", a.flag("align_corners") ? "align_corners" : "half_pixel"};
  mode.cubic = Cubic ? -0.5 : 0;
  mode.antialias = true;
  return resize(l, x, *target, mode);
}

Arg lanczos(Lowering& l, const Args&) {
  l->refuse("aten.resize", "ONNX has no Lanczos filter; resize with mode=\"bicubic\", antialias=True instead");
  return {};
}

// PyTorch multiplies by the inverse ratio in f32, Resize divides by the ratio: not always the same entry.
bool same_entries(float inverse, float ratio, float shift, int64_t out) {
  for (int64_t i = 0; i < out; ++i) {
    const float at = static_cast<float>(i) + shift;
    const float wanted = std::floor(at * inverse);
    const float got = shift == 0 ? std::floor(at / ratio) : std::floor(at / ratio - 0.5f + 0.5f);
    if (wanted != got) return false;
  }
  return true;
}

// Resize picks the entries PyTorch picks along this axis at every size up to 2^14.
bool resize_agrees(Lowering& l, const Axis& axis, float shift) {
  constexpr int64_t kTried = 1 << 14;
  if (l->same(axis.in, axis.out)) return true;
  const auto in = axis.in.constant(), out = axis.out.constant();
  if (axis.factor) {
    const auto ratio = static_cast<float>(*axis.factor), inverse = static_cast<float>(1.0 / *axis.factor);
    return same_entries(inverse, ratio, shift, out.value_or(kTried));
  }
  if (in && out) {
    const float inverse = static_cast<float>(*in) / static_cast<float>(*out);
    const float ratio = static_cast<float>(*out) / static_cast<float>(*in);
    return *in > 0 && *out > 0 && same_entries(inverse, ratio, shift, *out);
  }
  const auto quotient = l->assumptions().exact_div(axis.out, axis.in);
  if (!quotient || !quotient->is_constant()) return false;
  const auto ratio = static_cast<float>(*quotient->constant());
  return same_entries(1 / ratio, ratio, shift, kTried);
}

// The entries PyTorch picks, computed as it does.
Ref picked(Lowering& l, Ref x, size_t at, const Axis& axis, double shift) {
  if (l->same(axis.in, axis.out) && !axis.factor) return x;
  const auto as_float = [&](Dim d) { return l->cast(l->scalar(d), DType::f32); };
  const Ref inverse =
      axis.factor ? l->number(1.0 / *axis.factor, DType::f32) : l.op("Div", {as_float(axis.in), as_float(axis.out)});
  Ref place = counted(l, axis.out, DType::f32);
  if (shift != 0) place = l.op("Add", {place, l->number(shift, DType::f32)});
  const Ref entry = l->cast(l.op("Floor", {l.op("Mul", {place, inverse})}), DType::i64);
  const Ref last = l->scalar(axis.in - 1);
  return l->gather(x, l.op("Where", {l.op("Less", {entry, last}), entry, last}), static_cast<int64_t>(at));
}

template <size_t Spatial, bool Exact>
Arg nearest(Lowering& l, const Args& a) {
  Ref x = a.self();
  auto target = target_of(l, a, x, Spatial);
  if (!target) return {};
  drop_idle_factors(l, *target);
  const float shift = Exact ? 0.5f : 0.0f;
  const bool agrees = std::all_of(target->axes.begin(), target->axes.end(),
                                  [&](const Axis& axis) { return resize_agrees(l, axis, shift); });
  const bool plain = std::none_of(target->axes.begin(), target->axes.end(), [&](const Axis& axis) {
    return axis.factor && !(target->by_factor && std::round(*axis.factor) == *axis.factor);
  });
  if (agrees && plain) {
    Mode mode{"nearest", Exact ? "half_pixel" : "asymmetric"};
    mode.nearest = Exact ? "round_prefer_ceil" : "floor";
    return resize(l, x, *target, mode);
  }
  for (size_t i = 0; i < Spatial; ++i) x = picked(l, x, i + 2, target->axes[i], shift);
  return x;
}

constexpr AtenOp kResizeOps[] = {
    {"_upsample_bicubic2d_aa", antialiased<true>},
    {"_upsample_bilinear2d_aa", antialiased<false>},
    {"_upsample_lanczos2d_aa", lanczos},
    {"_upsample_nearest_exact1d", nearest<1, true>},
    {"_upsample_nearest_exact2d", nearest<2, true>},
    {"_upsample_nearest_exact3d", nearest<3, true>},
    {"upsample_bicubic2d", cubic},
    {"upsample_bilinear2d", linear_resize<2>},
    {"upsample_linear1d", linear_resize<1>},
    {"upsample_nearest1d", nearest<1, false>},
    {"upsample_nearest2d", nearest<2, false>},
    {"upsample_nearest3d", nearest<3, false>},
    {"upsample_trilinear3d", linear_resize<3>},
};

}  // namespace

std::span<const AtenOp> resize_ops() { return kResizeOps; }

}  // namespace anyshape::lower
