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
// Two vectors per row stay in registers, beside two of B and one of A.
inline constexpr int kMaxRows = HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON ? 12 : 6;

inline constexpr float kZeros[4 * kPanel] = {};

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
  int64_t columns = 0;             // of C
  Addend bias, residual;           // entry (0, 0) is that of the block
  bool first = true;               // what is in C does not count
  float low = 0, high = 0;         // the result is limited to these
  const float* row = nullptr;      // bias per row; null: `columns`, bias or residual need more than plain full stores
  const float* column = nullptr;   // bias per column
  const float* earlier = nullptr;  // sums of the k before, rows of `panels` whole panels; null: there are none
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
      float* at = t.c + r * t.c_row + j;
      if (t.first) {
        x = with_addend(x, t.bias, r, j, n);
        x = with_addend(x, t.residual, r, j, n);
      } else {
        x = hn::Add(x, load_n(at, n));
      }
      store_n(at_most(at_least(x, splat(t.low)), splat(t.high)), at, n);
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

// R rows, P panels of S vectors each. Every entry is summed in order of k, whichever panel it is in: equal columns give
// equal sums.
template <int R, int P, int S, bool kColumnA>
HWY_NOINLINE void multiply(const Block& t) {
  constexpr int W = P * S;
  V acc[R][W];
  ANYSHAPE_UNROLL
  for (int r = 0; r < R; ++r) ANYSHAPE_UNROLL
  for (int v = 0; v < W; ++v) acc[r][v] = hn::Zero(F());
  RowPointers<R, kColumnA> a(t.a, t.a_step);
  const float* b = t.b;
  int64_t b_step = t.b_step, b_panel = t.b_panel;
  int64_t k = 0;
  for (; k + 4 <= t.k; k += 4) {
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
  for (; k < t.k; ++k, b += b_step) {
    a.hide();
    step<R, W, S>(a, 0, b, b_panel, acc);
    a.advance(1);
  }
  if (t.earlier) {
    ANYSHAPE_UNROLL
    for (int r = 0; r < R; ++r) ANYSHAPE_UNROLL
    for (int v = 0; v < W; ++v) acc[r][v] = hn::Add(acc[r][v], hn::Load(F(), t.earlier + r * P * kPanel + v * kLanes));
  }
  if (t.row) {
    const V low = splat(t.low), high = splat(t.high);
    ANYSHAPE_UNROLL
    for (int r = 0; r < R; ++r) {
      const V per_row = splat(t.row[r]);
      ANYSHAPE_UNROLL
      for (int v = 0; v < W; ++v) {
        const V x = hn::Add(acc[r][v], hn::Add(per_row, hn::LoadU(F(), t.column + v * kLanes)));
        hn::StoreU(at_most(at_least(x, low), high), F(), t.c + r * t.c_row + v * kLanes);
      }
    }
    return;
  }
  HWY_ALIGN float sums[R * W * kLanes];
  ANYSHAPE_UNROLL
  for (int r = 0; r < R; ++r) ANYSHAPE_UNROLL
  for (int v = 0; v < W; ++v) hn::Store(acc[r][v], F(), sums + (r * W + v) * kLanes);
  finish(t, sums, R, W);
}

template <bool kColumnA, int R = kMaxRows>
HWY_INLINE void multiply_run(const Block& t, int rows, int panels) {
  if constexpr (R >= 1) {
    if (rows != R) return multiply_run<kColumnA, R - 1>(t, rows, panels);
    if (panels == 4) {
      if constexpr (R == 1) return multiply<R, 4, 2, kColumnA>(t);
    }
    if (panels == 2) {
      if constexpr (R <= 3 && (R < 3 || kMaxRows > 6)) return multiply<R, 2, 2, kColumnA>(t);
    }
    if (t.columns <= kLanes) return multiply<R, 1, 1, kColumnA>(t);
    multiply<R, 1, 2, kColumnA>(t);
  }
}

template <bool kColumnA>
HWY_NOINLINE void multiply_runs(const Block& t, int rows, int panels) {
  HWY_ALIGN float sums[kMaxRows * kPanel];
  Block part = t;
  part.k = kRun;
  part.c = sums;
  part.c_row = panels * kPanel;
  part.low = -std::numeric_limits<float>::infinity();
  part.high = -part.low;
  part.row = part.column = kZeros;
  int64_t left = t.k;
  for (; left > kRun; left -= kRun) {
    multiply_run<kColumnA>(part, rows, panels);
    part.earlier = sums;
    part.a += kColumnA ? kRun * t.a_step : kRun;
    part.b += kRun * t.b_step;
  }
  Block last = t;
  last.k = left;
  last.a = part.a;
  last.b = part.b;
  last.earlier = sums;
  multiply_run<kColumnA>(last, rows, panels);
}

template <bool kColumnA>
HWY_INLINE void multiply_rows(const Block& t, int rows, int panels) {
  if (t.k <= kRun)
    multiply_run<kColumnA>(t, rows, panels);
  else
    multiply_runs<kColumnA>(t, rows, panels);
}

// How many panels one call takes when that many are left.
HWY_INLINE int panels_at_once(int rows, int64_t left) {
  if (rows == 1 && left >= 4) return 4;
  return rows <= (kMaxRows > 6 ? 3 : 2) && left >= 2 ? 2 : 1;
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
