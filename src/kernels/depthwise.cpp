#include "kernels/depthwise.h"

#include <algorithm>

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/depthwise.cpp"
#include <hwy/foreach_target.h>

#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

// A row of the input with its padding, parted by position modulo the stride, so that what one tap sees of neighbouring
// outputs are neighbours: position p is at [p % stride][p / stride].
int64_t phase_width(const Conv& c) {
  const int64_t reach = (c.kernel_width - 1) * c.dilation_x / c.stride_x + 1;
  return (c.out_width + reach + 2 * kLanes + 15) / 16 * 16;
}
int64_t row_floats(const Conv& c) { return phase_width(c) * c.stride_x; }

// All rows of a plane, one of zeros for those beyond it, and a finished row of the output: the residual, which may be
// the output itself, is needed until that is complete.
int64_t all_scratch(const Conv& c) { return row_floats(c) * (c.in_height + 1) + c.out_width; }

void part_row(const Conv& c, const float* row, float* to) {
  std::fill_n(to, row_floats(c), 0.0f);
  const int64_t width = phase_width(c), n = std::min(c.in_width, width * c.stride_x - c.pad_left);
  if (c.stride_x == 1) {
    if (n > 0) std::copy_n(row, n, to + c.pad_left);
    return;
  }
  for (int64_t x = 0; x < n; ++x) {
    const int64_t p = x + c.pad_left;
    to[p % c.stride_x * width + p / c.stride_x] = row[x];
  }
}

// Output row y out of the parted rows; weights are `step` apart.
void convolve_row(const Conv& c, const float* rows, int64_t y, const float* weights, int64_t step, float bias,
                  float* out) {
  const int64_t width = phase_width(c), each = row_floats(c);
  for (int64_t x = 0; x < c.out_width; x += kLanes) {
    V sum = splat(bias);
    const float* weight = weights;
    for (int64_t ky = 0; ky < c.kernel_height; ++ky) {
      const int64_t in_y = y * c.stride_y + ky * c.dilation_y - c.pad_top;
      const float* row = rows + (in_y >= 0 && in_y < c.in_height ? in_y : c.in_height) * each + x;
      for (int64_t kx = 0; kx < c.kernel_width; ++kx, weight += step) {
        const int64_t p = kx * c.dilation_x;
        sum = hn::MulAdd(splat(*weight), hn::LoadU(F(), row + p % c.stride_x * width + p / c.stride_x), sum);
      }
    }
    store_n(sum, out + x, c.out_width - x);
  }
}

void add_row(const float* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; i += kLanes)
    store_n(hn::Add(load_n(to + i, n - i), load_n(from + i, n - i)), to + i, n - i);
}

void plane(const Conv& c, int64_t index, float* rows) {
  const int64_t channel = index % c.groups, unit = gemm_rows(), each = row_floats(c);
  const float* in = c.in + index * c.in_height * c.in_width;
  const float* weights = c.weights + channel * unit * c.depth();
  float* line = rows + (c.in_height + 1) * each;
  for (int64_t y = 0; y < c.in_height; ++y) part_row(c, in + y * c.in_width, rows + y * each);
  std::fill_n(rows + c.in_height * each, each, 0.0f);
  for (int64_t y = 0; y < c.out_height; ++y) {
    const int64_t at = (index * c.out_height + y) * c.out_width;
    convolve_row(c, rows, y, weights, unit, c.bias ? c.bias[channel] : 0.0f, line);
    if (c.residual) add_row(c.residual + at, line, c.out_width);
    activate(c.activation, line, 1, c.out_width, c.out_width);
    std::copy_n(line, c.out_width, c.out + at);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(plane);
HWY_EXPORT(all_scratch);

int64_t depthwise_scratch(const Conv& c) { return HWY_DYNAMIC_DISPATCH(all_scratch)(c); }

void depthwise_plane(const Conv& c, int64_t index, float* scratch) { HWY_DYNAMIC_DISPATCH(plane)(c, index, scratch); }

}  // namespace anyshape::simd
#endif
