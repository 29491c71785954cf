#include "run/cpu/simd/conv_transpose_f32.h"

#include <algorithm>

#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/conv_transpose_f32.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

// Neighbouring cells of one row of the input: x0..x1 - 1 of row y of layer z, at `at` in a row of products.
struct Stretch {
  int64_t z, y, x0, x1, at;
};

// to[i * step] += from[i]
HWY_INLINE void add_spread(const float* from, int64_t n, int64_t step, float* to) {
  if (step == 1) {
    for (int64_t i = 0; i < n; i += kLanes)
      store_n(hn::Add(load_n(to + i, n - i), load_n(from + i, n - i)), to + i, n - i);
    return;
  }
  for (int64_t i = 0; i < n; ++i) to[i * step] += from[i];
}

// to[2 * i] += even[i], to[2 * i + 1] += odd[i]
HWY_INLINE void add_interleaved(const float* even, const float* odd, int64_t n, float* to) {
  const F d;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    V a, b;
    hn::LoadInterleaved2(d, to + 2 * i, a, b);
    hn::StoreInterleaved2(hn::Add(a, hn::LoadU(d, even + i)), hn::Add(b, hn::LoadU(d, odd + i)), d, to + 2 * i);
  }
  for (; i < n; ++i) {
    to[2 * i] += even[i];
    to[2 * i + 1] += odd[i];
  }
}

// The cells of the stretch whose tap kx lands within the output row.
HWY_INLINE void add_tap(const ConvTranspose& c, const Stretch& s, int64_t kx, const float* products, float* row) {
  const int64_t shift = kx * c.dilation_x - c.cut_left, stride = c.stride_x;
  const int64_t low = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const int64_t high = c.out_width > shift ? (c.out_width - shift + stride - 1) / stride : 0;
  const int64_t x0 = std::max(s.x0, low), x1 = std::min(s.x1, high);
  if (x0 < x1) add_spread(products + s.at + (x0 - s.x0), x1 - x0, stride, row + x0 * stride + shift);
}

// All taps of one kernel row. `products`: a row of `width` products per tap.
HWY_INLINE void add_row(const ConvTranspose& c, const Stretch& s, const float* products, int64_t width, float* row) {
  const int64_t begin = s.x0 * 2 - c.cut_left, end = s.x1 * 2 - c.cut_left;
  if (c.stride_x == 2 && c.kernel_width == 2 && c.dilation_x == 1 && begin >= 0 && end <= c.out_width)
    return add_interleaved(products + s.at, products + width + s.at, s.x1 - s.x0, row + begin);
  for (int64_t kx = 0; kx < c.kernel_width; ++kx) add_tap(c, s, kx, products + kx * width, row);
}

// Adds the products of places j0..j1 - 1 of the input with all taps of one filter to its channel of the output.
void add_products(const ConvTranspose& c, const float* products, int64_t j0, int64_t j1, float* plane) {
  const int64_t width = j1 - j0;
  for (int64_t j = j0; j < j1;) {
    const int64_t row = j / c.in_width;
    Stretch s{row / c.in_height, row % c.in_height, j % c.in_width, 0, j - j0};
    s.x1 = std::min(c.in_width, s.x0 + j1 - j);
    for (int64_t k = 0; k < c.kernel_layers * c.kernel_height; ++k) {
      const int64_t z = s.z * c.stride_z + k / c.kernel_height * c.dilation_z - c.cut_front;
      const int64_t y = s.y * c.stride_y + k % c.kernel_height * c.dilation_y - c.cut_top;
      if (z >= 0 && z < c.out_layers && y >= 0 && y < c.out_height)
        add_row(c, s, products + k * c.kernel_width * width, width, plane + (z * c.out_height + y) * c.out_width);
    }
    j += s.x1 - s.x0;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {
namespace {

HWY_EXPORT(add_products);

// Floats of products at a time: they stay in the L2 cache.
constexpr int64_t kProducts = 1 << 16;

// Filters that are worked on together: a few blocks of rows of the product.
int64_t filters_at_once(const ConvTranspose& c) {
  constexpr int64_t kRows = 96;
  return std::clamp<int64_t>(kRows / c.area(), 1, c.out_channels);
}
int64_t bands_of(const ConvTranspose& c) { return (c.out_channels + filters_at_once(c) - 1) / filters_at_once(c); }

int64_t columns_at_once(const ConvTranspose& c) {
  const int64_t panel = gemm_panel(), wanted = kProducts / (filters_at_once(c) * c.area());
  return std::min(std::max<int64_t>(wanted / panel, 1), (c.in_places() + panel - 1) / panel) * panel;
}

int64_t product_floats(const ConvTranspose& c) { return filters_at_once(c) * c.area() * columns_at_once(c); }

// The product of the taps of `filters` filters with `columns` places of the input.
Gemm product_of(const ConvTranspose& c, int64_t filters, int64_t columns) {
  Gemm g;
  g.m = filters * c.area();
  g.n = columns;
  g.k = c.in_channels;
  g.a_row = 1;
  g.a_column = c.out_channels * c.area();
  g.b_packed = false;
  g.b_row = c.in_places();
  g.c_row = columns;
  return g;
}

void run_item(const ConvTranspose& c, int64_t item, float* scratch) {
  const int64_t bands = bands_of(c), group = item / bands % c.groups, image = item / bands / c.groups;
  const int64_t first = item % bands * filters_at_once(c);
  const int64_t filters = std::min(filters_at_once(c), c.out_channels - first),
                channel = group * c.out_channels + first;
  float* out = c.out + (image * c.groups * c.out_channels + channel) * c.out_places();
  for (int64_t f = 0; f < filters; ++f)
    std::fill_n(out + f * c.out_places(), c.out_places(), c.bias ? c.bias[channel + f] : 0.0f);
  const float* in = c.in + (image * c.groups + group) * c.in_channels * c.in_places();
  for (int64_t j0 = 0; j0 < c.in_places(); j0 += columns_at_once(c)) {
    const int64_t j1 = std::min(c.in_places(), j0 + columns_at_once(c));
    Gemm g = product_of(c, filters, j1 - j0);
    g.a = c.weights + (group * c.in_channels * c.out_channels + first) * c.area();
    g.b = in + j0;
    g.c = scratch;
    gemm_tile(g, 0, g.m, 0, g.n, scratch + product_floats(c));
    for (int64_t f = 0; f < filters; ++f)
      HWY_DYNAMIC_DISPATCH(add_products)(c, scratch + f * c.area() * g.n, j0, j1, out + f * c.out_places());
  }
  activate(c.activation, out, filters, c.out_places(), c.out_places());
}

}  // namespace

int64_t conv_transpose_items(const ConvTranspose& c) { return c.batch * c.groups * bands_of(c); }

int64_t conv_transpose_scratch(const ConvTranspose& c) {
  return product_floats(c) + gemm_scratch(product_of(c, filters_at_once(c), columns_at_once(c)));
}

void conv_transpose_run(const ConvTranspose& c, int64_t first, int64_t last, float* scratch) {
  for (int64_t item = first; item < last; ++item) run_item(c, item, scratch);
}

}  // namespace anyshape::simd
#endif
