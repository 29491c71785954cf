#include <algorithm>
#include <cmath>

#include "kernels/resample.h"

namespace anyshape::kernels {
namespace {

constexpr double kFarthest = 1e15;

// Where the scale is the quotient of the sizes, a position on a border between entries comes out exactly.
double unscaled(const SampledAxis& axis, double x) {
  const bool by_sizes = axis.width == static_cast<double>(axis.out);
  return by_sizes ? x * static_cast<double>(axis.in) / static_cast<double>(axis.out) : x / axis.how.scale;
}

double source_position(Coordinates coordinates, const SampledAxis& axis, int64_t i) {
  const auto x = static_cast<double>(i), last = static_cast<double>(axis.in - 1);
  const double width = axis.width;
  switch (coordinates) {
    case Coordinates::half_pixel:
      return unscaled(axis, x + 0.5) - 0.5;
    case Coordinates::half_pixel_symmetric:
      return static_cast<double>(axis.in) / 2 * (1 - static_cast<double>(axis.out) / width) + unscaled(axis, x + 0.5) -
             0.5;
    case Coordinates::pytorch_half_pixel:
      return axis.out == 1 ? 0 : unscaled(axis, x + 0.5) - 0.5;
    case Coordinates::align_corners:
      return width == 1 ? 0 : x * last / (width - 1);
    case Coordinates::asymmetric:
      return unscaled(axis, x);
    case Coordinates::tf_crop_and_resize: {
      const double extent = (axis.how.roi_end - axis.how.roi_start) * last;
      return (axis.out == 1 ? extent / 2 : x * extent / static_cast<double>(axis.out - 1)) + axis.how.roi_start * last;
    }
    case Coordinates::tf_half_pixel_for_nn:
      return unscaled(axis, x + 0.5);
  }
  return 0;
}

// As std::floor, which is a call on processors without an instruction for it.
int64_t floor_of(double x) {
  const auto whole = static_cast<int64_t>(x);
  return static_cast<double>(whole) > x ? whole - 1 : whole;
}

int64_t nearest_index(NearestRule rule, double x, double scale) {
  const int64_t whole = floor_of(x);
  const double part = x - static_cast<double>(whole);
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
      return scale < 1 ? -floor_of(-x) : static_cast<int64_t>(x);
  }
  return whole;
}

}  // namespace

SampledAxis::SampledAxis(int64_t before, int64_t after, const ResampledAxis& resampled)
    : in(before), out(after), how(resampled) {
  const double exact = how.scale * static_cast<double>(in), whole = static_cast<double>(out);
  width = std::fabs(exact - whole) < 1e-9 * whole ? whole : exact;
}

bool SampledAxis::unchanged() const {
  return in == out && std::fabs(how.scale - 1) < 1e-9 && how.roi_start == 0 && how.roi_end == 1;
}

double cubic_at(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

void cubic_weights(double x, double a, double (&weights)[4]) {
  weights[0] = cubic_at(1 + x, a);
  weights[1] = cubic_at(x, a);
  weights[2] = cubic_at(1 - x, a);
  weights[3] = cubic_at(2 - x, a);
}

void drop_outside(int64_t size, int64_t first, std::span<double> weights) {
  double sum = 0;
  for (size_t k = 0; k < weights.size(); ++k) {
    const int64_t at = first + static_cast<int64_t>(k);
    if (at < 0 || at >= size) weights[k] = 0;
    sum += weights[k];
  }
  if (sum == 0) return;
  for (double& weight : weights) weight /= sum;
}

Result<std::optional<double>> sampled_position(const Resample& how, const SampledAxis& axis, int64_t i) {
  const double x = source_position(how.coordinates, axis, i);
  if (how.coordinates == Coordinates::tf_crop_and_resize && !(x >= 0 && x <= static_cast<double>(axis.in - 1)))
    return std::nullopt;
  if (!(std::fabs(x) < kFarthest)) return refuse("resize.position", "an axis is sampled at {}", x);
  return x;
}

Result<Sample> sample_at(const Resample& how, const SampledAxis& axis, int64_t i) {
  TRY(const auto x, sampled_position(how, axis, i));
  Sample sample;
  sample.outside = !x;
  if (!x) return sample;
  if (how.interpolation == Interpolation::nearest) {
    sample.first = std::clamp<int64_t>(nearest_index(how.nearest, *x, axis.how.scale), 0, axis.in - 1);
    return sample;
  }
  // The cell left of x counts: at a whole x the distance to it is 1.
  const int64_t left = -floor_of(-*x) - 1;
  const double ratio = *x - static_cast<double>(left);
  if (how.interpolation == Interpolation::linear) {
    sample.weights[0] = 1 - ratio;
    sample.weights[1] = ratio;
  } else {
    cubic_weights(ratio, how.cubic_a, sample.weights);
  }
  const int64_t taps = most_taps(how.interpolation);
  sample.first = left - taps / 2 + 1;
  if (how.exclude_outside) drop_outside(axis.in, sample.first, std::span(sample.weights, static_cast<size_t>(taps)));
  return sample;
}

}  // namespace anyshape::kernels
