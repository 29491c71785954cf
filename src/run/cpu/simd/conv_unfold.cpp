#include "run/cpu/simd/conv_unfold.h"

#include <algorithm>

#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/conv_unfold.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/gemm_micro-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

// Neighbouring places of one output row within one panel.
struct Run {
  int64_t z, y, x, count;
  int64_t at;  // in the first row of the panels
};

int find_runs(const Conv& c, int64_t depth, int64_t j0, int64_t j1, Run* runs) {
  int n = 0;
  int64_t y = j0 / c.out_width, x = j0 % c.out_width, z = 0;
  if (c.out_layers > 1) z = y / c.out_height, y %= c.out_height;
  for (int64_t j = j0; j < j1;) {
    const int64_t column = (j - j0) % kPanel, panel = (j - j0) / kPanel;
    const int64_t count = std::min({c.out_width - x, kPanel - column, j1 - j});
    runs[n++] = {z, y, x, count, panel * depth * kPanel + column};
    j += count;
    x += count;
    if (x < c.out_width) continue;
    x = 0;
    if (++y == c.out_height) y = 0, ++z;
  }
  return n;
}

HWY_INLINE void copy_floats(const float* from, int64_t n, float* to) {
  for (int64_t i = 0; i < n; i += kLanes) store_n(load_n(from + i, n - i), to + i, n - i);
}

HWY_INLINE void clear_floats(int64_t n, float* to) {
  for (int64_t i = 0; i < n; i += kLanes) store_n(hn::Zero(F()), to + i, n - i);
}

// What one tap of the kernel sees at the places of a run; x in low..high - 1 lies within the input.
HWY_INLINE void unfold_run(const Conv& c, const float* row, int64_t shift, int64_t low, int64_t high, const Run& run,
                           float* to) {
  const int64_t end = run.x + run.count;
  const int64_t a = std::clamp(low, run.x, end), b = std::clamp(high, a, end);
  if (a > run.x) clear_floats(a - run.x, to);
  if (c.stride_x == 1) {
    if (b > a) copy_floats(row + a + shift, b - a, to + (a - run.x));
  } else {
    for (int64_t x = a; x < b; ++x) to[x - run.x] = row[x * c.stride_x + shift];
  }
  if (end > b) clear_floats(end - b, to + (b - run.x));
}

// A cell of the kernel.
struct Tap {
  int64_t z, y, x;
};

// One row of the matrix.
void unfold_tap(const Conv& c, const float* channel, const Tap& tap, const Run* runs, int count, float* to) {
  const int64_t shift = tap.x * c.dilation_x - c.pad_left, room = c.in_width - shift;
  const int64_t low = shift >= 0 ? 0 : c.stride_x == 1 ? -shift : (-shift + c.stride_x - 1) / c.stride_x;
  const int64_t high = room <= 0 ? 0 : c.stride_x == 1 ? room : (room + c.stride_x - 1) / c.stride_x;
  const int64_t from_y = tap.y * c.dilation_y - c.pad_top, from_z = tap.z * c.dilation_z - c.pad_front;
  for (int i = 0; i < count; ++i) {
    const int64_t y = runs[i].y * c.stride_y + from_y;
    const int64_t z = runs[i].z * c.stride_z + from_z;
    if (y < 0 || y >= c.in_height || z < 0 || z >= c.in_layers)
      clear_floats(runs[i].count, to + runs[i].at);
    else
      unfold_run(c, channel + (z * c.in_height + y) * c.in_width, shift, low, high, runs[i], to + runs[i].at);
  }
}

void unfold(const Conv& c, const float* in, int64_t k0, int64_t k1, int64_t j0, int64_t j1, float* to) {
  Run runs[kMostPanels * kPanel];
  const int count = find_runs(c, k1 - k0, j0, j1, runs);
  const int64_t filled = (j1 - j0) % kPanel;
  float* last = to + (j1 - j0) / kPanel * (k1 - k0) * kPanel;
  int64_t channel = k0 / c.area();
  const int64_t rest = k0 % c.area(), row = rest / c.kernel_width;
  Tap tap{row / c.kernel_height, row % c.kernel_height, rest % c.kernel_width};
  for (int64_t k = k0; k < k1; ++k, to += kPanel, last += kPanel) {
    unfold_tap(c, in + channel * c.in_places(), tap, runs, count, to);
    if (filled != 0) clear_floats(kPanel - filled, last + filled);
    if (++tap.x < c.kernel_width) continue;
    tap.x = 0;
    if (++tap.y < c.kernel_height) continue;
    tap.y = 0;
    if (++tap.z < c.kernel_layers) continue;
    tap.z = 0;
    ++channel;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(unfold);

void conv_unfold(const Conv& c, const float* in, int64_t k0, int64_t k1, int64_t j0, int64_t j1, float* to) {
  HWY_DYNAMIC_DISPATCH(unfold)(c, in, k0, k1, j0, j1, to);
}

}  // namespace anyshape::simd
#endif
