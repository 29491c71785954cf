#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/temporary.h"
#include "tensor/tensor.h"

namespace anyshape::kernels {

enum class Interpolation { nearest, linear, cubic };
// Which position of the input an output position looks at.
enum class Coordinates {
  half_pixel,
  half_pixel_symmetric,
  pytorch_half_pixel,
  align_corners,
  asymmetric,
  tf_crop_and_resize,
  tf_half_pixel_for_nn,
};
// `simple`: towards zero, or up where the axis shrinks.
enum class NearestRule { round_prefer_floor, round_prefer_ceil, floor, ceil, simple };

struct ResampledAxis {
  size_t axis = 0;
  double scale = 1;
  double roi_start = 0, roi_end = 1;  // of tf_crop_and_resize, in parts of the axis
};

struct Resample {
  Interpolation interpolation = Interpolation::nearest;
  Coordinates coordinates = Coordinates::half_pixel;
  NearestRule nearest = NearestRule::round_prefer_floor;
  bool antialias = false, exclude_outside = false;
  double cubic_a = -0.75, extrapolation = 0;
  Temporary<ResampledAxis> axes;
};

// Refuses what lies between two strings: "dtype".
Status require_numbers(Interpolation interpolation, DType dtype);

// Resizes `axes` of `in` to the sizes `out` has. Nearest takes any element type, the others numbers ("dtype"). Error
// "resize.position" when a position is no number or too far away. REQUIRES: one dtype, one rank, scales > 0; axes that
// are not listed are equal.
Status resample(const Resample& how, const Tensor& in, Tensor& out);

// One axis with its sizes.
struct SampledAxis {
  SampledAxis() = default;
  SampledAxis(int64_t before, int64_t after, const ResampledAxis& resampled);

  int64_t in = 0, out = 0;
  ResampledAxis how;
  // May be a fraction where a scale is given; where a size is, the quotient of the sizes may be off by a last bit.
  double width = 0;

  // Nothing lies between entries: all modes but nearest leave it as it is.
  bool unchanged() const;
};

inline int64_t most_taps(Interpolation interpolation) {
  return interpolation == Interpolation::nearest ? 1 : interpolation == Interpolation::linear ? 2 : 4;
}

// What one place of the output takes from an axis: most_taps() entries from `first` on, clamped to the axis.
struct Sample {
  int64_t first = 0;
  bool outside = false;  // the extrapolation value instead
  double weights[4] = {1, 0, 0, 0};
};
// Of place i. Error "resize.position". REQUIRES: no antialias.
Result<Sample> sample_at(const Resample& how, const SampledAxis& axis, int64_t i);

// The position of the input that place i looks at; nothing: outside.
Result<std::optional<double>> sampled_position(const Resample& how, const SampledAxis& axis, int64_t i);

// Weights of entries that are not on an axis of `size` entries become 0, the others sum up to 1.
void drop_outside(int64_t size, int64_t first, std::span<double> weights);

// The cubic convolution at distance x; its weights at distances 1 + x, x, 1 - x and 2 - x.
double cubic_at(double x, double a);
void cubic_weights(double x, double a, double (&weights)[4]);

}  // namespace anyshape::kernels
