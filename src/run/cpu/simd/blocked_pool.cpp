#include <algorithm>
#include <limits>

#include "run/cpu/simd/blocked_parts.h"
#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/blocked_pool.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/gemm_micro-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {
namespace {

// Cells of a window along one axis that lie inside the input, and where the first one is.
struct Cells {
  int64_t count, at;
};
HWY_INLINE Cells cells_of(int64_t start, int64_t dilation, int64_t kernel, int64_t size) {
  const int64_t first = start >= 0 ? 0 : std::min(kernel, (-start + dilation - 1) / dilation);
  const int64_t last = start >= size ? first : std::min(kernel, (size - start + dilation - 1) / dilation);
  return {std::max<int64_t>(last - first, 0), start + first * dilation};
}

// Cells inside the input and its padding of a window that begins `start` places after the padding's.
HWY_INLINE int64_t padded_cells(int64_t start, int64_t dilation, int64_t kernel, int64_t size) {
  return std::clamp<int64_t>((size - start + dilation - 1) / dilation, 0, kernel);
}

// The greater one; best where one is NaN.
HWY_INLINE V greater(V value, V best) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  return hn::Max(value, best);
#else
  return hn::IfThenElse(hn::Gt(value, best), value, best);
#endif
}

// The part of a window that is inside the input; steps in floats.
struct Part {
  const float* at;
  int64_t rows, columns, row_step, column_step;
};

template <class Fn>
HWY_INLINE V over_cells(const Part& w, V start, Fn fn) {
  V x = start;
  for (int64_t y = 0; y < w.rows; ++y)
    for (int64_t k = 0; k < w.columns; ++k) x = fn(x, hn::LoadU(F(), w.at + y * w.row_step + k * w.column_step));
  return x;
}

// NaN only where there is no number; the least number where there is nothing at all. Inline, though seldom asked: g++
// 13 ends with an internal error where a vector of the emulated target comes out of a call.
HWY_INLINE V maximum_with_nan(const Part& w) {
  if (w.rows * w.columns == 0) return splat(std::numeric_limits<float>::lowest());
  return over_cells(w, splat(std::numeric_limits<float>::quiet_NaN()),
                    [](V best, V x) HWY_ATTR { return hn::IfThenElse(hn::Eq(best, best), greater(x, best), x); });
}

// N places, all of whose windows have the same form, `step` floats apart.
template <int N>
HWY_INLINE void maxima(const Part& w, int64_t step, float* out) {
  V best[N];
  const V least = splat(-std::numeric_limits<float>::infinity());
  ANYSHAPE_UNROLL
  for (int i = 0; i < N; ++i) best[i] = least;
  for (int64_t y = 0; y < w.rows; ++y) {
    const float* at = w.at + y * w.row_step;
    for (int64_t k = 0; k < w.columns; ++k, at += w.column_step) {
      ANYSHAPE_UNROLL
      for (int i = 0; i < N; ++i) best[i] = greater(hn::LoadU(F(), at + i * step), best[i]);
    }
  }
  ANYSHAPE_UNROLL
  for (int i = 0; i < N; ++i) {
    // Nothing was greater: nothing there, only NaN, or really the least.
    if (!hn::AllFalse(F(), hn::Eq(best[i], least))) {
      Part one = w;
      one.at += i * step;
      best[i] = maximum_with_nan(one);
    }
    hn::StoreU(best[i], F(), out + i * kLanes);
  }
}

// Sums of the rows, then their sum.
HWY_INLINE V sum_of(const Part& w) {
  V sum = hn::Zero(F());
  Part row = w;
  row.rows = 1;
  for (int64_t y = 0; y < w.rows; ++y, row.at += w.row_step)
    sum = hn::Add(sum, over_cells(row, hn::Zero(F()), [](V a, V x) HWY_ATTR { return hn::Add(a, x); }));
  return sum;
}

struct PoolRow {
  const float* in;  // the plane
  int64_t y;
  Cells rows;
  int64_t counted_rows;  // of an average
  float* out;
};

Part part_of(const BlockedPool& p, const PoolRow& r, const Cells& columns) {
  const int64_t row = p.in_width * kLanes;
  if (r.rows.count == 0 || columns.count == 0) return {r.in, 0, 0, 0, 0};
  return {r.in + r.rows.at * row + columns.at * kLanes, r.rows.count, columns.count, p.dilation_y * row,
          p.dilation_x * kLanes};
}

Cells columns_of(const BlockedPool& p, int64_t x) {
  return cells_of(x * p.stride_x - p.pad_left, p.dilation_x, p.kernel_width, p.in_width);
}

void max_row(const BlockedPool& p, const PoolRow& r) {
  constexpr int kAtOnce = 4;
  const int64_t reach = (p.kernel_width - 1) * p.dilation_x, step = p.stride_x * kLanes;
  for (int64_t x = 0; x < p.out_width;) {
    const Part w = part_of(p, r, columns_of(p, x));
    const int64_t last = (x + kAtOnce - 1) * p.stride_x - p.pad_left + reach;
    if (w.columns == p.kernel_width && x + kAtOnce <= p.out_width && last < p.in_width) {
      maxima<kAtOnce>(w, step, r.out + x * kLanes);
      x += kAtOnce;
    } else {
      maxima<1>(w, step, r.out + x * kLanes);
      ++x;
    }
  }
}

void average_row(const BlockedPool& p, const PoolRow& r) {
  const int64_t width = p.in_width + p.pad_left + p.pad_right;
  for (int64_t x = 0; x < p.out_width; ++x) {
    const Cells columns = columns_of(p, x);
    const int64_t counted =
        p.count_include_pad ? padded_cells(x * p.stride_x, p.dilation_x, p.kernel_width, width) : columns.count;
    const V sum = sum_of(part_of(p, r, columns));
    hn::StoreU(hn::Div(sum, splat(static_cast<float>(r.counted_rows * counted))), F(), r.out + x * kLanes);
  }
}

void pool_planes(const BlockedPool& p, int64_t first, int64_t last) {
  const int64_t height = p.in_height + p.pad_top + p.pad_bottom;
  for (int64_t i = first; i < last; ++i) {
    PoolRow r;
    r.in = p.in + i * p.in_height * p.in_width * kLanes;
    for (r.y = 0; r.y < p.out_height; ++r.y) {
      r.out = p.out + (i * p.out_height + r.y) * p.out_width * kLanes;
      r.rows = cells_of(r.y * p.stride_y - p.pad_top, p.dilation_y, p.kernel_height, p.in_height);
      r.counted_rows =
          p.count_include_pad ? padded_cells(r.y * p.stride_y, p.dilation_y, p.kernel_height, height) : r.rows.count;
      p.kind == BlockedPool::Kind::max ? max_row(p, r) : average_row(p, r);
    }
  }
}

// Items are blocks of all images; `channels` those of one image.
void into_blocks(const float* in, int64_t channels, int64_t plane, int64_t first, int64_t last, float* out) {
  const int64_t blocks = (channels + kLanes - 1) / kLanes;
  for (int64_t i = first; i < last; ++i) {
    const int64_t block = i % blocks, n = std::min(kLanes, channels - block * kLanes);
    const float* from = in + (i / blocks * channels + block * kLanes) * plane;
    float* to = out + i * plane * kLanes;
    transpose(from, plane, n, plane, to, kLanes);
    if (n == kLanes) continue;
    for (int64_t j = 0; j < plane; ++j) std::fill_n(to + j * kLanes + n, kLanes - n, 0.0f);
  }
}

void out_of_blocks(const float* in, int64_t channels, int64_t plane, int64_t first, int64_t last, float* out) {
  const int64_t blocks = (channels + kLanes - 1) / kLanes;
  for (int64_t i = first; i < last; ++i) {
    const int64_t block = i % blocks, n = std::min(kLanes, channels - block * kLanes);
    float* to = out + (i / blocks * channels + block * kLanes) * plane;
    transpose(in + i * plane * kLanes, kLanes, plane, n, to, plane);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(pool_planes);
HWY_EXPORT(into_blocks);
HWY_EXPORT(out_of_blocks);

void blocked_pool_run(const BlockedPool& p, int64_t first, int64_t last) {
  HWY_DYNAMIC_DISPATCH(pool_planes)(p, first, last);
}

void to_blocked(const float* in, int64_t channels, int64_t plane, int64_t first, int64_t last, float* out) {
  HWY_DYNAMIC_DISPATCH(into_blocks)(in, channels, plane, first, last, out);
}

void from_blocked(const float* in, int64_t channels, int64_t plane, int64_t first, int64_t last, float* out) {
  HWY_DYNAMIC_DISPATCH(out_of_blocks)(in, channels, plane, first, last, out);
}

}  // namespace anyshape::simd
#endif
