#include "run/cpu/simd/conv_few.h"

#include <algorithm>

#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/conv_few.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {
namespace {

constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON;
constexpr int kMostFilters = kManyRegisters ? 8 : 4;
constexpr int kMostAtOnce = 8;

// Vectors of places that are summed at once, beside so many filters.
constexpr int at_once(int filters) {
  if (filters == 8) return 3;
  if (filters == 4) return kManyRegisters ? 6 : 3;
  return filters == 2 && !kManyRegisters ? 4 : kMostAtOnce;
}

constexpr int64_t kItems = 16;            // so many are enough for any number of threads
constexpr int64_t kCopyFloats = 1 << 16;  // of the copy, where it has more rows than one row of the output needs

// Rows y0..y1 - 1 of the output of one group, and the copy they are made of: [channel][row][width].
struct Band {
  int64_t rows, width;  // of the copy
  int64_t lines;        // of the output at most

  explicit Band(const Conv& c) {
    width = (c.out_width + (c.kernel_width - 1) * c.dilation_x + kLanes - 1) / kLanes * kLanes;
    const int64_t wanted = c.batch * c.groups * c.out_height / kItems;
    lines = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(c.out_height, 1));
    while (lines > 1 && c.in_channels * rows_for(c, lines) * width > kCopyFloats) lines = (lines + 1) / 2;
    rows = rows_for(c, lines);
  }
  static int64_t rows_for(const Conv& c, int64_t lines) {
    return (lines - 1) * c.stride_y + (c.kernel_height - 1) * c.dilation_y + 1;
  }
};

int64_t bands_of(const Conv& c) {
  const Band band(c);
  return (c.out_height + band.lines - 1) / band.lines;
}
int64_t floats_of(const Conv& c) {
  const Band band(c);
  return c.in_channels * band.rows * band.width + kMostAtOnce * kLanes;  // vectors reach past the last row
}

// A row of the output of some neighbouring filters.
struct Line {
  const float* in;       // the first row of the first channel that it sees
  const float* weights;  // [channel, ky, kx][filter]
  int64_t weight_step;
  const float *bias, *residual;  // null: none
  float* out;
  int64_t filters;  // that there are
};

template <int M, int W>
HWY_NOINLINE void convolve(const Conv& c, const Band& band, const Line& t, int64_t x) {
  V sums[M][W];
  ANYSHAPE_UNROLL
  for (int m = 0; m < M; ++m) {
    const V bias = t.bias && m < t.filters ? splat(t.bias[m]) : hn::Zero(F());
    ANYSHAPE_UNROLL
    for (int i = 0; i < W; ++i) sums[m][i] = bias;
  }
  const float* weights = t.weights;
  for (int64_t channel = 0; channel < c.in_channels; ++channel)
    for (int64_t ky = 0; ky < c.kernel_height; ++ky) {
      const float* at = t.in + (channel * band.rows + ky * c.dilation_y) * band.width + x;
      for (int64_t kx = 0; kx < c.kernel_width; ++kx, at += c.dilation_x, weights += t.weight_step) {
        V values[W];
        ANYSHAPE_UNROLL
        for (int i = 0; i < W; ++i) values[i] = hn::LoadU(F(), at + i * kLanes);
        ANYSHAPE_UNROLL
        for (int m = 0; m < M; ++m) {
          const V w = splat(weights[m]);
          ANYSHAPE_UNROLL
          for (int i = 0; i < W; ++i) sums[m][i] = hn::MulAdd(w, values[i], sums[m][i]);
        }
      }
    }
  ANYSHAPE_UNROLL
  for (int m = 0; m < M; ++m) {
    ANYSHAPE_UNROLL
    for (int i = 0; i < W; ++i) {
      const int64_t at = m * c.places() + x + i * kLanes, left = c.out_width - x - i * kLanes;
      if (m >= t.filters || left <= 0) continue;
      store_n(t.residual ? hn::Add(sums[m][i], load_n(t.residual + at, left)) : sums[m][i], t.out + at, left);
    }
  }
}

template <int M>
void convolve_line(const Conv& c, const Band& band, const Line& t) {
  constexpr int kAtOnce = at_once(M);
  for (int64_t x = 0; x < c.out_width; x += kAtOnce * kLanes)
    c.out_width - x > kLanes ? convolve<M, kAtOnce>(c, band, t, x) : convolve<M, 1>(c, band, t, x);
}

// As many filters as go together; says how many.
int64_t convolve_some(const Conv& c, const Band& band, const Line& t) {
  if constexpr (kMostFilters == 8)
    if (t.filters > 4) return convolve_line<8>(c, band, t), 8;
  if (t.filters > 2) return convolve_line<4>(c, band, t), 4;
  if (t.filters > 1) return convolve_line<2>(c, band, t), 2;
  return convolve_line<1>(c, band, t), 1;
}

void copy_rows(const Conv& c, const Band& band, const float* in, int64_t top, int64_t rows, float* to) {
  const int64_t kept = std::clamp<int64_t>(band.width - c.pad_left, 0, c.in_width);
  for (int64_t channel = 0; channel < c.in_channels; ++channel)
    for (int64_t r = 0; r < band.rows; ++r, to += band.width) {
      const int64_t y = top + r;
      if (r >= rows || y < 0 || y >= c.in_height || kept == 0) {
        std::fill_n(to, band.width, 0.0f);
        continue;
      }
      std::fill_n(to, c.pad_left, 0.0f);
      std::copy_n(in + (channel * c.in_height + y) * c.in_width, kept, to + c.pad_left);
      std::fill_n(to + c.pad_left + kept, band.width - c.pad_left - kept, 0.0f);
    }
}

void run_item(const Conv& c, int64_t item, float* scratch) {
  const Band band(c);
  const int64_t bands = bands_of(c), plane = item / bands, group = plane % c.groups, unit = gemm_rows();
  const int64_t y0 = item % bands * band.lines, y1 = std::min(c.out_height, y0 + band.lines);
  const float* in = c.in + plane * c.in_channels * c.in_height * c.in_width;
  copy_rows(c, band, in, y0 * c.stride_y - c.pad_top, Band::rows_for(c, y1 - y0), scratch);
  const int64_t filters = (c.out_channels + unit - 1) / unit * unit;
  for (int64_t f = 0, more = 0; f < c.out_channels; f += more) {
    const int64_t at = (plane * c.out_channels + f) * c.places();
    Line t;
    t.weights = c.weights + (group * filters + f / unit * unit) * c.depth() + f % unit;
    t.weight_step = unit;
    t.bias = c.bias ? c.bias + group * c.out_channels + f : nullptr;
    t.filters = std::min(c.out_channels - f, unit - f % unit);
    for (int64_t y = y0; y < y1; ++y) {
      t.in = scratch + (y - y0) * c.stride_y * band.width;
      t.out = c.out + at + y * c.out_width;
      t.residual = c.residual ? c.residual + at + y * c.out_width : nullptr;
      more = std::min(t.filters, convolve_some(c, band, t));
    }
    activate(c.activation, c.out + at + y0 * c.out_width, more, (y1 - y0) * c.out_width, c.places());
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(bands_of);
HWY_EXPORT(floats_of);
HWY_EXPORT(run_item);

bool few_filters(const Conv& c) {
  constexpr int64_t kMostFilters = 8, kMostProducts = 1024;  // products that are added in a row
  return c.stride_x == 1 && c.out_channels <= kMostFilters && c.area() > 1 && !c.has_layers() &&
         c.depth() <= kMostProducts && !c.depthwise();
}

int64_t few_items(const Conv& c) { return c.batch * c.groups * HWY_DYNAMIC_DISPATCH(bands_of)(c); }
int64_t few_scratch(const Conv& c) { return HWY_DYNAMIC_DISPATCH(floats_of)(c); }
void few_run(const Conv& c, int64_t item, float* scratch) { HWY_DYNAMIC_DISPATCH(run_item)(c, item, scratch); }

}  // namespace anyshape::simd
#endif
