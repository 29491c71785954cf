#pragma once

#include <cstdint>

// Maxima and means over windows of one or two axes, plane by plane; the results of max_pool and average_pool.
namespace anyshape::kernels {

struct PoolAxis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1;
  int64_t pad = 0, pad_end = 0;

  // The input cell that cell k of window i reads; may lie outside.
  int64_t cell(int64_t i, int64_t k) const { return i * stride + k * dilation - pad; }
  // Windows first..last - 1 read an input cell by their cell k.
  int64_t first(int64_t k) const;
  int64_t last(int64_t k) const;
  // Cells of window i inside the input, and inside the input and its padding.
  int64_t inside(int64_t i) const;
  int64_t padded(int64_t i) const;
};

struct PlanePool {
  PoolAxis y, x;
  bool count_padding = false;
};

void max_pool_plane(const PlanePool& pool, const float* in, float* out);
// `sums`: room for one row of the output.
void average_pool_plane(const PlanePool& pool, const float* in, float* out, double* sums);

}  // namespace anyshape::kernels
