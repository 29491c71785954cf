#include "kernels/resample.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "kernels/copy.h"
#include "kernels/reals.h"

namespace anyshape::kernels {
namespace {

constexpr double kFarthest = 1e15;

// What one output position takes from the axis: `weights` from `first` on, clamped to the axis.
struct Tap {
  int64_t first = 0;
  bool outside = false;  // the extrapolation value instead
  std::vector<double> weights;
};

struct Axis {
  int64_t in = 0, out = 0;
  ResampledAxis how;
  double width() const { return how.scale * static_cast<double>(in); }
};

double source_position(Coordinates coordinates, const Axis& axis, int64_t i) {
  const auto x = static_cast<double>(i), last = static_cast<double>(axis.in - 1);
  const double scale = axis.how.scale, width = axis.width();
  switch (coordinates) {
    case Coordinates::half_pixel:
      return (x + 0.5) / scale - 0.5;
    case Coordinates::half_pixel_symmetric:
      return static_cast<double>(axis.in) / 2 * (1 - static_cast<double>(axis.out) / width) + (x + 0.5) / scale - 0.5;
    case Coordinates::pytorch_half_pixel:
      return width == 1 ? -0.5 : (x + 0.5) / scale - 0.5;
    case Coordinates::align_corners:
      return width == 1 ? 0 : x * last / (width - 1);
    case Coordinates::asymmetric:
      return x / scale;
    case Coordinates::tf_crop_and_resize: {
      const double extent = (axis.how.roi_end - axis.how.roi_start) * last;
      return (width == 1 ? extent / 2 : x * extent / (width - 1)) + axis.how.roi_start * last;
    }
    case Coordinates::tf_half_pixel_for_nn:
      return (x + 0.5) / scale;
  }
  return 0;
}

int64_t nearest_index(NearestRule rule, double x, double scale) {
  const auto whole = static_cast<int64_t>(std::floor(x));
  const double part = x - std::floor(x);
  switch (rule) {
    case NearestRule::round_prefer_floor:
      return whole + (part > 0.5 ? 1 : 0);
    case NearestRule::round_prefer_ceil:
      return whole + (part >= 0.5 ? 1 : 0);
    case NearestRule::floor:
      return whole;
    case NearestRule::ceil:
      return whole + (part > 0 ? 1 : 0);
    case NearestRule::simple:
      return static_cast<int64_t>(scale < 1 ? std::ceil(x) : std::trunc(x));
  }
  return whole;
}

double cubic_at(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// Triangle or cubic, stretched to the width of an output cell; the weights sum up to 1.
std::vector<double> smooth_weights(const Resample& how, double ratio, double scale) {
  scale = std::min(scale, 1.0);
  const bool cubic = how.interpolation == Interpolation::cubic;
  const auto first = static_cast<int64_t>(std::floor((cubic ? -2 : -1) / scale)) + 1;
  std::vector<double> weights;
  double sum = 0;
  for (int64_t i = first; i < 2 - first; ++i) {
    const double x = (static_cast<double>(i) - ratio) * scale;
    weights.push_back(cubic ? cubic_at(x, how.cubic_a) : std::max(0.0, 1 - std::fabs(x)));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

std::vector<double> weights_at(const Resample& how, double ratio, double scale) {
  if (how.antialias) return smooth_weights(how, ratio, scale);
  if (how.interpolation == Interpolation::linear) return {1 - ratio, ratio};
  double weights[4];
  cubic_weights(ratio, how.cubic_a, weights);
  return {std::begin(weights), std::end(weights)};
}

void drop_outside(int64_t size, Tap& tap) {
  double sum = 0;
  for (size_t k = 0; k < tap.weights.size(); ++k) {
    const int64_t at = tap.first + static_cast<int64_t>(k);
    if (at < 0 || at >= size) tap.weights[k] = 0;
    sum += tap.weights[k];
  }
  if (sum == 0) return;
  for (double& weight : tap.weights) weight /= sum;
}

Result<Tap> tap_at(const Resample& how, const Axis& axis, int64_t i) {
  const double x = source_position(how.coordinates, axis, i);
  Tap tap;
  if (how.coordinates == Coordinates::tf_crop_and_resize && !(x >= 0 && x <= static_cast<double>(axis.in - 1))) {
    tap.outside = true;
    return tap;
  }
  if (!(std::fabs(x) < kFarthest)) return refuse("resize.position", "an axis is sampled at {}", x);
  if (how.interpolation == Interpolation::nearest) {
    tap.first = std::clamp<int64_t>(nearest_index(how.nearest, x, axis.how.scale), 0, axis.in - 1);
    return tap;
  }
  // The cell left of x counts: at a whole x the distance to it is 1.
  const auto left = static_cast<int64_t>(std::ceil(x)) - 1;
  tap.weights = weights_at(how, x - static_cast<double>(left), axis.how.scale);
  tap.first = left - static_cast<int64_t>(tap.weights.size() / 2) + 1;
  if (how.exclude_outside) drop_outside(axis.in, tap);
  return tap;
}

Result<std::vector<Tap>> taps_of(const Resample& how, const Axis& axis) {
  std::vector<Tap> taps;
  taps.reserve(static_cast<size_t>(axis.out));
  for (int64_t i = 0; i < axis.out; ++i) {
    TRY(Tap tap, tap_at(how, axis, i));
    taps.push_back(std::move(tap));
  }
  return taps;
}

double combined(const Tap& tap, std::span<const double> from, int64_t base, int64_t stride, int64_t size) {
  double sum = 0;
  for (size_t k = 0; k < tap.weights.size(); ++k) {
    const int64_t at = std::clamp<int64_t>(tap.first + static_cast<int64_t>(k), 0, size - 1);
    if (tap.weights[k] != 0) sum += tap.weights[k] * from[static_cast<size_t>(base + at * stride)];
  }
  return sum;
}

// One axis of the numbers, `inner` of them side by side.
std::vector<double> along(const Axis& axis, const std::vector<Tap>& taps, double outside,
                          const std::vector<double>& from, int64_t outer, int64_t inner) {
  std::vector<double> out(static_cast<size_t>(outer * axis.out * inner));
  size_t n = 0;
  for (int64_t o = 0; o < outer; ++o)
    for (const Tap& tap : taps)
      for (int64_t i = 0; i < inner; ++i)
        out[n++] = tap.outside ? outside : combined(tap, from, o * axis.in * inner + i, inner, axis.in);
  return out;
}

struct Split {
  int64_t outer = 1, inner = 1;
};

Split split_at(const std::vector<int64_t>& dims, size_t axis) {
  Split split;
  for (size_t i = 0; i < axis; ++i) split.outer *= dims[i];
  for (size_t i = axis + 1; i < dims.size(); ++i) split.inner *= dims[i];
  return split;
}

Status resample_numbers(const Resample& how, const Tensor& in, Tensor& out) {
  TRY(std::vector<double> values, to_reals(in));
  const int64_t parts = in.count() > 0 ? static_cast<int64_t>(values.size()) / in.count() : 1;
  std::vector<int64_t> dims = in.dims();
  for (const ResampledAxis& resampled : how.axes) {
    const Axis axis{in.dims()[resampled.axis], out.dims()[resampled.axis], resampled};
    const bool whole = resampled.roi_start == 0 && resampled.roi_end == 1;
    if (axis.in == axis.out && std::fabs(resampled.scale - 1) < 1e-9 && whole) continue;
    TRY(const auto taps, taps_of(how, axis));
    const Split split = split_at(dims, resampled.axis);
    values = along(axis, taps, how.extrapolation, values, split.outer, split.inner * parts);
    dims[resampled.axis] = axis.out;
  }
  return from_reals(values, out);
}

// One cell of that type; of a type that is no number an empty one.
Result<Tensor> cell_of(DType dtype, double value) {
  TRY(Tensor cell, Tensor::allocate(dtype, {}));
  const bool is_complex = dtype == DType::c64 || dtype == DType::c128;
  const double parts[] = {value, 0};
  if (dtype != DType::string) TRY_OK(from_reals(std::span(parts).first(is_complex ? 2 : 1), cell));
  return cell;
}

Status resample_nearest(const Resample& how, const Tensor& in, Tensor& out) {
  std::vector<std::vector<Tap>> taps(out.rank());
  for (const ResampledAxis& resampled : how.axes) {
    const size_t axis = resampled.axis;
    TRY(taps[axis], taps_of(how, {in.dims()[axis], out.dims()[axis], resampled}));
  }
  std::vector<int64_t> index(out.rank(), 0);
  TRY(const Tensor blank, cell_of(out.dtype(), how.extrapolation));
  for (int64_t n = 0; n < out.count(); ++n) {
    int64_t from = 0;
    bool outside = false;
    for (size_t axis = 0; axis < index.size(); ++axis) {
      const auto at = static_cast<size_t>(index[axis]);
      const bool moved = !taps[axis].empty();
      outside |= moved && taps[axis][at].outside;
      from = from * in.dims()[axis] + (moved ? taps[axis][at].first : index[axis]);
    }
    copy_elements(out, n, outside ? blank : in, outside ? 0 : from, 1);
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < out.dims()[axis]) break;
      index[axis] = 0;
    }
  }
  return {};
}

}  // namespace

void cubic_weights(double x, double a, double (&weights)[4]) {
  weights[0] = cubic_at(1 + x, a);
  weights[1] = cubic_at(x, a);
  weights[2] = cubic_at(1 - x, a);
  weights[3] = cubic_at(2 - x, a);
}

Status resample(const Resample& how, const Tensor& in, Tensor& out) {
  if (out.count() == 0) return {};
  return how.interpolation == Interpolation::nearest ? resample_nearest(how, in, out) : resample_numbers(how, in, out);
}

}  // namespace anyshape::kernels
