#include "run/cpu/simd/depthwise.h"

#include <algorithm>

#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/depthwise.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

// Vectors of an output row that are made at once. What lies past its end is made but not kept.
constexpr int kAtOnce = 4;

// A row of the input with its padding, parted by position modulo the stride, so that what one tap sees of neighbouring
// outputs are neighbours: position p is at [p % stride][p / stride].
int64_t phase_width(const Conv& c) {
  const int64_t reach = (c.kernel_width - 1) * c.dilation_x / c.stride_x + 1;
  return (c.out_width + reach + kAtOnce * kLanes + 15) / 16 * 16;
}
int64_t row_floats(const Conv& c) { return phase_width(c) * c.stride_x; }

int64_t rows_of(const Conv& c) { return c.in_layers * c.in_height; }
int64_t rows_floats(const Conv& c) { return row_floats(c) * (rows_of(c) + 1); }

// All rows of a channel and one of zeros for those beyond it; the weights; where in a row each tap begins (two floats
// hold an int64).
int64_t all_scratch(const Conv& c) { return rows_floats(c) + c.depth() + 2 * c.kernel_width; }

// Pointers into the scratch of one plane.
struct Plane {
  float *rows, *weights;
  int64_t* offsets;

  Plane(const Conv& c, float* scratch) {
    rows = scratch;
    offsets = reinterpret_cast<int64_t*>(rows + rows_floats(c));
    weights = reinterpret_cast<float*>(offsets + c.kernel_width);
  }
};

// Every other float from the first one on, and those between them.
HWY_INLINE void part_pairs(const float* from, int64_t n, float* even, float* odd) {
  const int64_t whole = n - n % (2 * kLanes);
  for (int64_t i = 0; i < whole; i += 2 * kLanes) {
    V a, b;
    hn::LoadInterleaved2(F(), from + i, a, b);
    hn::StoreU(a, F(), even + i / 2);
    hn::StoreU(b, F(), odd + i / 2);
  }
  for (int64_t i = whole; i < n; i += 2) even[i / 2] = from[i];
  for (int64_t i = whole + 1; i < n; i += 2) odd[i / 2] = from[i];
}

void part_row(const Conv& c, const float* row, float* to) {
  std::fill_n(to, row_floats(c), 0.0f);
  const int64_t stride = c.stride_x, width = phase_width(c), n = std::min(c.in_width, width * stride - c.pad_left);
  if (stride == 1) {
    if (n > 0) std::copy_n(row, n, to + c.pad_left);
    return;
  }
  if (stride == 2) {
    // The first float is at an even position, or goes to the odd ones and the next even one is one further.
    const int64_t at = c.pad_left / 2, shifted = c.pad_left % 2;
    return part_pairs(row, n, to + at + shifted * width, to + at + shifted + (1 - shifted) * width);
  }
  for (int64_t x = 0; x < std::min(stride, n); ++x) {
    const int64_t p = x + c.pad_left;
    float* phase = to + p % stride * width + p / stride;
    for (int64_t from = x; from < n; from += stride) *phase++ = row[from];
  }
}

// A row of the output that is being made; the residual may be the output itself.
struct Line {
  int64_t z, y;
  float bias;
  const float* residual;
  float* out;
};

// N vectors of it from place x on.
template <int N>
HWY_INLINE void convolve(const Conv& c, const Plane& p, int64_t each, const Line& line, int64_t x) {
  const float* weight = p.weights;
  V sums[N];
  ANYSHAPE_UNROLL
  for (int i = 0; i < N; ++i) sums[i] = splat(line.bias);
  for (int64_t k = 0; k < c.kernel_layers * c.kernel_height; ++k) {
    const int64_t ky = c.kernel_layers == 1 ? k : k % c.kernel_height,
                  kz = c.kernel_layers == 1 ? 0 : k / c.kernel_height;
    const int64_t in_y = line.y * c.stride_y + ky * c.dilation_y - c.pad_top;
    const int64_t in_z = line.z * c.stride_z + kz * c.dilation_z - c.pad_front;
    const bool inside = in_y >= 0 && in_y < c.in_height && in_z >= 0 && in_z < c.in_layers;
    const float* row = p.rows + (inside ? in_z * c.in_height + in_y : rows_of(c)) * each + x;
    for (int64_t kx = 0; kx < c.kernel_width; ++kx) {
      const V w = splat(*weight++);
      const float* at = row + p.offsets[kx];
      ANYSHAPE_UNROLL
      for (int i = 0; i < N; ++i) sums[i] = hn::MulAdd(w, hn::LoadU(F(), at + i * kLanes), sums[i]);
    }
  }
  ANYSHAPE_UNROLL
  for (int i = 0; i < N; ++i) {
    const int64_t at = x + i * kLanes, left = c.out_width - at;
    if (left <= 0) return;
    store_n(line.residual ? hn::Add(sums[i], load_n(line.residual + at, left)) : sums[i], line.out + at, left);
  }
}

void convolve_row(const Conv& c, const Plane& p, int64_t each, const Line& line) {
  for (int64_t x = 0; x < c.out_width; x += kAtOnce * kLanes) {
    const int64_t left = c.out_width - x;
    if (left > 2 * kLanes)
      convolve<kAtOnce>(c, p, each, line, x);
    else if (left > kLanes)
      convolve<2>(c, p, each, line, x);
    else
      convolve<1>(c, p, each, line, x);
  }
}

void plane(const Conv& c, int64_t index, float* scratch) {
  const Plane p(c, scratch);
  const int64_t channel = index % c.groups, unit = gemm_rows(), each = row_floats(c);
  const float* in = c.in + index * c.in_places();
  const float* weights = c.weights + channel * unit * c.depth();
  for (int64_t k = 0; k < c.depth(); ++k) p.weights[k] = weights[k * unit];
  for (int64_t kx = 0; kx < c.kernel_width; ++kx)
    p.offsets[kx] = kx * c.dilation_x % c.stride_x * phase_width(c) + kx * c.dilation_x / c.stride_x;
  for (int64_t y = 0; y < rows_of(c); ++y) part_row(c, in + y * c.in_width, p.rows + y * each);
  std::fill_n(p.rows + rows_of(c) * each, each, 0.0f);
  const int64_t start = index * c.places();
  const float bias = c.bias ? c.bias[channel] : 0.0f;
  for (int64_t row = 0; row < c.out_layers * c.out_height; ++row) {
    const int64_t at = start + row * c.out_width, z = c.out_layers == 1 ? 0 : row / c.out_height;
    convolve_row(c, p, each, {z, row - z * c.out_height, bias, c.residual ? c.residual + at : nullptr, c.out + at});
  }
  activate(c.activation, c.out + start, 1, c.places(), c.places());
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
