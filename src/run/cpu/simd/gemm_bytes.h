#pragma once

#include <cstddef>
#include <cstdint>

// Matrix products of bytes, summed exactly modulo 2^32. Matrix B is packed: panels of byte_panel() columns follow each
// other; in a panel the four entries (4 g .. 4 g + 3, j) of a column are neighbours, at [(g * width + j) * 4]. The last
// panel is as narrow as whole vectors allow. What lies beyond the matrix is 0. Bytes of B are signed, those of A
// unsigned: the other kinds are moved by 128, zero points too.
//
// A row of A is one run of k entries, or several, each of which starts with a group of four of its own in B: so the
// rows of A may be the windows of a convolution.
namespace anyshape::simd {

enum class ByteProduct : uint8_t {
  i32,  // the sums
  u8,
  i8,        // round(f32(sum) * factor) + zero, saturated; in f32
  f32,       // f32(sum) * factor + bias, each step rounded to f32
  f32_wide,  // sum * scale * factor + bias in double, rounded once
};

struct ByteGemm {
  int64_t m = 0, n = 0, k = 0;   // k: of a run
  const std::byte* a = nullptr;  // entry k of run r of row i at [rows[i] + runs[r] + k]
  const int64_t* rows = nullptr;
  int64_t a_row = 0;              // where rows is null: rows[i] is i * a_row
  const int64_t* runs = nullptr;  // null: one at 0
  int64_t run_count = 1;
  bool slack = false;  // the three bytes behind a run may be read
  bool a_signed = false;
  int32_t a_zero = 0;  // as the entries of A are
  const int8_t* b = nullptr;
  // One per column up to byte_columns(n), as packed: sums of the columns of B, its zero points (null: all are 0).
  const int32_t *b_sums = nullptr, *b_zeros = nullptr;
  const int32_t* offsets = nullptr;  // added to the sums, likewise; null: none
  ByteProduct kind = ByteProduct::i32;
  void* c = nullptr;  // entry (i, j) at [i * c_row + j]
  int64_t c_row = 0;
  double scale = 1;                                 // of f32_wide
  const float *factors = nullptr, *bias = nullptr;  // one per column up to byte_columns(n); no bias: null
  int32_t zero = 0;                                 // of bytes

  int64_t depth() const { return k * run_count; }
  int64_t groups() const { return (k + 3) / 4 * run_count; }
};

int64_t byte_panel();
int64_t byte_columns(int64_t n);  // n rounded up to what panels hold
int64_t byte_packed_size(int64_t k, int64_t n);
// `from`: entry (k, j) at [k * row + j * column]. `sums`: those of the columns as packed.
void byte_pack(const std::byte* from, bool is_signed, int64_t k, int64_t n, int64_t row, int64_t column, int8_t* to,
               int32_t* sums);

// Rows i0..i1 - 1, columns j0..j1 - 1. REQUIRES: j0 is a multiple of byte_panel(), and j1 is one or n.
void byte_gemm(const ByteGemm& g, int64_t i0, int64_t i1, int64_t j0, int64_t j1);

}  // namespace anyshape::simd
