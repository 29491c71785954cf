#include "run/cpu/simd/pool_bytes.h"

#include <algorithm>
#include <limits>

namespace anyshape::kernels {
namespace {

template <class Byte>
void max_of(const Byte* __restrict from, int64_t n, Byte* __restrict to) {
  for (int64_t j = 0; j < n; ++j) to[j] = std::max(to[j], from[j]);
}

template <class Byte>
void max_strided(const Byte* __restrict from, int64_t n, int64_t step, Byte* __restrict to) {
  if (step == 1) return max_of(from, n, to);
  if (step == 2) {
    for (int64_t j = 0; j < n; ++j) to[j] = std::max(to[j], from[2 * j]);
    return;
  }
  for (int64_t j = 0; j < n; ++j) to[j] = std::max(to[j], from[j * step]);
}

// Of each row of windows first the maxima of columns, into `row`. Windows without a cell inside have the least value.
template <class Byte>
void max_plane(const PlanePool& pool, const Byte* in, Byte* row, Byte* out) {
  constexpr Byte kLeast = std::numeric_limits<Byte>::lowest();
  const PoolAxis &y = pool.y, &x = pool.x;
  for (int64_t i = 0; i < y.out; ++i, out += x.out) {
    std::fill_n(row, x.in, kLeast);
    for (int64_t k = 0; k < y.kernel; ++k)
      if (const int64_t at = y.cell(i, k); at >= 0 && at < y.in) max_of(in + at * x.in, x.in, row);
    std::fill_n(out, x.out, kLeast);
    for (int64_t k = 0; k < x.kernel; ++k) {
      const int64_t first = x.first(k), last = x.last(k);
      if (first < last) max_strided(row + x.cell(first, k), last - first, x.stride, out + first);
    }
  }
}

}  // namespace

void max_into(const uint8_t* from, int64_t n, uint8_t* to) { max_of(from, n, to); }
void max_into(const int8_t* from, int64_t n, int8_t* to) { max_of(from, n, to); }

void max_pool_plane(const PlanePool& pool, const uint8_t* in, uint8_t* row, uint8_t* out) {
  max_plane(pool, in, row, out);
}
void max_pool_plane(const PlanePool& pool, const int8_t* in, int8_t* row, int8_t* out) {
  max_plane(pool, in, row, out);
}

}  // namespace anyshape::kernels
