#pragma once

#include <cstdint>

// Kernels of f32 that work on rows of neighbouring entries.
namespace anyshape::simd {

// Rows first..last - 1 of n entries each; out may be in.
void softmax_rows(const float* in, float* out, int64_t first, int64_t last, int64_t n, bool logarithm);

// in[outer][n][inner] along the middle axis: rows first..last - 1 of the outer axis; out may be in.
void softmax_columns(const float* in, float* out, int64_t first, int64_t last, int64_t n, int64_t inner,
                     bool logarithm);

struct LayerNorm {
  const float* in = nullptr;
  float* out = nullptr;
  int64_t n = 0;
  const float* scale = nullptr;  // n entries, or 1 with scale_step 0; null: none
  const float* bias = nullptr;
  int64_t scale_step = 1, bias_step = 1;
  float epsilon = 1e-5f;
  bool subtract_mean = true;   // false: divided by the root mean square only
  float* mean = nullptr;       // one entry per row, null: not wanted
  float* deviation = nullptr;  // one over the standard deviation
};
void layer_norm_rows(const LayerNorm& norm, int64_t first, int64_t last);

// Rows of n entries, each brought to mean 0 and variance 1, then times scale plus bias: entry e of row r has the
// parameter (r * n + e) / repeat % count. Sums are taken in f32 within kNormRun entries, of these in double.
struct ChannelNorm {
  const float* in = nullptr;
  float* out = nullptr;
  int64_t n = 0;
  const float* scale = nullptr;
  const float* bias = nullptr;
  int64_t repeat = 1, count = 1;
  float epsilon = 1e-5f;
};
inline constexpr int64_t kNormRun = 4096;
void channel_norm_rows(const ChannelNorm& norm, int64_t first, int64_t last);

enum class Reduction : uint8_t { sum, mean, max, min, sum_square, l1, l2, log_sum, log_sum_exp };

// in[outer][n][inner] -> out[outer][inner]: rows first..last - 1 of the outer axis.
void reduce_rows(Reduction reduction, const float* in, float* out, int64_t first, int64_t last, int64_t n,
                 int64_t inner);

}  // namespace anyshape::simd
