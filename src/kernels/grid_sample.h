#pragma once

#include "kernels/resample.h"

namespace anyshape::kernels {

enum class Padding { zeros, border, reflection };

struct GridSample {
  Interpolation interpolation = Interpolation::linear;
  Padding padding = Padding::zeros;
  bool align_corners = false;
};

// out[n, c, o...] = x[n, c] at the position grid[n, o...], which counts from -1 to 1 along each axis, last axis first.
// Nearest takes any element type, the others numbers ("dtype"). REQUIRES: x [N, C, D...], grid [N, O..., rank of D],
// out [N, C, O...]; no axis of D is empty.
Status grid_sample(const GridSample& how, const Tensor& x, const Tensor& grid, Tensor& out);

}  // namespace anyshape::kernels
