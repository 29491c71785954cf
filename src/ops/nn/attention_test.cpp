#include <gtest/gtest.h>

#include "ops/testing.h"

namespace anyshape::ops {
namespace {

TEST(Attention, Rows) {
  check_rows({
      {"Attention", 23, "f32[2, 6, s, 8]; f32[2, 3, t, 8]; f32[2, 3, t, 5]", "", "f32[2, 6, s, 5]", "s >= 1; t >= 1"},
      {"Attention", 23,
       "f32[2, s, 64]; f32[2, t, 64]; f32[2, t, 48]; bool[2, 1, s, t + p]; f32[2, 8, p, 8]; f32[2, 8, p, 6]",
       "q_num_heads=8 kv_num_heads=8", "f32[2, s, 48]; f32[2, 8, t + p, 8]; f32[2, 8, t + p, 6]; f32[2, 8, s, t + p]",
       "s >= 1; t >= 1"},
      {"Attention", 24, "f32[2, 3, 4, 8]; f32[2, 3, 5, 8]; f32[2, 3, 5, 6]; f32[4, 3]; ; ; i64[2] = [3, 5]", "",
       "f32[2, 3, 4, 6]"},
      {"Attention", 23, "f32[2, 3, 4, 8]; f32[2, 3, 5, 8]; f32[2, 3, 5, 6]; f32[4, 3]", "", "error[broadcast]"},
      {"Attention", 23, "f32[2, 6, 4, 8]; f32[2, 4, 5, 8]; f32[2, 4, 5, 6]", "", "error[attention.heads]"},
      {"Attention", 23, "f32[2, 3, 4, 8]; f32[2, 3, 5, 7]; f32[2, 3, 5, 6]", "", "error[attention.shape]"},
      {"Attention", 23, "f32[2, 4, 25]; f32[2, 5, 24]; f32[2, 5, 18]", "q_num_heads=3 kv_num_heads=3",
       "error[attention.hidden]"},
      {"Attention", 23, "f32[2, 4, 24]; f32[2, 5, 24]; f32[2, 5, 18]", "", "error[attention.heads]"},
      {"Attention", 23, "f32[2, 3, 4, 8]; f32[2, 3, 0, 8]; f32[2, 3, 0, 6]", "", "error[attention.empty]"},
      {"ai.onnx.preview:FlexAttention", 1, "f16[1, 4, s, 8]; f16[1, 2, t, 8]; f16[1, 2, t, 6]", "", "f16[1, 4, s, 6]",
       "s >= 1; t >= 1"},
      {"LinearAttention", 27, "f32[b, t, 32]; f32[b, t, 16]; f32[b, t, 24]; ; f32[b, t, 2]; f32[b, t, 1]",
       "q_num_heads=4 kv_num_heads=2", "f32[b, t, 48]; f32[b, 2, 8, 12]"},
      {"LinearAttention", 27, "f32[b, t, 32]; f32[b, t, 16]; f32[b, t, 24]", "q_num_heads=4 kv_num_heads=2",
       "error[linearattention.rule]"},
  });
}

TEST(RotaryEmbedding, Rows) {
  check_rows({
      {"RotaryEmbedding", 23, "f32[b, 8, s, 64]; f32[2048, 32]; f32[2048, 32]; i64[b, s] in 0..s - 1", "",
       "f32[b, 8, s, 64]", "s <= 2048"},
      {"RotaryEmbedding", 23, "f32[b, s, 24]; f32[b, s, 4]; f32[b, s, 4]", "num_heads=3", "f32[b, s, 24]"},
      {"RotaryEmbedding", 23, "f32[2, 3, 4, 8]; f32[10, 3]; f32[10, 3]; i64[2, 4]", "", "error[rotary.cache]"},
      {"RotaryEmbedding", 23, "f32[2, 3, 4, 8]; f32[10, 4]; f32[10, 4]; i64[1, 4]", "", "error[rotary.positions]"},
      {"RotaryEmbedding", 23, "f32[2, 3, 4, 7]; f32[10, 3]; f32[10, 3]; i64[2, 4]", "", "error[lenient.rotary]"},
  });
}

TEST(Spectral, Rows) {
  check_rows({
      {"DFT", 20, "f32[2, n, 1]", "", "f32[2, n, 2]"},
      {"DFT", 17, "f32[2, n, 3, 1]", "onesided=1", "f32[2, n//2 + 1, 3, 2]", "n >= 1"},
      {"DFT", 20, "f32[2, n, 2]", "onesided=1 inverse=1", "f32[2, 2*n - 2, 1]", "n >= 1"},
      {"DFT", 20, "f32[2, 10, 1]; i64[] = [k]; i64[] = [-2]", "", "f32[2, k, 2]", "k >= 1"},
      {"DFT", 20, "f32[2, 10, 1]; ; i64[] = [-1]", "", "error[dft.axis]"},
      {"DFT", 20, "f32[2, 10, 2]", "onesided=1", "error[lenient.dft]"},
      {"DFT", 20, "f32[2, 10, 1]", "onesided=1 inverse=1", "error[dft.parts]"},
      {"STFT", 17, "f32[b, n, 1]; i64[] = [160]; f32[400]", "", "f32[b, (n + 80)//160 - 2, 201, 2]", "n >= 400"},
      {"STFT", 17, "f32[b, 128, 1]; i64[] = [8]; ; i64[] = [16]", "onesided=0", "f32[b, 15, 16, 2]"},
      {"STFT", 17, "f32[b, 128]; i64[] = [8]; ; i64[] = [16]", "", "f32[b, 15, 9, 2]", "lenient[lenient.stft]"},
      {"STFT", 17, "f32[b, 128]; i64[] = [8]; ; i64[] = [16]", "", "error[lenient.stft]", "", true},
      {"STFT", 17, "f32[b, 128, 1]; i64[] = [0]; f32[16]", "", "error[stft.step]"},
      {"STFT", 17, "f32[b, 128, 1]; i64[] = [8]; f32[16]; i64[] = [12]", "", "error[stft.window]"},
  });
}

}  // namespace
}  // namespace anyshape::ops
