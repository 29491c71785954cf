#pragma once

#include <array>
#include <vector>

#include "base/error.h"
#include "base/temporary.h"
#include "tensor/tensor.h"

namespace anyshape::kernels {

struct Suppression {
  int64_t most = 0;  // per class
  float overlap = 0;
  bool has_least = false;
  float least = 0;       // scores must be larger
  bool centers = false;  // boxes are [x center, y center, width, height], not two corners [y, x]
};

// (batch, class, box) of the boxes that overlap no better one of their class by more than `overlap`, best first.
// REQUIRES: boxes f32 [B, N, 4], scores f32 [B, C, N].
Temporary<std::array<int64_t, 3>> suppress(const Suppression& how, const Tensor& boxes, const Tensor& scores);

struct RoiAlign {
  float scale = 1;
  int64_t samples = 0;  // per axis of a cell; 0: as many as the region has pixels
  bool half_pixel = true, maximum = false;
};

// Error "roi.size" when a cell has more than 2^22 samples. REQUIRES: x [N, C, H, W] and rois [R, 4] of one float type,
// batch of each region in 0..N-1, out [R, C, h, w].
Status roi_align(const RoiAlign& how, const Tensor& x, const Tensor& rois, std::span<const int64_t> batch, Tensor& out);

// REQUIRES: x [N, C, H, W] and rois [R, 5] of one float type, out [R, C, h, w]. Error "roi.batch" when the first
// number of a region names no image.
Status max_roi_pool(float scale, const Tensor& x, const Tensor& rois, Tensor& out);

}  // namespace anyshape::kernels
