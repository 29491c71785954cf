#include "run/cpu/simd/attention_f32.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/attention_f32.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/simd-inl.h"

#ifndef ANYSHAPE_ATTENTION_ONCE
#define ANYSHAPE_ATTENTION_ONCE
namespace anyshape::simd {

inline constexpr int64_t kMostRows = 6;
inline constexpr int64_t kRun = 128;    // products that are summed before they are added to others
inline constexpr int64_t kWidest = 16;  // lanes of the widest vectors

inline int64_t whole_vectors(int64_t n) { return (n + kWidest - 1) / kWidest * kWidest; }

// Values are read where they are when they are dense, in whole vectors. Rows far apart would fall on each other in the
// cache, once for each block of queries.
inline bool packs_values(const AttentionSpec& spec, const AttentionHead& head) {
  return head.v_column != 1 || head.v_row != spec.values || spec.values % kWidest != 0;
}

// Keys [size][keys rounded up], values [keys][values rounded up], scores [kMostRows][keys rounded up].
struct AttentionScratch {
  int64_t keys, values, scores;
};
inline AttentionScratch scratch_of(const AttentionSpec& spec, const AttentionHead& head) {
  const int64_t padded = whole_vectors(spec.keys);
  return {spec.size * padded, packs_values(spec, head) ? spec.keys * whole_vectors(spec.values) : 0,
          kMostRows * padded};
}

}  // namespace anyshape::simd
#endif

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

// out[r][c] = factor * sum over i < n of a[r][i] * b[i][c], for R rows and W vectors of columns; `more`: added to out.
template <int R, int W>
HWY_INLINE void tile(const float* a, int64_t a_row, int64_t a_column, const float* b, int64_t b_row, int64_t n,
                     float factor, bool more, float* out, int64_t out_row, int64_t columns) {
  V sum[R][W];
  ANYSHAPE_UNROLL
  for (int r = 0; r < R; ++r) {
    ANYSHAPE_UNROLL
    for (int w = 0; w < W; ++w) sum[r][w] = hn::Zero(F());
  }
  for (int64_t i = 0; i < n; ++i, b += b_row, a += a_column) {
    V line[W];
    ANYSHAPE_UNROLL
    for (int w = 0; w < W; ++w) line[w] = hn::LoadU(F(), b + w * kLanes);
    ANYSHAPE_UNROLL
    for (int r = 0; r < R; ++r) {
      const V x = splat(a[r * a_row]);
      ANYSHAPE_UNROLL
      for (int w = 0; w < W; ++w) sum[r][w] = hn::MulAdd(x, line[w], sum[r][w]);
    }
  }
  ANYSHAPE_UNROLL
  for (int r = 0; r < R; ++r) {
    ANYSHAPE_UNROLL
    for (int w = 0; w < W; ++w) {
      const int64_t left = columns - w * kLanes;
      if (left <= 0) continue;
      float* to = out + r * out_row + w * kLanes;
      const V y = hn::Mul(sum[r][w], splat(factor));
      store_n(more ? hn::Add(load_n(to, left), y) : y, to, left);
    }
  }
}

#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM
constexpr int kWide = 4;
#else
constexpr int kWide = 2;  // 16 registers
#endif

// b has whole vectors of columns.
template <int R>
void product(const float* a, int64_t a_row, int64_t a_column, const float* b, int64_t b_row, int64_t n, float factor,
             float* out, int64_t out_row, int64_t columns) {
  int64_t i = 0;
  do {
    const int64_t run = std::min(n - i, kRun);
    const float *from = a + i * a_column, *with = b + i * b_row;
    int64_t c = 0;
    for (; c + (kWide - 1) * kLanes < columns; c += kWide * kLanes)
      tile<R, kWide>(from, a_row, a_column, with + c, b_row, run, factor, i > 0, out + c, out_row, columns - c);
    for (; c < columns; c += kLanes)
      tile<R, 1>(from, a_row, a_column, with + c, b_row, run, factor, i > 0, out + c, out_row, columns - c);
    i += kRun;
  } while (i < n);
}

struct Operand2 {
  const float* a;
  int64_t a_row, a_column;
  const float* b;
  int64_t b_row, n;
};

void rows_product(int64_t rows, const Operand2& x, float factor, float* out, int64_t out_row, int64_t columns) {
  const auto run = [&](auto count) HWY_ATTR {
    product<decltype(count)::value>(x.a, x.a_row, x.a_column, x.b, x.b_row, x.n, factor, out, out_row, columns);
  };
  switch (rows) {
    case 1:
      return run(std::integral_constant<int, 1>());
    case 2:
      return run(std::integral_constant<int, 2>());
    case 3:
      return run(std::integral_constant<int, 3>());
    case 4:
      return run(std::integral_constant<int, 4>());
    case 5:
      return run(std::integral_constant<int, 5>());
    default:
      return run(std::integral_constant<int, kMostRows>());
  }
}

// The n entries of v, `rest` in the other lanes.
HWY_INLINE V only(V v, int64_t n, V rest) {
  return n >= kLanes ? v : hn::IfThenElse(hn::FirstN(F(), static_cast<size_t>(n)), v, rest);
}

HWY_INLINE V load_mask(const float* mask, int64_t step, int64_t n) {
  if (step == 1) return load_n(mask, n);
  if (step == 0) return splat(*mask);
  HWY_ALIGN float lanes[kLanes] = {};
  for (int64_t i = 0; i < std::min(n, kLanes); ++i) lanes[i] = mask[i * step];
  return hn::Load(F(), lanes);
}

HWY_INLINE hn::Mask<F> load_where(const uint8_t* where, int64_t step, int64_t n, bool keep) {
  const hn::Rebind<uint8_t, F> bytes;
  const hn::Rebind<uint32_t, F> words;
  uint8_t some[kLanes] = {};
  if (step != 1 || n < kLanes) {
    for (int64_t i = 0; i < std::min(n, kLanes); ++i) some[i] = where[i * step];
    where = some;
  }
  const auto is_false = hn::Eq(hn::PromoteTo(words, hn::LoadU(bytes, where)), hn::Zero(words));
  return hn::RebindMask(F(), keep ? hn::Not(is_false) : is_false);
}

HWY_INLINE V masked(const AttentionSpec& spec, const AttentionHead& h, int64_t row, int64_t i, V x, int64_t n) {
  const auto chosen = [&](V score) HWY_ATTR {
    if (!h.where) return score;
    const uint8_t* where = h.where + row * h.where_row + i * h.where_column;
    return hn::IfThenElse(load_where(where, h.where_column, n, spec.keep), score, splat(spec.fill));
  };
  if (spec.where_first) x = chosen(x);
  if (h.mask) x = hn::Add(x, load_mask(h.mask + row * h.mask_row + i * h.mask_column, h.mask_column, n));
  return spec.where_first ? x : chosen(x);
}

// Masks the scores of a row. Their greatest in each lane.
HWY_INLINE V greatest(const AttentionSpec& spec, const AttentionHead& h, int64_t row, float* scores) {
  const V low = splat(-std::numeric_limits<float>::infinity());
  const bool plain = !h.mask && !h.where;
  V top = low;
  for (int64_t i = 0; i < spec.keys; i += kLanes) {
    V x = hn::LoadU(F(), scores + i);
    if (!plain) hn::StoreU(x = masked(spec, h, row, i, x, spec.keys - i), F(), scores + i);
    top = hn::Max(top, only(x, spec.keys - i, low));
  }
  return top;
}

// Scores become exponentials. Their sum in each lane.
HWY_INLINE V exponentials(int64_t keys, V top, float* scores) {
  V sum = hn::Zero(F());
  for (int64_t i = 0; i < keys; i += kLanes) {
    const V e = exp_below_zero(hn::Sub(hn::LoadU(F(), scores + i), top));
    sum = hn::Add(sum, only(e, keys - i, hn::Zero(F())));
    hn::StoreU(e, F(), scores + i);
  }
  return sum;
}

// The scores of some rows become weights, each pass over all rows before the next, as each ends in a chain of its own.
// A NaN makes the sum NaN by its own term, whatever the largest score is found to be. They are divided by their sum
// before values are multiplied: sums of large values overflow otherwise.
void weigh(const AttentionSpec& spec, const AttentionHead& h, int64_t row, int64_t rows, float* scores,
           int64_t padded) {
  const int64_t keys = spec.keys;
  V of_row[kMostRows];
  for (int64_t r = 0; r < rows; ++r) of_row[r] = hn::MaxOfLanes(F(), greatest(spec, h, row + r, scores + r * padded));
  for (int64_t r = 0; r < rows; ++r) of_row[r] = exponentials(keys, of_row[r], scores + r * padded);
  for (int64_t r = 0; r < rows; ++r) {
    float* at = scores + r * padded;
    const float sum = hn::GetLane(hn::SumOfLanes(F(), of_row[r]));
    if (spec.nan_to_zero && std::isnan(sum)) {
      std::fill_n(at, keys, 0.0f);
      continue;
    }
    const V by = splat(1 / sum);
    for (int64_t i = 0; i < keys; i += kLanes) hn::StoreU(hn::Mul(hn::LoadU(F(), at + i), by), F(), at + i);
  }
}

void run_rows(const AttentionSpec& spec, const AttentionHead& h, int64_t first, int64_t last, float* scratch) {
  const AttentionScratch part = scratch_of(spec, h);
  const int64_t padded = whole_vectors(spec.keys);
  float* scores = scratch + part.keys + part.values;
  const bool packed = part.values != 0;
  const float* v = packed ? scratch + part.keys : h.v;
  const int64_t v_row = packed ? whole_vectors(spec.values) : h.v_row;
  for (int64_t i = first; i < last; i += kMostRows) {
    const int64_t rows = std::min(kMostRows, last - i);
    rows_product(rows, {h.q + i * h.q_row, h.q_row, h.q_column, scratch, padded, spec.size}, spec.scale, scores, padded,
                 padded);
    weigh(spec, h, i, rows, scores, padded);
    rows_product(rows, {scores, padded, 1, v, v_row, spec.keys}, 1, h.out + i * h.out_row, h.out_row, spec.values);
  }
}

#if HWY_TARGET != HWY_SCALAR
// Four rows of four entries, `step` apart, become columns.
HWY_INLINE void turn_4x4(const float* from, int64_t step, float* to, int64_t to_step) {
  const hn::CappedTag<float, 4> d;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + step);
  const auto r2 = hn::LoadU(d, from + 2 * step), r3 = hn::LoadU(d, from + 3 * step);
  const auto a = hn::InterleaveLower(d, r0, r1), b = hn::InterleaveUpper(d, r0, r1);
  const auto e = hn::InterleaveLower(d, r2, r3), f = hn::InterleaveUpper(d, r2, r3);
  hn::StoreU(hn::ConcatLowerLower(d, e, a), d, to);
  hn::StoreU(hn::ConcatUpperUpper(d, e, a), d, to + to_step);
  hn::StoreU(hn::ConcatLowerLower(d, f, b), d, to + 2 * to_step);
  hn::StoreU(hn::ConcatUpperUpper(d, f, b), d, to + 3 * to_step);
}
#endif

// to[i][j] = from[i * row + j * column], rows of `padded` floats with zeros at the end.
void lay_out(const float* from, int64_t row, int64_t column, int64_t rows, int64_t columns, int64_t padded, float* to) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; row == 1 && i + 4 <= rows; i += 4) {
    int64_t j = 0;
    for (; j + 4 <= columns; j += 4) turn_4x4(from + i + j * column, column, to + i * padded + j, padded);
    for (; j < columns; ++j)
      for (int64_t k = 0; k < 4; ++k) to[(i + k) * padded + j] = from[i + k + j * column];
  }
#endif
  for (; column == 1 && i < rows; ++i) std::copy_n(from + i * row, columns, to + i * padded);
  for (; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) to[i * padded + j] = from[i * row + j * column];
  for (i = 0; i < rows; ++i) std::fill(to + i * padded + columns, to + (i + 1) * padded, 0.0f);
}

void pack(const AttentionSpec& spec, const AttentionHead& h, float* scratch) {
  lay_out(h.k, h.k_row, h.k_column, spec.size, spec.keys, whole_vectors(spec.keys), scratch);
  if (packs_values(spec, h))
    lay_out(h.v, h.v_row, h.v_column, spec.keys, spec.values, whole_vectors(spec.values),
            scratch + scratch_of(spec, h).keys);
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(pack);
HWY_EXPORT(run_rows);

int64_t attention_scratch(const AttentionSpec& spec, const AttentionHead& strides) {
  const AttentionScratch part = scratch_of(spec, strides);
  return part.keys + part.values + part.scores;
}

void attention_pack(const AttentionSpec& spec, const AttentionHead& head, float* scratch) {
  HWY_DYNAMIC_DISPATCH(pack)(spec, head, scratch);
}

void attention_rows(const AttentionSpec& spec, const AttentionHead& head, int64_t first, int64_t last, float* scratch) {
  HWY_DYNAMIC_DISPATCH(run_rows)(spec, head, first, last, scratch);
}

}  // namespace anyshape::simd
#endif
