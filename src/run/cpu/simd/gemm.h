#pragma once

#include <cstddef>
#include <cstdint>

// Matrix products of f32. Matrix B is read in panels of gemm_panel() columns: entry (k, j) of a panel is at
// [k * panel + j], panels follow each other, the last one is filled up with zeros.
namespace anyshape::simd {

enum class Activation : uint8_t { none, relu, clip, leaky_relu, sigmoid, tanh, gelu, gelu_tanh, silu, hard_swish };

struct ActivationSpec {
  Activation kind = Activation::none;
  float a = 0, b = 0;  // clip: least and greatest value; leaky_relu: a is the slope
};

// A matrix that is added to a product: entry (i, j) is scale * data[i * row + j * column]; column is 0 or 1.
struct Addend {
  const float* data = nullptr;  // null: nothing is added
  int64_t row = 0, column = 0;
  float scale = 1;

  static Addend per_column(const float* data, float scale = 1) { return {data, 0, 1, scale}; }
  static Addend per_row(const float* data, float scale = 1) { return {data, 1, 0, scale}; }
};

// out = activation(product + bias + residual)
struct Epilogue {
  Addend bias, residual;  // each may be the output's own memory, entry by entry
  ActivationSpec activation;
};

struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;  // entry (i, k) at [i * a_row + k * a_column]
  int64_t a_row = 0, a_column = 1;
  const float* b = nullptr;
  bool b_packed = true;
  // Of a b that is not packed: entry (k, j) at [k * b_row + j * b_column], times b_scale.
  int64_t b_row = 0, b_column = 1;
  float b_scale = 1;
  float* c = nullptr;
  int64_t c_row = 0;
  Epilogue epilogue = {};
};

int64_t gemm_panel();
// The rows of one block of A that the innermost loop works on at most.
int64_t gemm_rows();

// Floats of k x n packed.
int64_t gemm_packed_size(int64_t k, int64_t n);
// `from`: f32 of any alignment, entry (k, j) at element [k * row + j * column]; all is multiplied by scale.
void gemm_pack(const std::byte* from, int64_t k, int64_t n, int64_t row, int64_t column, float scale, float* to);

// Floats of scratch that gemm_tile needs at these m, n, k and strides.
int64_t gemm_scratch(const Gemm& g);

// About how many multiplications a product takes as long as.
double gemm_cost(int64_t m, int64_t n, int64_t k);

// How the output is cut into tiles that are worth a task: tile t has rows from t % down * rows on and columns from
// t / down * columns on, so that neighbours share columns of B.
struct GemmTiles {
  int64_t rows = 0, columns = 0, down = 0, across = 0;
  int64_t count() const { return down * across; }
};
GemmTiles gemm_tiles(int64_t m, int64_t n, int64_t k, bool b_packed);

// Entries of the output in rows i0..i1 - 1, columns j0..j1 - 1. REQUIRES: j0 is a multiple of gemm_panel(), j1 too or
// n; scratch has gemm_scratch(g) floats, aligned to 64 bytes.
void gemm_tile(const Gemm& g, int64_t i0, int64_t i1, int64_t j0, int64_t j1, float* scratch);

// In place, on rows of n floats.
void activate(const ActivationSpec& activation, float* data, int64_t rows, int64_t n, int64_t row);

}  // namespace anyshape::simd
