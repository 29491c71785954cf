#pragma once

#include <cstdint>

// softmax(mask(scale * q * k)) * v of f32, a few rows at a time: scores are never kept.
namespace anyshape::simd {

// One matrix of each operand. Strides count entries and may be anything.
struct AttentionHead {
  const float* q = nullptr;  // [queries, size]
  int64_t q_row = 0, q_column = 1;
  const float* k = nullptr;  // [size, keys]
  int64_t k_row = 0, k_column = 1;
  const float* v = nullptr;  // [keys, values]
  int64_t v_row = 0, v_column = 1;
  const float* mask = nullptr;  // [queries, keys], added to the scores; null: none
  int64_t mask_row = 0, mask_column = 1;
  const uint8_t* where = nullptr;  // [queries, keys]; null: none
  int64_t where_row = 0, where_column = 1;
  float* out = nullptr;  // [queries, values], neighbouring columns
  int64_t out_row = 0;
};

struct AttentionSpec {
  int64_t size = 0, keys = 0, values = 0;
  float scale = 1;
  float fill = 0;            // the score where `where` does not keep it
  bool keep = true;          // `where` keeps the scores at its true entries, else at its false ones
  bool where_first = true;   // before the mask is added
  bool nan_to_zero = false;  // weights of a row that are NaN are 0
};

// Floats of scratch for one head.
int64_t attention_scratch(const AttentionSpec& spec, const AttentionHead& strides);

// Lays keys and values of the head out in `scratch`, for attention_rows.
void attention_pack(const AttentionSpec& spec, const AttentionHead& head, float* scratch);

// Rows first..last - 1 of the queries.
void attention_rows(const AttentionSpec& spec, const AttentionHead& head, int64_t first, int64_t last, float* scratch);

}  // namespace anyshape::simd
