#include <gtest/gtest.h>

#include "ops/testing.h"

namespace anyshape::ops {
namespace {

TEST(Microsoft, LinearRows) {
  check_rows({
      {"com.microsoft:FusedMatMul", 1, "f32[b, k, m]; f32[b, n, k]", "transA=1 transB=1", "f32[b, m, n]"},
      {"com.microsoft:FusedMatMul", 1, "f32[a, b, k]; f32[b, k, n]", "transBatchA=1", "f32[b, a, n]"},
      {"com.microsoft:FusedConv", 1, "f32[n, 3, h, w]; f32[8, 3, 3, 3]", "activation=Relu pads=[1, 1, 1, 1]",
       "f32[n, 8, h, w]", "h >= 1; w >= 1"},
      {"com.microsoft:NhwcConv", 1, "f32[n, h, w, 3]; f32[8, 3, 1, 1]", "", "f32[n, h, w, 8]", "h >= 1; w >= 1"},
      {"com.microsoft:MatMulNBits", 1, "f32[b, s, 32]; u8[16, 1, 16]; f32[16]", "K=32 N=16 bits=4 block_size=32",
       "f32[b, s, 16]"},
      {"com.microsoft:MatMulNBits", 1, "f32[b, s, 31]; u8[16, 1, 16]; f32[16]", "K=32 N=16", "error[matmul.inner]"},
      {"com.microsoft:DynamicQuantizeMatMul", 1, "f32[b, s, k]; i8[k, n]; f32[]", "", "f32[b, s, n]"},
  });
}

TEST(Microsoft, AttentionRows) {
  check_rows({
      {"com.microsoft:Attention", 1, "f32[b, s, 64]; f32[64, 192]; f32[192]", "num_heads=4",
       "f32[b, s, 64]; f32[2, b, 4, s, 16]"},
      {"com.microsoft:Attention", 1, "f32[b, s, 64]; f32[60, 192]; f32[192]", "num_heads=4", "error[attention.inner]"},
      {"com.microsoft:MultiHeadAttention", 1, "f32[b, s, 64]; f32[b, t, 64]; f32[b, t, 32]", "num_heads=4",
       "f32[b, s, 32]; f32[b, 4, t, 16]; f32[b, 4, t, 8]"},
      {"com.microsoft:GroupQueryAttention", 1,
       "f32[b, s, 64]; f32[b, s, 32]; f32[b, s, 32]; f32[b, 2, p, 16]; f32[b, 2, p, 16]; i32[b]; i32[] = [t]",
       "num_heads=4 kv_num_heads=2", "f32[b, s, 64]; f32[b, 2, max(p, t), 16]; f32[b, 2, max(p, t), 16]"},
      {"com.microsoft:RotaryEmbedding", 1, "f32[b, s, 64]; i64[b, s]; f32[512, 8]; f32[512, 8]", "", "f32[b, s, 64]",
       "s <= 512; data[rotaryembedding.position]"},
  });
}

TEST(Microsoft, NormalizationRows) {
  check_rows({
      {"com.microsoft:SkipLayerNormalization", 1, "f32[b, s, h]; f32[b, s, h]; f32[h]", "epsilon=0.1", "f32[b, s, h]"},
      {"com.microsoft:SkipLayerNormalization", 1, "f32[b, s, 8]; f32[s, 8]; f32[9]", "",
       "error[skiplayernormalization.size]"},
      {"SimplifiedLayerNormalization", 1, "f32[b, s, 8]; f32[8]", "axis=-1", "f32[b, s, 8]; f32[b, s, 1]"},
      {"com.microsoft:EmbedLayerNormalization", 1, "i32[b, s]; ; f32[v, 8]; f32[512, 8]; ; f32[8]; f32[8]", "",
       "f32[b, s, 8]; i32[b]", "s <= 512; data[embedlayernormalization.ids]"},
  });
}

TEST(Microsoft, QuantizedRows) {
  check_rows({
      {"com.microsoft:QLinearAdd", 1, "u8[b, 4]; f32[]; u8[]; u8[4]; f32[]; u8[]; f32[]; u8[]", "", "u8[b, 4]"},
      {"com.microsoft:QLinearConcat", 1, "f32[]; u8[]; u8[a, 2]; f32[]; u8[]; u8[b, 2]; f32[]; u8[]", "axis=0",
       "u8[a + b, 2]"},
      {"com.microsoft:QLinearGlobalAveragePool", 1, "u8[n, h, w, c]; f32[]; u8[]; f32[]; u8[]", "channels_last=1",
       "u8[n, 1, 1, c]", "n == 0 or h >= 1 and w >= 1 and c >= 1"},
      {"com.microsoft:QGemm", 1, "u8[m, k]; f32[]; u8[]; u8[n, k]; f32[]; u8[]", "transB=1", "f32[m, n]"},
  });
}

TEST(Microsoft, OtherRows) {
  check_rows({
      {"com.microsoft:CDist", 1, "f32[m, k]; f32[n, l]", "", "f32[m, n]", "k == l"},
      {"com.microsoft:Inverse", 1, "f32[b, 3, 4]", "", "error[inverse.square]"},
      {"com.microsoft:ExpandDims", 1, "f32[a, b]; i32[] = [-1]", "", "f32[a, b, 1]"},
      {"com.microsoft:BiasSplitGelu", 1, "f32[n, s, d]; f32[d]", "", "f32[n, s, d//2]", "d % 2 == 0"},
      {"com.microsoft:MurmurHash3", 1, "i32[a]", "", "u32[a]"},
      {"com.microsoft:Trilu", 1, "f32[a, b]", "", "f32[a, b]"},
      {"com.microsoft:GatherND", 1, "f32[a, b]; i64[c, 1]", "", "f32[c, b]", "a >= 1 or c == 0; data[gathernd.index]"},
  });
}

}  // namespace
}  // namespace anyshape::ops
