#include <algorithm>

#include "run/cpu/simd/blocked_parts.h"
#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/blocked_depthwise.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {
namespace {

// A row of the output of one block of channels; steps in floats.
struct Line {
  int64_t kernel_rows, kernel_width;    // of the kernel that are inside the input
  int64_t row_step, cell_step, x_step;  // in the input: to the next row and cell of the kernel, to the next place
  const float* in;                      // where the window of place 0 begins, at the first row inside; may be outside
  const float* weights;                 // those of the first row inside
  const float* residual;
  float* out;
  V bias, low, high;
};

// Keeps the compiler from loading a vector anew for each of its uses.
#undef ANYSHAPE_LOADED
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
#define ANYSHAPE_LOADED(v) asm("" : "+v"((v).raw))
#else
#define ANYSHAPE_LOADED(v)
#endif
// Keeps the compiler from making loops of their own for conditions that hold in all rounds.
#undef ANYSHAPE_CHANGES
#define ANYSHAPE_CHANGES(x) asm("" : "+r"(x))

template <int R>
HWY_INLINE void store_places(const Line& t, int64_t x, V (&sums)[R]) {
  const V bias = t.bias, low = t.low, high = t.high;
  const float* residual = t.residual ? t.residual + x * kLanes : nullptr;
  float* out = t.out + x * kLanes;
  ANYSHAPE_UNROLL
  for (int i = 0; i < R; ++i) sums[i] = hn::Add(sums[i], bias);
  if (residual) {
    ANYSHAPE_UNROLL
    for (int i = 0; i < R; ++i) sums[i] = hn::Add(sums[i], hn::LoadU(F(), residual + i * kLanes));
  }
  ANYSHAPE_UNROLL
  for (int i = 0; i < R; ++i) hn::StoreU(at_most(at_least(sums[i], low), high), F(), out + i * kLanes);
}

// One place of which only cells k0..k1 - 1 of each row are inside.
void sum_edge(const Line& t, int64_t x, int64_t k0, int64_t k1) {
  V sums[1] = {hn::Zero(F())};
  for (int64_t y = 0; y < t.kernel_rows; ++y) {
    const float* at = t.in + y * t.row_step + x * t.x_step;
    const float* weights = t.weights + y * t.kernel_width * kLanes;
    for (int64_t k = k0; k < k1; ++k)
      sums[0] = hn::MulAdd(hn::LoadU(F(), at + k * t.cell_step), hn::LoadU(F(), weights + k * kLanes), sums[0]);
  }
  store_places<1>(t, x, sums);
}

// R neighbouring places, all of whose cells are inside.
template <int R>
HWY_NOINLINE void sum_inner(const Line& t, int64_t x) {
  V sums[R];
  ANYSHAPE_UNROLL
  for (int i = 0; i < R; ++i) sums[i] = hn::Zero(F());
  const float* weights = t.weights;
  for (int64_t y = 0; y < t.kernel_rows; ++y) {
    const float* at = t.in + y * t.row_step + x * t.x_step;
    for (int64_t k = 0; k < t.kernel_width; ++k, at += t.cell_step, weights += kLanes) {
      const V w = hn::LoadU(F(), weights);
      ANYSHAPE_UNROLL
      for (int i = 0; i < R; ++i) sums[i] = hn::MulAdd(hn::LoadU(F(), at + i * t.x_step), w, sums[i]);
    }
  }
  store_places<R>(t, x, sums);
}

// The same for kernels K wide of dilation 1 and stride S, each input loaded once. Of the inputs that the R windows see
// only those from `begin` to `end` - 1 are there; each window has some of them.
template <int K, int S, int R>
HWY_NOINLINE void sum_once(const Line& t, int64_t x, int64_t begin, int64_t end) {
  constexpr int kInputs = (R - 1) * S + K;
  V sums[R];
  ANYSHAPE_UNROLL
  for (int i = 0; i < R; ++i) sums[i] = hn::Zero(F());
  const float* at = t.in + x * S * kLanes;
  const float* weights = t.weights;
  for (int64_t y = 0; y < t.kernel_rows; ++y, at += t.row_step, weights += K * kLanes) {
    ANYSHAPE_CHANGES(begin);
    ANYSHAPE_CHANGES(end);
    V w[K];
    ANYSHAPE_UNROLL
    for (int k = 0; k < K; ++k) w[k] = hn::LoadU(F(), weights + k * kLanes);
    ANYSHAPE_UNROLL
    for (int j = 0; j < kInputs; ++j) {
      if ((j < K - 1 && j < begin) || (j > kInputs - K && j >= end)) continue;
      V value = hn::LoadU(F(), at + j * kLanes);
      ANYSHAPE_LOADED(value);
      ANYSHAPE_UNROLL
      for (int k = 0; k < K; ++k)
        if ((j - k) % S == 0 && j >= k && (j - k) / S < R)
          sums[(j - k) / S] = hn::MulAdd(value, w[k], sums[(j - k) / S]);
    }
  }
  store_places<R>(t, x, sums);
}

template <int K, int S, int R>
void sum_line_once(const BlockedConv& c, const Line& t, int64_t x) {
  for (; x + R <= c.out_width; x += R) {
    const int64_t begin = c.pad_left - x * S;
    sum_once<K, S, R>(t, x, begin, begin + c.in_width);
  }
  if constexpr (R > 1) sum_line_once<K, S, R / 2>(c, t, x);
}

using SumLine = void (*)(const BlockedConv&, const Line&, int64_t);

// For widths and strides of kernels that are frequent, where each window has some of the input; null: none.
SumLine line_once(const BlockedConv& c) {
  const bool all_inside = c.pad_left < c.kernel_width && (c.out_width - 1) * c.stride_x < c.in_width + c.pad_left;
  if (c.dilation_x != 1 || !all_inside || c.stride_x > 2) return nullptr;
  if (c.kernel_width == 3) return c.stride_x == 1 ? sum_line_once<3, 1, 8> : sum_line_once<3, 2, 6>;
  if (c.kernel_width == 5) return c.stride_x == 1 ? sum_line_once<5, 1, 8> : sum_line_once<5, 2, 6>;
  return nullptr;
}

// Cells of a window that begins at `start` which lie within 0..size - 1.
struct Inside {
  int64_t first, last;
  HWY_INLINE Inside(int64_t start, int64_t dilation, int64_t kernel, int64_t size) {
    first = start >= 0 ? 0 : std::min(kernel, (-start + dilation - 1) / dilation);
    last = start >= size ? first : std::max(first, std::min(kernel, (size - start + dilation - 1) / dilation));
  }
};

void sum_line(const BlockedConv& c, const Line& t, int64_t) {
  const int64_t reach = (c.kernel_width - 1) * c.dilation_x, room = c.in_width + c.pad_left - reach;
  const int64_t begin = std::min(c.out_width, (c.pad_left + c.stride_x - 1) / c.stride_x);
  const int64_t end = room <= 0 ? begin : std::clamp((room + c.stride_x - 1) / c.stride_x, begin, c.out_width);
  const auto edge = [&](int64_t x) {
    const Inside k(x * c.stride_x - c.pad_left, c.dilation_x, c.kernel_width, c.in_width);
    sum_edge(t, x, k.first, k.last);
  };
  int64_t x = 0;
  for (; x < begin; ++x) edge(x);
  for (; x + 6 <= end; x += 6) sum_inner<6>(t, x);
  for (; x < end; ++x) sum_inner<1>(t, x);
  for (; x < c.out_width; ++x) edge(x);
}

// Rows y0..y1 - 1 of plane `plane`, which is image * blocks + block.
void sum_rows(const BlockedConv& c, const Limits& limits, int64_t plane, int64_t y0, int64_t y1) {
  const int64_t blocks = (c.groups + kLanes - 1) / kLanes, block = plane % blocks;
  const float* weights = c.weights + block * c.kernel_height * c.kernel_width * kLanes;
  const float* in = c.in + plane * c.in_height * c.in_width * kLanes;
  Line t;
  t.kernel_width = c.kernel_width;
  t.row_step = c.dilation_y * c.in_width * kLanes;
  t.cell_step = c.dilation_x * kLanes;
  t.x_step = c.stride_x * kLanes;
  const SumLine sum_once = line_once(c), sum = sum_once ? sum_once : sum_line;
  t.bias = c.bias ? load_n(c.bias + block * kLanes, c.groups - block * kLanes) : hn::Zero(F());
  t.low = splat(limits.low), t.high = splat(limits.high);
  for (int64_t y = y0; y < y1; ++y) {
    const int64_t start = y * c.stride_y - c.pad_top, at = (plane * c.out_height + y) * c.out_width * kLanes;
    const Inside k(start, c.dilation_y, c.kernel_height, c.in_height);
    t.kernel_rows = k.last - k.first;
    t.in = in + ((start + k.first * c.dilation_y) * c.in_width - c.pad_left) * kLanes;
    t.weights = weights + k.first * c.kernel_width * kLanes;
    t.out = c.out + at;
    t.residual = c.residual ? c.residual + at : nullptr;
    sum(c, t, 0);
  }
  if (limits.complete) return;
  const int64_t row = c.out_width * kLanes;
  activate(c.activation, c.out + (plane * c.out_height + y0) * row, 1, (y1 - y0) * row, (y1 - y0) * row);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {
namespace {

HWY_EXPORT(sum_rows);

constexpr int64_t kItemWork = 4096;  // vectors of products of an item at least, where there are so many

int64_t planes_of(const BlockedConv& c) { return c.batch * ceil_of(c.groups, block_lanes()); }

int64_t rows_of(const BlockedConv& c) {
  const int64_t work = std::max<int64_t>(c.out_width * c.kernel_height * c.kernel_width, 1);
  return std::clamp<int64_t>(ceil_of(kItemWork, work), 1, std::max<int64_t>(c.out_height, 1));
}

}  // namespace

int64_t depthwise_packed_size(const BlockedConv& c) {
  return ceil_of(c.groups, block_lanes()) * block_lanes() * c.kernel_height * c.kernel_width;
}

// [block][ky][kx][channel of the block]
void depthwise_pack(const BlockedConv& c, const std::byte* from, float* to) {
  const int64_t lanes = block_lanes(), area = c.kernel_height * c.kernel_width;
  for (int64_t block = 0; block < c.groups; block += lanes)
    for (int64_t cell = 0; cell < area; ++cell)
      for (int64_t i = block; i < block + lanes; ++i) *to++ = i < c.groups ? read_float(from, i * area + cell) : 0.0f;
}

int64_t depthwise_items(const BlockedConv& c) { return planes_of(c) * ceil_of(c.out_height, rows_of(c)); }

void depthwise_run(const BlockedConv& c, int64_t first, int64_t last) {
  const int64_t rows = rows_of(c), bands = ceil_of(c.out_height, rows);
  const Limits limits = limits_of(c.activation);
  for (int64_t i = first; i < last; ++i) {
    const int64_t y0 = i % bands * rows;
    HWY_DYNAMIC_DISPATCH(sum_rows)(c, limits, i / bands, y0, std::min(c.out_height, y0 + rows));
  }
}

}  // namespace anyshape::simd
#endif
