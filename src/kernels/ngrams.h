#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/temporary.h"
#include "tensor/tensor.h"

namespace anyshape::kernels {

// The attributes of TfIdfVectorizer.
struct NgramRules {
  enum class Mode : uint8_t { count, present, weighted };  // TF, IDF, TFIDF
  Mode mode = Mode::count;
  int64_t least = 1, most = 1, skips = 0;
  Temporary<int64_t> counts;   // where the n-grams of each length start in the pool
  Temporary<int64_t> indexes;  // the column of each n-gram
  Temporary<float> weights;    // of each column; empty: 1
  Temporary<int64_t> pool;     // the n-grams, words as numbers
};

// y[row, column]: how often n-grams occur in each row of x. `x` holds the numbers of words, -1 for words outside the
// pool (int64, [rows, words]); y is f32 of [rows, columns]. Code "tfidf.rules" where the attributes contradict each
// other.
Status count_ngrams(const NgramRules& rules, const Temporary<Temporary<int64_t>>& rows, Tensor& y);

}  // namespace anyshape::kernels
