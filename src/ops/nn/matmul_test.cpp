#include <gtest/gtest.h>

#include "ops/testing.h"

namespace anyshape::ops {
namespace {

TEST(MatMul, Rules) {
  check_rows({
      {"MatMul", 13, "f32[b, s, 16]; f32[16, 8]", "", "f32[b, s, 8]"},
      {"MatMul", 13, "f32[b, s, k]; f32[16, 8]", "", "f32[b, s, 8]", "k == 16"},
      {"MatMul", 13, "f32[3]; f32[3]", "", "f32[]"},
      {"MatMul", 13, "f32[3]; f32[b, 3, 4]", "", "f32[b, 4]"},
      {"MatMul", 13, "f32[b, 2, 3]; f32[3]", "", "f32[b, 2]"},
      {"MatMul", 13, "f32[]; f32[3]", "", "error[matmul.rank]"},
      {"MatMul", 13, "f32[2, 3]; f32[4, 5]", "", "error[matmul.inner]"},
      {"MatMul", 13, "f32[3, 2, 4]; f32[5, 4, 6]", "", "error[broadcast]"},
      {"MatMul", 13, "f32[...]; f32[5, 4]", "", "unknown[infer.rank]"},
      {"MatMulInteger", 10, "u8[2, 3]; u8[3, 4]; ; u8[4]", "", "i32[2, 4]"},
      {"MatMulInteger", 10, "u8[2, 3]; u8[3, 4]; ; u8[3]", "", "error[matmul.quantization]"},
      {"QLinearMatMul", 10, "u8[b, 3]; f32[]; u8[]; i8[3, 4]; f32[4]; i8[4]; f32[]; u8[]", "", "u8[b, 4]"},
  });
}

TEST(Gemm, Rules) {
  check_rows({
      {"Gemm", 13, "f32[b, 16]; f32[8, 16]; f32[8]", "transB=1", "f32[b, 8]"},
      {"Gemm", 13, "f32[16, b]; f32[16, 8]", "transA=1", "f32[b, 8]"},
      {"Gemm", 13, "f32[b, k]; f32[16, 8]; f32[b, 1]", "", "f32[b, 8]", "k == 16"},
      {"Gemm", 13, "f32[2, 3]; f32[3, 4]; f32[2]", "", "error[broadcast]"},
      {"Gemm", 13, "f32[2, 3, 1]; f32[3, 4]", "", "error[rank]"},
      {"Gemm", 13, "f32[b, 3]; f32[3, 4]; f32[2, 4]", "", "f32[2, 4]", "b == 2"},
      {"Gemm", 9, "f32[2, 3]; f32[3, 4]", "", "error[node.arity]"},
      {"Gemm", 6, "f32[2, 3]; f32[3, 4]; f32[4]", "", "error[shape.equal]"},
      {"Gemm", 6, "f32[2, 3]; f32[3, 4]; f32[4]", "broadcast=1", "f32[2, 4]"},
  });
}

TEST(Einsum, Rules) {
  check_rows({
      {"Einsum", 12, "f32[b, s, 4]; f32[b, t, 4]", "equation='bij, bkj -> bik'", "f32[b, s, t]"},
      {"Einsum", 12, "f32[a, b]; f32[c, d]", "equation=ij,jk", "f32[a, d]", "b == c", true},
      {"Einsum", 12, "f32[a, b]; f32[c, d]", "equation=ij,jk", "f32[a, d]", "b == 1 or c == 1 or b == c"},
      {"Einsum", 12, "f32[2, 1]; f32[5, 4]", "equation=ij,jk", "error[lenient.einsum]", "", true},
      {"Einsum", 12, "f32[2, 1]; f32[5, 4]", "equation=ij,jk", "f32[2, 4]", "lenient[lenient.einsum]"},
      {"Einsum", 12, "f32[2, 1]; f32[5, 4]", "equation=ij,jk->j", "f32[5]", "lenient[lenient.einsum]"},
      {"Einsum", 12, "f32[1, 3]", "equation=ii", "error[einsum.size]"},
      {"Einsum", 12, "f32[2, 3]; f32[5, 4]", "equation=ij,jk", "error[einsum.size]"},
      {"Einsum", 12, "f32[n, n]", "equation=ii->i", "f32[n]"},
      {"Einsum", 12, "f32[n, n]", "equation=ii", "f32[]"},
      {"Einsum", 12, "f32[p, q, 3, 4]; f32[4, 5]", "equation=...ij,jk->...ik", "f32[p, q, 3, 5]"},
      {"Einsum", 12, "f32[p, 3, 4]", "equation=...ij->...ji", "f32[p, 4, 3]"},
      {"Einsum", 12, "f32[p, 3, 4]", "equation=...ij->ij", "error[einsum.output]"},
      {"Einsum", 12, "f32[2, 3]", "equation=ij->k", "error[einsum.output]"},
      {"Einsum", 12, "f32[2, 3]", "equation=ijk->k", "error[einsum.rank]"},
      {"Einsum", 12, "f32[2, 3]", "equation=ij,->ij", "error[einsum.equation]"},
      {"Einsum", 12, "f32[2, 3]", "equation='i!'", "error[einsum.equation]"},
      {"Einsum", 12, "f32[2, 3]", "", "error[attr.missing]"},
      {"Einsum", 12, "f32[b, a]", "equation='ba'", "f32[a, b]"},
  });
}

TEST(Quantize, Rules) {
  check_rows({
      {"QuantizeLinear", 13, "f32[b, 3]; f32[]", "", "u8[b, 3]"},
      {"QuantizeLinear", 13, "f32[b, 3]; f32[3]; i8[3]", "", "i8[b, 3]"},
      {"QuantizeLinear", 13, "f32[b, c]; f32[3]; i8[3]", "", "i8[b, 3]", "c == 3"},
      {"QuantizeLinear", 13, "f32[2, 3]; f32[2]; i8[]", "axis=0", "error[quantize.zero_point]"},
      {"QuantizeLinear", 21, "f32[b, 8]; f32[b, 2]", "axis=1 block_size=4 output_dtype=@i8", "i8[b, 8]"},
      {"QuantizeLinear", 21, "f32[b, 8]; f32[b, 3]", "axis=1 block_size=4", "error[quantize.scale]"},
      {"QuantizeLinear", 21, "f32[b, 8]; f32[b, 3]", "axis=1 block_size=-1", "error[quantize.block]"},
      {"DequantizeLinear", 13, "i8[b, 3]; f32[]; i8[]", "", "f32[b, 3]"},
      {"DequantizeLinear", 19, "i8[b, 3]; f16[]; i8[]", "", "f16[b, 3]"},
      {"DequantizeLinear", 13, "i8[b, 3]; f32[]; u8[]", "", "error[quantize.dtype]"},
      {"DynamicQuantizeLinear", 11, "f32[b, 3]", "", "u8[b, 3]; f32[]; u8[]"},
  });
}

TEST(Others, Rules) {
  check_rows({
      {"Det", 11, "f32[b, n, n]", "", "f32[b]"},
      {"Det", 11, "f32[n, m]", "", "f32[]", "n == m"},
      {"RandomNormal", 1, "", "shape=[2, 3]", "f32[2, 3]"},
      {"RandomNormal", 1, "", "shape=[2, -3]", "error[random.shape]"},
      {"RandomUniformLike", 1, "i64[b]", "dtype=@f32", "f32[b]"},
      {"Bernoulli", 15, "f32[b]", "dtype=@bool", "bool[b]"},
      {"Multinomial", 7, "f32[b, c]", "sample_size=4", "i32[b, 4] in 0..c - 1", "b >= 1; c >= 1"},
      {"Multinomial", 7, "f32[2, 3]", "sample_size=0", "error[multinomial.samples]"},
      {"SoftmaxCrossEntropyLoss", 13, "f32[b, 5, h]; i64[b, h]", "reduction=none", "f32[b, h]; f32[b, 5, h]",
       "data[loss.label]"},
      {"NegativeLogLikelihoodLoss", 13, "f32[b, 5]; i64[c]; f32[5]", "", "f32[]", "b == c; data[loss.label]"},
      {"NegativeLogLikelihoodLoss", 13, "f32[b, 5]; i64[b]", "reduction=foo", "error[loss.reduction]"},
      {"StringConcat", 20, "string[a, 1]; string[b]", "", "string[a, b]"},
      {"RegexFullMatch", 20, "string[a]", "pattern='a+'", "bool[a]"},
      {"StringNormalizer", 10, "string[3]", "stopwords=[x]", "string[words]"},
      {"StringNormalizer", 10, "string[1, 3]", "", "string[1, 3]"},
      {"StringSplit", 20, "string[a]", "", "string[a, parts]; i64[a]"},
      {"TfIdfVectorizer", 9, "i64[n, c]", "ngram_indexes=[0, 3, 1]", "f32[n, 4]"},
      {"TfIdfVectorizer", 9, "i64[n, c]", "ngram_indexes=[0, -3, 1]", "error[tfidf.indexes]"},
  });
}

}  // namespace
}  // namespace anyshape::ops
