#include <algorithm>

#include "run/cpu/simd/blocked_parts.h"
#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/blocked_lines.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/simd-inl.h"

// Convolutions line by line, without a copy that has zeros around it: one channel in and one out per group, which reads
// blocks, and first layers, which read each channel as it came and work on one vector of filters at a time.
HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {
namespace {

constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON;

#undef ANYSHAPE_UNROLL_ALL
#ifdef __clang__
#define ANYSHAPE_UNROLL_ALL _Pragma("clang loop unroll(full)")
#else
#define ANYSHAPE_UNROLL_ALL _Pragma("GCC unroll 64")
#endif
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

// A row of the output of one block of channels. Steps are in floats, from one to the next.
struct Line {
  int64_t channels, channel_step, channel_weights;  // of the input that are summed
  int64_t kernel_rows, kernel_width;                // of the kernel that are inside the input
  int64_t row_step, cell_step, x_step;              // in the input
  int64_t weight_step;
  const float* in;       // where the window of place 0 begins, at the first row inside; may be outside
  const float* weights;  // those of the first row inside
  const float* residual;
  float* out;
  V bias, low, high;
};

// What the lanes of an output are sums of: entries of their own, or one entry for all.
enum class Reads : uint8_t { block, entry };

template <Reads kReads>
HWY_INLINE V value_at(const float* at) {
  if constexpr (kReads == Reads::block) return hn::LoadU(F(), at);
  return splat(*at);
}

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

// R neighbouring places of which cells k0..k1 - 1 of each row are inside.
template <Reads kReads, int R>
HWY_NOINLINE void sum_some(const Line& t, int64_t x, int64_t k0, int64_t k1) {
  V sums[R];
  ANYSHAPE_UNROLL
  for (int i = 0; i < R; ++i) sums[i] = hn::Zero(F());
  for (int64_t c = 0; c < t.channels; ++c)
    for (int64_t y = 0; y < t.kernel_rows; ++y) {
      const float* at = t.in + c * t.channel_step + y * t.row_step + x * t.x_step;
      const float* weights = t.weights + c * t.channel_weights + y * t.kernel_width * t.weight_step;
      for (int64_t k = k0; k < k1; ++k) {
        const V w = hn::LoadU(F(), weights + k * t.weight_step);
        ANYSHAPE_UNROLL
        for (int i = 0; i < R; ++i)
          sums[i] = hn::MulAdd(value_at<kReads>(at + k * t.cell_step + i * t.x_step), w, sums[i]);
      }
    }
  store_places<R>(t, x, sums);
}

// The same for kernels K wide of dilation 1 and stride S, each input loaded once. Of the inputs of a row that the R
// windows see only those from `begin` to `end` - 1 are there; each window has some of them.
template <Reads kReads, int K, int S, int R>
HWY_NOINLINE void sum_once(const Line& t, int64_t x, int64_t begin, int64_t end) {
  constexpr bool kBlock = kReads == Reads::block;
  constexpr int kInputs = (R - 1) * S + K, kUnit = kBlock ? kLanes : 1;
  const int64_t channels = kBlock ? 1 : t.channels, weight_step = kBlock ? kLanes : t.weight_step;
  V sums[R];
  ANYSHAPE_UNROLL
  for (int i = 0; i < R; ++i) sums[i] = hn::Zero(F());
  for (int64_t c = 0; c < channels; ++c) {
    const float* at = t.in + c * t.channel_step + x * S * kUnit;
    const float* weights = t.weights + c * t.channel_weights;
    for (int64_t y = 0; y < t.kernel_rows; ++y, at += t.row_step) {
      ANYSHAPE_CHANGES(begin);
      ANYSHAPE_CHANGES(end);
      V w[K];
      ANYSHAPE_UNROLL
      for (int k = 0; k < K; ++k, weights += weight_step) w[k] = hn::LoadU(F(), weights);
      ANYSHAPE_UNROLL_ALL
      for (int j = 0; j < kInputs; ++j) {
        if ((j < K - 1 && j < begin) || (j > kInputs - K && j >= end)) continue;
        V value = value_at<kReads>(at + j * kUnit);
        ANYSHAPE_LOADED(value);
        ANYSHAPE_UNROLL
        for (int k = 0; k < K; ++k)
          if ((j - k) % S == 0 && j >= k && (j - k) / S < R)
            sums[(j - k) / S] = hn::MulAdd(value, w[k], sums[(j - k) / S]);
      }
    }
  }
  store_places<R>(t, x, sums);
}

template <Reads kReads, int K, int S, int R>
void sum_line_once(const BlockedConv& c, const Line& t, int64_t x) {
  for (; x + R <= c.out_width; x += R) {
    const int64_t begin = c.pad_left - x * S;
    sum_once<kReads, K, S, R>(t, x, begin, begin + c.in_width);
  }
  if constexpr (R > 1) sum_line_once<kReads, K, S, R / 2>(c, t, x);
}

// Cells of a window that begins at `start` which lie within 0..size - 1.
struct Inside {
  int64_t first, last;
  HWY_INLINE Inside(int64_t start, int64_t dilation, int64_t kernel, int64_t size) {
    first = start >= 0 ? 0 : std::min(kernel, (-start + dilation - 1) / dilation);
    last = start >= size ? first : std::max(first, std::min(kernel, (size - start + dilation - 1) / dilation));
  }
};

template <Reads kReads>
void sum_line(const BlockedConv& c, const Line& t, int64_t x) {
  const int64_t reach = (c.kernel_width - 1) * c.dilation_x, room = c.in_width + c.pad_left - reach;
  const int64_t begin = std::min(c.out_width, (c.pad_left + c.stride_x - 1) / c.stride_x);
  const int64_t end = room <= 0 ? begin : std::clamp((room + c.stride_x - 1) / c.stride_x, begin, c.out_width);
  const auto edge = [&] {
    const Inside k(x * c.stride_x - c.pad_left, c.dilation_x, c.kernel_width, c.in_width);
    sum_some<kReads, 1>(t, x, k.first, k.last);
  };
  for (; x < begin; ++x) edge();
  for (; x + 6 <= end; x += 6) sum_some<kReads, 6>(t, x, 0, c.kernel_width);
  for (; x < c.out_width; ++x) edge();
}

using SumLine = void (*)(const BlockedConv&, const Line&, int64_t x);

template <Reads kReads, int K>
SumLine line_of_stride(int64_t stride) {
  constexpr int kPlaces = kReads == Reads::entry && kManyRegisters ? 12 : 8;
  if (stride == 1) return sum_line_once<kReads, K, 1, kPlaces>;
  return stride == 2 ? sum_line_once<kReads, K, 2, kPlaces> : sum_line<kReads>;
}

template <Reads kReads>
SumLine line_for(const BlockedConv& c) {
  const bool each_sees_some = c.pad_left < c.kernel_width && (c.out_width - 1) * c.stride_x < c.in_width + c.pad_left;
  if (c.dilation_x != 1 || !each_sees_some) return sum_line<kReads>;
  if (c.kernel_width == 3) return line_of_stride<kReads, 3>(c.stride_x);
  return c.kernel_width == 5 ? line_of_stride<kReads, 5>(c.stride_x) : sum_line<kReads>;
}

// The input and the weights of `t` begin where those of the plane do.
template <Reads kReads>
void sum_rows(const BlockedConv& c, const Limits& limits, Line& t, const PlaneRows& r) {
  constexpr int64_t kUnit = kReads == Reads::block ? kLanes : 1;
  const SumLine sum = line_for<kReads>(c);
  const float *in = t.in, *weights = t.weights;
  t.kernel_width = c.kernel_width;
  t.row_step = c.dilation_y * c.in_width * kUnit;
  t.cell_step = c.dilation_x * kUnit;
  t.x_step = c.stride_x * kUnit;
  t.low = splat(limits.low), t.high = splat(limits.high);
  for (int64_t y = r.y0; y < r.y1; ++y) {
    const int64_t start = y * c.stride_y - c.pad_top, at = (r.plane * c.out_height + y) * c.out_width * kLanes;
    const Inside k(start, c.dilation_y, c.kernel_height, c.in_height);
    t.kernel_rows = k.last - k.first;
    t.in = in + ((start + k.first * c.dilation_y) * c.in_width - c.pad_left) * kUnit;
    t.weights = weights + k.first * c.kernel_width * t.weight_step;
    t.out = c.out + at;
    t.residual = c.residual ? c.residual + at : nullptr;
    sum(c, t, 0);
  }
  if (limits.complete) return;
  const int64_t row = c.out_width * kLanes;
  activate(c.activation, c.out + (r.plane * c.out_height + r.y0) * row, 1, (r.y1 - r.y0) * row, (r.y1 - r.y0) * row);
}

V bias_of(const BlockedConv& c, int64_t block, int64_t channels) {
  return c.bias ? load_n(c.bias + block * kLanes, channels - block * kLanes) : hn::Zero(F());
}

void sum_depthwise(const BlockedConv& c, const Limits& limits, const PlaneRows& r) {
  const int64_t block = r.plane % ceil_of(c.groups, kLanes);
  Line t = {};
  t.channels = 1;
  t.weight_step = kLanes;
  t.in = c.in + r.plane * c.in_height * c.in_width * kLanes;
  t.weights = c.weights + block * c.kernel_height * c.kernel_width * kLanes;
  t.bias = bias_of(c, block, c.groups);
  sum_rows<Reads::block>(c, limits, t, r);
}

void sum_plain(const BlockedConv& c, const Limits& limits, const PlaneRows& r) {
  const Panels panels(c.out_channels);
  const int64_t block = r.plane % panels.blocks, panel = block / panels.width, first = panel * panels.width;
  const int64_t area = c.kernel_height * c.kernel_width;
  Line t = {};
  t.channels = c.in_channels;
  t.channel_step = c.in_height * c.in_width;
  t.weight_step = panels.vectors(panel) * kLanes;
  t.channel_weights = area * t.weight_step;
  t.in = c.in + r.plane / panels.blocks * c.in_channels * t.channel_step;
  t.weights = c.weights + (first * c.in_channels * area + block - first) * kLanes;
  t.bias = bias_of(c, block, c.out_channels);
  sum_rows<Reads::entry>(c, limits, t, r);
}

void sum_plane(const BlockedConv& c, const Limits& limits, const PlaneRows& r) {
  is_depthwise(c) ? sum_depthwise(c, limits, r) : sum_plain(c, limits, r);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {
namespace {

HWY_EXPORT(sum_plane);

// Vectors of products at least, where there are so many: of an item, and of a band of rows of all blocks.
constexpr int64_t kItemWork = 4096, kBandWork = 16384;
constexpr int64_t kMostProducts = 256;  // that are added in a row, of a first layer

int64_t blocks_of(const BlockedConv& c) { return ceil_of(c.groups * c.out_channels, block_lanes()); }

int64_t rows_of(const BlockedConv& c) {
  const int64_t row = std::max<int64_t>(c.out_width * c.in_channels * c.kernel_height * c.kernel_width, 1);
  const int64_t wanted = std::min(kItemWork, kBandWork / std::max<int64_t>(blocks_of(c), 1));
  return std::clamp<int64_t>(ceil_of(wanted, row), 1, std::max<int64_t>(c.out_height, 1));
}

}  // namespace

bool is_depthwise(const BlockedConv& c) { return c.groups > 1 && c.in_channels == 1 && c.out_channels == 1; }

bool goes_by_lines(const BlockedConv& c) {
  if (is_depthwise(c)) return true;
  const bool loads_once = c.dilation_x == 1 && c.stride_x <= 2 && (c.kernel_width == 3 || c.kernel_width == 5);
  return c.plain_input && loads_once && c.in_channels * c.kernel_height * c.kernel_width <= kMostProducts;
}

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

int64_t lines_items(const BlockedConv& c) { return c.batch * blocks_of(c) * ceil_of(c.out_height, rows_of(c)); }

// [image][band of rows][block]: neighbours see the same part of the image, as those of other ways do, so that a thread
// finds in its cache what it made before.
void lines_run(const BlockedConv& c, int64_t first, int64_t last) {
  const int64_t rows = rows_of(c), bands = ceil_of(c.out_height, rows), blocks = blocks_of(c);
  const Limits limits = limits_of(c.activation);
  for (int64_t i = first; i < last; ++i) {
    const int64_t y0 = i / blocks % bands * rows, plane = i / (blocks * bands) * blocks + i % blocks;
    HWY_DYNAMIC_DISPATCH(sum_plane)(c, limits, {plane, y0, std::min(c.out_height, y0 + rows)});
  }
}

}  // namespace anyshape::simd
#endif
