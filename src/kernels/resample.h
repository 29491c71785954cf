#pragma once

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

// Weights of the cubic convolution at distances 1 + x, x, 1 - x and 2 - x.
void cubic_weights(double x, double a, double (&weights)[4]);

}  // namespace anyshape::kernels
