#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/temporary.h"

namespace anyshape::kernels {

// The type sums of products are made in: double for floats, 64 bits that wrap for integers.
template <class T>
using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

// Entry (i, j) of a matrix is data[i * row + j * column].
template <class T>
struct Matrix {
  const T* data;
  int64_t row, column;
};

namespace multiply_detail {

inline constexpr int64_t kColumns = 256;

// `rows` rows of the product from row i on, columns first..first + width - 1. REQUIRES: b.column == 1, width <=
// kColumns.
template <int rows, class A, class B>
void panel(const Matrix<A>& a, const Matrix<B>& b, int64_t i, int64_t first, int64_t width, int64_t n, int64_t k,
           Sum<B>* out) {
  Sum<B> sums[rows][kColumns] = {};
  for (int64_t p = 0; p < k; ++p) {
    Sum<B> left[rows];
    for (int r = 0; r < rows; ++r) left[r] = static_cast<Sum<B>>(a.data[(i + r) * a.row + p * a.column]);
    const B* right = b.data + p * b.row + first;
    for (int64_t j = 0; j < width; ++j) {
      const auto y = static_cast<Sum<B>>(right[j]);
      for (int r = 0; r < rows; ++r) sums[r][j] += left[r] * y;
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int64_t j = 0; j < width; ++j) out[(i + r) * n + first + j] += sums[r][j];
}

}  // namespace multiply_detail

// out[i * n + j] += sum over p of a(i, p) * b(p, j), for a of m x k and b of k x n entries.
template <class A, class B>
void multiply_add(const Matrix<A>& a, Matrix<B> b, int64_t m, int64_t n, int64_t k, Sum<B>* out) {
  Temporary<B> packed;
  if (b.column != 1 && n > 1) {
    packed.resize(static_cast<size_t>(k * n));
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j) packed[static_cast<size_t>(p * n + j)] = b.data[p * b.row + j * b.column];
    b = {packed.data(), n, 1};
  }
  for (int64_t first = 0; first < n; first += multiply_detail::kColumns) {
    const int64_t width = std::min(multiply_detail::kColumns, n - first);
    int64_t i = 0;
    for (; i + 4 <= m; i += 4) multiply_detail::panel<4>(a, b, i, first, width, n, k, out);
    for (; i < m; ++i) multiply_detail::panel<1>(a, b, i, first, width, n, k, out);
  }
}

}  // namespace anyshape::kernels
