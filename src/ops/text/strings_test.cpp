#include <gtest/gtest.h>

#include "ops/testing.h"

namespace anyshape::ops {
namespace {

TEST(Strings, Kernels) {
  check_kernel_rows({
      {"StringConcat", 20, "string[2, 1] = [a, b]; string[2] = [x, y]", "", "string[2, 2] = [ax, ay, bx, by]"},
      {"RegexFullMatch", 20, "string[3] = [ab1, 1ab, ab]", "pattern='[a-z]+\\d?'", "bool[3] = [1, 0, 1]"},
      {"RegexFullMatch", 20, "string[1] = [a]", "pattern=(", "error[regex.syntax]"},
      {"StringNormalizer", 10, "string[3] = [Monday, tuesday, Friday]",
       "case_change_action=UPPER stopwords=[monday, x]", "string[2] = [TUESDAY, FRIDAY]"},
      {"StringNormalizer", 10, "string[1, 2] = [a, b]", "is_case_sensitive=1 stopwords=[a, b]", "string[1, 1] = []"},
      {"StringNormalizer", 10, "string[1] = [a]", "case_change_action=ODD", "error[normalizer.case]"},
      {"StringSplit", 20, "string[2] = [a-b-c, d]", "delimiter=- maxsplit=1",
       "string[2, 2] = [a, b-c, d, ]; i64[2] = [2, 1]"},
      {"StringSplit", 20, "string[1] = [ a  b ]", "", "string[1, 2] = [a, b]; i64[1] = [2]"},
      {"StringSplit", 20, "string[0] = []", "", "string[0, 0] = []; i64[0] = []"},
  });
}

TEST(TfIdfVectorizer, Kernels) {
  const std::string pairs = "pool_int64s=[2, 3, 5, 4, 2, 3] ngram_counts=[0, 2] ngram_indexes=[0, 1, 2, 3] ";
  check_kernel_rows({
      {"TfIdfVectorizer", 9, "i64[5] = [2, 3, 5, 4, 2]", pairs + "mode=TF min_gram_length=1 max_gram_length=2",
       "f32[4] = [2, 1, 1, 1]"},
      {"TfIdfVectorizer", 9, "i64[2, 3] = [5, 0, 4, 2, 3, 2]",
       pairs +
           "mode=TFIDF weights=[0.5, 1, 2, 4.5] min_gram_length=2 max_gram_length=2 max_skip_count=9223372036854775807",
       "f32[2, 4] = [0, 0, 2, 0, 0, 0, 0, 4.5]"},
      {"TfIdfVectorizer", 9, "string[3] = [b, a, a]",
       "pool_strings=[a, b] ngram_counts=[0] ngram_indexes=[1, 0] mode=IDF", "f32[2] = [1, 1]"},
      {"TfIdfVectorizer", 9, "i64[2] = [3, 3]",
       "pool_int64s=[2, 3] ngram_counts=[0] ngram_indexes=[0, 1] mode=TF weights=[0.5]", "f32[2] = [0, 2]"},
      {"TfIdfVectorizer", 9, "i64[2] = [3, 3]",
       "pool_int64s=[2, 3] ngram_counts=[0] ngram_indexes=[0, 1] mode=IDF weights=[0.5]", "error[tfidf.rules]"},
      {"TfIdfVectorizer", 9, "i64[1] = [2]", "pool_int64s=[2, 3] ngram_counts=[0, 9] ngram_indexes=[0, 1] mode=TF",
       "error[tfidf.rules]"},
  });
}

}  // namespace
}  // namespace anyshape::ops
