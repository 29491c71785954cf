#pragma once

#include <cstdint>

// Products of matrices of f64.
namespace anyshape::simd {

struct GemmF64 {
  int64_t n = 0, k = 0;
  const double* a = nullptr;  // rows of k entries, a_row apart
  int64_t a_row = 0;
  const double* b = nullptr;  // rows of n entries, one after the other
  double* c = nullptr;        // rows of n entries, c_row apart
  int64_t c_row = 0;
  double alpha = 1;
  // c = alpha * a * b + beta * addend; null: none. Entry [i][j] of it is at i * addend_row + j * addend_column.
  const double* addend = nullptr;
  int64_t addend_row = 0, addend_column = 0;
  double beta = 1;
};

// Rows first..last - 1. Each entry is summed in the order of the inner axis.
void gemm_f64_rows(const GemmF64& g, int64_t first, int64_t last);

}  // namespace anyshape::simd
