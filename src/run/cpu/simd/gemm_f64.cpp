#include "run/cpu/simd/gemm_f64.h"

#include <algorithm>

#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/gemm_f64.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

#if HWY_HAVE_FLOAT64
using D = hn::ScalableTag<double>;
using W = hn::Vec<D>;
constexpr int64_t kWide = HWY_LANES(double);

// `kRows` rows and `kVectors` vectors of columns from i and j on.
template <int kRows, int kVectors>
HWY_INLINE void sum_tile(const GemmF64& g, int64_t i, int64_t j) {
  const D d;
  W sums[kRows][kVectors];
  for (auto& row : sums)
    for (W& sum : row) sum = hn::Zero(d);
  const double *a = g.a + i * g.a_row, *b = g.b + j;
  for (int64_t p = 0; p < g.k; ++p, b += g.n) {
    W columns[kVectors];
    ANYSHAPE_UNROLL
    for (int v = 0; v < kVectors; ++v) columns[v] = hn::LoadU(d, b + v * kWide);
    ANYSHAPE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const W x = hn::Set(d, a[r * g.a_row + p]);
      ANYSHAPE_UNROLL
      for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(x, columns[v], sums[r][v]);
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[r][v], d, g.c + (i + r) * g.c_row + j + v * kWide);
}
#endif

void sum_entry(const GemmF64& g, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t p = 0; p < g.k; ++p) sum += g.a[i * g.a_row + p] * g.b[p * g.n + j];
  g.c[i * g.c_row + j] = sum;
}

template <int kRows>
void sum_rows(const GemmF64& g, int64_t i) {
  int64_t j = 0;
#if HWY_HAVE_FLOAT64
  for (; j + 2 * kWide <= g.n; j += 2 * kWide) sum_tile<kRows, 2>(g, i, j);
  for (; j + kWide <= g.n; j += kWide) sum_tile<kRows, 1>(g, i, j);
#endif
  for (; j < g.n; ++j)
    for (int r = 0; r < kRows; ++r) sum_entry(g, i + r, j);
}

void finish_row(const GemmF64& g, int64_t i) {
  double* c = g.c + i * g.c_row;
  if (g.alpha != 1)
    for (int64_t j = 0; j < g.n; ++j) c[j] *= g.alpha;
  if (!g.addend) return;
  const double* addend = g.addend + i * g.addend_row;
  for (int64_t j = 0; j < g.n; ++j) c[j] += g.beta * addend[j * g.addend_column];
}

void multiply(const GemmF64& g, int64_t first, int64_t last) {
  int64_t i = first;
  for (; i + 4 <= last; i += 4) sum_rows<4>(g, i);
  for (; i < last; ++i) sum_rows<1>(g, i);
  for (i = first; i < last; ++i) finish_row(g, i);
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(multiply);

void gemm_f64_rows(const GemmF64& g, int64_t first, int64_t last) { HWY_DYNAMIC_DISPATCH(multiply)(g, first, last); }

}  // namespace anyshape::simd
#endif
