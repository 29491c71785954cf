// The innermost loops of the matrix product. Included once per instruction set.
#if defined(ANYSHAPE_KERNELS_GEMM_MICRO_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ANYSHAPE_KERNELS_GEMM_MICRO_INL_H_
#undef ANYSHAPE_KERNELS_GEMM_MICRO_INL_H_
#else
#define ANYSHAPE_KERNELS_GEMM_MICRO_INL_H_
#endif

#include <limits>

#include "run/cpu/simd/gemm.h"
#include "run/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

inline constexpr int64_t kPanel = 2 * kLanes;
// Sums stay in registers beside a vector of A and those of B. Blocks of one panel have so many rows at most, those of
// two panels so many: the former read B less often, the latter A.
inline constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON;
inline constexpr int kMaxRows = kManyRegisters ? 12 : 6;
inline constexpr int kWideRows = kManyRegisters ? 6 : 2;

// One block of the output of at most kMaxRows rows and a few panels.
struct Block {
  int64_t k = 0;
  const float* a = nullptr;  // entry (r, k) at [k * a_step + r] of a packed or transposed A, otherwise [r * a_step + k]
  int64_t a_step = 0;
  const float* b = nullptr;
  int64_t b_step = 0;   // from one k to the next
  int64_t b_panel = 0;  // from one panel to the next
  float* c = nullptr;
  int64_t c_row = 0;
  int64_t columns = 0;    // of C
  Addend bias, residual;  // entry (0, 0) is that of the block
  bool limited = false;   // to low and high
  float low = 0, high = 0;
  bool simple = false;                // all columns are there, and what is added is in these three, if not null:
  const float* per_row = nullptr;     // entry r
  const float* per_column = nullptr;  // entry j
  const float* per_entry = nullptr;   // entry r * residual.row + j
};

// So many products are added in a row before their sum joins that of the ones before: rounding errors then grow with
// the length of a run and the number of runs, not with k.
inline constexpr int64_t kRun = 128;

HWY_INLINE V with_addend(V x, const Addend& add, int64_t r, int64_t j, int64_t n) {
  if (!add.data) return x;
  const float* at = add.data + r * add.row + j * add.column;
  return hn::MulAdd(add.column ? load_n(at, n) : splat(*at), splat(add.scale), x);
}

// The sums of rows x vectors (kLanes floats each) into C, whatever the epilogue.
HWY_NOINLINE inline void finish(const Block& t, const float* sums, int rows, int vectors) {
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < vectors; ++v) {
      const int64_t j = v * kLanes, n = t.columns - j;
      if (n <= 0) break;
      V x = hn::Load(F(), sums + (r * vectors + v) * kLanes);
      x = with_addend(x, t.bias, r, j, n);
      x = with_addend(x, t.residual, r, j, n);
      if (t.limited) x = at_most(at_least(x, splat(t.low)), splat(t.high));
      store_n(x, t.c + r * t.c_row + j, n);
    }
  }
}

// Keeps the compiler from working out every address ahead of the loop, which takes more registers than there are.
#define ANYSHAPE_OPAQUE(x) asm("" : "+r"(x))

// Where the rows of A are: three rows to a pointer, as one index register then reaches them all.
template <int R, bool kColumnA>
struct RowPointers {
  static constexpr int kGroups = kColumnA ? 1 : (R + 2) / 3;
  const float* at[kGroups];
  int64_t step;

  HWY_INLINE RowPointers(const float* a, int64_t a_step) : step(a_step) {
    ANYSHAPE_UNROLL
    for (int i = 0; i < kGroups; ++i) at[i] = a + 3 * i * a_step;
  }
  HWY_INLINE void hide() {
    ANYSHAPE_UNROLL
    for (int i = 0; i < kGroups; ++i) ANYSHAPE_OPAQUE(at[i]);
    ANYSHAPE_OPAQUE(step);
  }
  // Row r, `ahead` steps of k from here.
  HWY_INLINE float get(int r, int ahead) const { return kColumnA ? at[0][r] : at[r / 3][r % 3 * step + ahead]; }
  HWY_INLINE void advance(int steps) {
    ANYSHAPE_UNROLL
    for (int i = 0; i < kGroups; ++i) at[i] += kColumnA ? step : steps;
  }
};

template <int R, int W, int S, class Rows>
HWY_INLINE void step(const Rows& a, int ahead, const float* b, int64_t b_panel, V (&acc)[R][W]) {
  V values[W];
  ANYSHAPE_UNROLL
  for (int v = 0; v < W; ++v) values[v] = hn::LoadU(F(), b + v / S * b_panel + v % S * kLanes);
  ANYSHAPE_UNROLL
  for (int r = 0; r < R; ++r) {
    const V x = splat(a.get(r, ahead));
    ANYSHAPE_UNROLL
    for (int v = 0; v < W; ++v) acc[r][v] = hn::MulAdd(x, values[v], acc[r][v]);
  }
}

// Adds `count` products to each sum. Every entry is summed in order of k, whichever panel it is in: equal columns give
// equal sums.
template <int R, int W, int S, bool kColumnA>
HWY_INLINE void add_products(RowPointers<R, kColumnA>& a, const float*& b, int64_t b_step, int64_t b_panel,
                             int64_t count, V (&acc)[R][W]) {
  int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    a.hide();
    ANYSHAPE_UNROLL
    for (int u = 0; u < 4; ++u) {
      ANYSHAPE_OPAQUE(b);
      step<R, W, S>(a, kColumnA ? 0 : u, b, b_panel, acc);
      b += b_step;
      if (kColumnA) a.advance(1);
    }
    if (!kColumnA) a.advance(4);
  }
  for (; k < count; ++k, b += b_step) {
    a.hide();
    step<R, W, S>(a, 0, b, b_panel, acc);
    a.advance(1);
  }
}

// fn(sum, r, v) becomes the sum of row r and vector v.
template <int R, int W, class Fn>
HWY_INLINE void each_sum(V (&acc)[R][W], Fn fn) {
  ANYSHAPE_UNROLL
  for (int r = 0; r < R; ++r) ANYSHAPE_UNROLL
  for (int v = 0; v < W; ++v) acc[r][v] = fn(acc[r][v], r, v);
}

template <int R, int W>
HWY_INLINE void finish_simple(const Block& t, V (&acc)[R][W]) {
  if (t.per_column)
    each_sum(acc, [&](V x, int, int v) HWY_ATTR { return hn::Add(x, hn::LoadU(F(), t.per_column + v * kLanes)); });
  if (t.per_row) each_sum(acc, [&](V x, int r, int) HWY_ATTR { return hn::Add(x, splat(t.per_row[r])); });
  if (t.per_entry)
    each_sum(acc, [&](V x, int r, int v)
                      HWY_ATTR { return hn::Add(x, hn::LoadU(F(), t.per_entry + r * t.residual.row + v * kLanes)); });
  if (t.limited) {
    const V low = splat(t.low), high = splat(t.high);
    each_sum(acc, [&](V x, int, int) HWY_ATTR { return at_most(at_least(x, low), high); });
  }
  ANYSHAPE_UNROLL
  for (int r = 0; r < R; ++r) ANYSHAPE_UNROLL
  for (int v = 0; v < W; ++v) hn::StoreU(acc[r][v], F(), t.c + r * t.c_row + v * kLanes);
}

// R rows, P panels of S vectors each.
template <int R, int P, int S, bool kColumnA>
HWY_NOINLINE void multiply(const Block& t) {
  constexpr int W = P * S;
  HWY_ALIGN float memory[R * W * kLanes];
  float* sums = memory;
  ANYSHAPE_OPAQUE(sums);
  const auto keep = [&](V x, int r, int v) HWY_ATTR {
    hn::Store(x, F(), sums + (r * W + v) * kLanes);
    return x;
  };
  V acc[R][W];
  RowPointers<R, kColumnA> a(t.a, t.a_step);
  const float* b = t.b;
  const int64_t b_step = t.b_step, b_panel = t.b_panel;
  for (int64_t left = t.k;; left -= kRun) {
    each_sum(acc, [](V, int, int) HWY_ATTR { return hn::Zero(F()); });
    add_products<R, W, S, kColumnA>(a, b, b_step, b_panel, left < kRun ? left : kRun, acc);
    if (left != t.k)
      each_sum(acc, [&](V x, int r, int v) HWY_ATTR { return hn::Add(x, hn::Load(F(), sums + (r * W + v) * kLanes)); });
    if (left <= kRun) break;
    each_sum(acc, keep);
  }
  if (t.simple) return finish_simple(t, acc);
  each_sum(acc, keep);
  finish(t, sums, R, W);
}

template <bool kColumnA, int R = kMaxRows>
HWY_INLINE void multiply_rows(const Block& t, int rows, int panels) {
  if constexpr (R >= 1) {
    if (rows != R) return multiply_rows<kColumnA, R - 1>(t, rows, panels);
    if (panels == 4) {
      if constexpr (R == 1) return multiply<R, 4, 2, kColumnA>(t);
    }
    if (panels == 2) {
      if constexpr (R <= kWideRows) return multiply<R, 2, 2, kColumnA>(t);
    }
    if (t.columns <= kLanes) return multiply<R, 1, 1, kColumnA>(t);
    multiply<R, 1, 2, kColumnA>(t);
  }
}

// How many panels one call takes when that many are left.
HWY_INLINE int panels_at_once(int rows, int64_t left) {
  if (rows == 1 && left >= 4) return 4;
  return rows <= kWideRows && left >= 2 ? 2 : 1;
}

// to[c * to_row + r] = from[r * from_row + c]
inline void transpose(const float* from, int64_t from_row, int64_t rows, int64_t columns, float* to, int64_t to_row) {
  int64_t r = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<float, 4> d;
  const hn::FixedTag<double, 2> d2;
  for (; r + 4 <= rows; r += 4) {
    const float* at = from + r * from_row;
    int64_t c = 0;
    for (; c + 4 <= columns; c += 4) {
      const auto a = hn::LoadU(d, at + c), b = hn::LoadU(d, at + from_row + c);
      const auto e = hn::LoadU(d, at + 2 * from_row + c), f = hn::LoadU(d, at + 3 * from_row + c);
      const auto ab = hn::BitCast(d2, hn::InterleaveLower(d, a, b)), ef = hn::BitCast(d2, hn::InterleaveLower(d, e, f));
      const auto AB = hn::BitCast(d2, hn::InterleaveUpper(d, a, b)), EF = hn::BitCast(d2, hn::InterleaveUpper(d, e, f));
      float* out = to + c * to_row + r;
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, ab, ef)), d, out);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, ab, ef)), d, out + to_row);
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, AB, EF)), d, out + 2 * to_row);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, AB, EF)), d, out + 3 * to_row);
    }
    for (; c < columns; ++c)
      for (int64_t i = 0; i < 4; ++i) to[c * to_row + r + i] = at[i * from_row + c];
  }
#endif
  for (; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) to[c * to_row + r] = from[r * from_row + c];
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#endif
