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

TEST(Microsoft, ActivationKernels) {
  check_kernel_rows({
      {"com.microsoft:Gelu", 1, "f16[3] = [-1, 0, 2]", "", "f16[3] = [-0.158691, 0, 1.9541]"},
      {"com.microsoft:BiasAdd", 1, "f32[1, 2, 2] = [1, 2, 3, 4]; f32[2] = [10, 20]; f32[1, 2, 2] = [1, 1, 1, 1]", "",
       "f32[1, 2, 2] = [12, 23, 14, 25]"},
      {"com.microsoft:BiasSplitGelu", 1, "f64[1, 1, 4] = [2, 3, 0, 1]; f64[4] = [0, 0, 0, 0]", "",
       "f64[1, 1, 2] = [0, 2.52403]"},
      {"com.microsoft:BiasDropout", 1, "f32[2] = [1, 2]; f32[2] = [3, 4]; f32[2] = [0.5, 0.5]", "",
       "f32[2] = [4.5, 6.5]; bool[2] = [1, 1]"},
      {"com.microsoft:BiasDropout", 1, "f32[1] = [1]; f32[1] = [3]; ; f32[] = [1]", "", "error[dropout.ratio]"},
      {"com.microsoft:QuickGelu", 1, "bf16[0] = []", "", "bf16[0] = []"},
  });
}

TEST(Microsoft, LinearKernels) {
  check_kernel_rows({
      {"com.microsoft:FusedMatMulActivation", 1, "f32[1, 2] = [1, 2]; f32[2, 2] = [1, -1, 1, -1]",
       "activation=LeakyRelu activation_alpha=0.5 alpha=2.0", "f32[1, 2] = [6, -3]"},
      {"com.microsoft:FusedMatMulActivation", 1, "f32[1, 1] = [1]; f32[1, 1] = [1]", "activation=Sorcery",
       "error[fused.activation]"},
      {"com.microsoft:FusedMatMul", 1, "bf16[2, 1] = [1, 2]; bf16[2, 2] = [1, 2, 3, 4]", "transA=1",
       "bf16[1, 2] = [7, 10]"},
      {"com.microsoft:NhwcConv", 1, "f32[1, 1, 2, 2] = [1, 2, 3, 4]; f32[1, 2, 1, 1] = [1, 10]; f32[1] = [0.5]", "",
       "f32[1, 1, 2, 1] = [21.5, 43.5]"},
      {"com.microsoft:NhwcFusedConv", 1, "f32[1, 1, 2, 1] = [1, -2]; f32[1, 1, 1, 1] = [3]", "activation=Relu",
       "f32[1, 1, 2, 1] = [3, 0]"},
      {"com.microsoft:MatMulBnb4", 1, "f32[1, 2] = [1, 1]; u8[1] = [63]; f32[1] = [2]",
       "K=2 N=1 block_size=16 quant_type=0 transB=1", "f32[1, 1] = [1.5]"},
      {"com.microsoft:MatMulNBits", 1, "f16[1, 4] = [1, 1, 1, 1]; u8[1, 1, 1] = [228]; f16[1] = [2]",
       "K=4 N=1 bits=2 block_size=4", "f16[1, 1] = [-4]"},
      {"com.microsoft:MatMulNBits", 1, "f32[1, 4] = [1, 1, 1, 1]; u8[1, 1, 1] = [228]; f32[1] = [2]",
       "K=4 N=1 bits=3 block_size=4", "error[matmul.bits]"},
      {"com.microsoft:MatMulNBits", 1, "f32[1, 4] = [1, 1, 1, 1]; u8[1] = [228]; f32[1] = [2]",
       "K=4 N=1 bits=4 block_size=4", "error[matmul.packed]"},
      {"com.microsoft:ConvTransposeWithDynamicPads", 1,
       "f32[1, 1, 2] = [1, 2]; f32[1, 1, 1] = [1]; i64[2] = [9223372036854775807, 0]", "", "error[convtranspose.pads]"},
  });
}

TEST(Microsoft, NormalizationKernels) {
  check_kernel_rows({
      {"com.microsoft:GroupNorm", 1, "f32[1, 1, 1, 4] = [1, 3, 5, 9]; f32[4] = [1, 1, 1, 2]; f32[4] = [0, 0, 0, 1]",
       "groups=2 epsilon=0.0", "f32[1, 1, 1, 4] = [-1, 1, -1, 3]"},
      {"com.microsoft:SkipGroupNorm", 1,
       "f32[1, 2, 1, 2] = [1, 3, 5, 9]; f32[2] = [1, 1]; f32[2] = [0, 0]; f32[1, 2, 1, 2] = [1, 1, 1, 1]; "
       "f32[2] = [1, 2]",
       "groups=2 epsilon=0.0 channels_last=0", "f32[1, 2, 1, 2] = [-1, 1, -1, 1]; f32[1, 2, 1, 2] = [3, 5, 8, 12]"},
      {"com.microsoft:SimplifiedLayerNormalization", 1, "f16[1, 2] = [3, 4]; f32[2] = [1, 2]", "epsilon=0.0",
       "f32[1, 2] = [0.848528, 2.26274]; f32[1, 1] = [0.282843]"},
      {"com.microsoft:EmbedLayerNormalization", 1,
       "i32[1, 1] = [7]; ; f32[2, 2] = [1, 2, 3, 4]; f32[1, 2] = [0, 0]; ; f32[2] = [1, 1]; f32[2] = [0, 0]", "",
       "error[embedlayernormalization.ids]"},
  });
}

TEST(Microsoft, AttentionKernels) {
  check_kernel_rows({
      {"com.microsoft:MultiHeadAttention", 1, "f32[1, 2, 1, 3, 1] = [0, 0, 1, 0, 0, 3]", "num_heads=1",
       "f32[1, 2, 1] = [2, 2]"},
      {"com.microsoft:MultiHeadAttention", 1, "f64[1, 1, 1] = [0]; f64[1, 2, 1, 2, 1] = [0, 1, 0, 3]", "num_heads=1",
       "f64[1, 1, 1] = [2]"},
      {"com.microsoft:MultiHeadAttention", 1,
       "f32[1, 1, 1] = [0]; f32[1, 1, 1] = [0]; f32[1, 1, 1] = [2]; ; i32[7] = [0, 0, 0, 0, 0, 0, 0]", "num_heads=1",
       "error[attention.mask]"},
      {"com.microsoft:PackedAttention", 1,
       "f32[3, 1] = [1, 2, 3]; f32[1, 3] = [0, 0, 1]; f32[3] = [0, 0, 0]; i32[2, 2] = [0, 1, 2, 3]; "
       "i32[3] = [0, 2, 3]",
       "num_heads=1", "f32[3, 1] = [1.5, 1.5, 3]"},
      {"com.microsoft:PackedAttention", 1,
       "f32[1, 1] = [1]; f32[1, 3] = [0, 0, 1]; f32[3] = [0, 0, 0]; i32[1, 1] = [0]; i32[2] = [0, 9]", "num_heads=1",
       "error[attention.sequences]"},
      {"com.microsoft:GroupQueryAttention", 1,
       "f16[1, 2, 2] = [0, 0, 0, 0]; f16[1, 2, 1] = [0, 0]; f16[1, 2, 1] = [1, 3]; ; ; i32[1] = [1]; i32[] = [2]",
       "num_heads=2 kv_num_heads=1", "f16[1, 2, 2] = [1, 1, 2, 2]; f16[1, 1, 2, 1] = [0, 0]; f16[1, 1, 2, 1] = [1, 3]"},
      {"com.microsoft:GroupQueryAttention", 1,
       "f32[1, 1, 1] = [0]; f32[1, 1, 1] = [0]; f32[1, 1, 1] = [5]; f32[1, 1, 3, 1] = [0, 0, 9]; "
       "f32[1, 1, 3, 1] = [1, 3, 9]; i32[1] = [2]; i32[] = [3]",
       "num_heads=1 kv_num_heads=1", "f32[1, 1, 1] = [3]; f32[1, 1, 3, 1] = [0, 0, 0]; f32[1, 1, 3, 1] = [1, 3, 5]"},
      {"com.microsoft:GroupQueryAttention", 1,
       "f32[1, 1, 1] = [0]; f32[1, 1, 1] = [0]; f32[1, 1, 1] = [5]; f32[1, 1, 3, 1] = [0, 0, 9]; "
       "f32[1, 1, 3, 1] = [1, 3, 9]; i32[1] = [4]; i32[] = [3]",
       "num_heads=1 kv_num_heads=1", "error[attention.past]"},
      {"com.microsoft:GroupQueryAttention", 1,
       "f32[1, 1, 1] = [0]; f32[1, 1, 1] = [0]; f32[1, 1, 1] = [5]; ; ; i32[1] = [1]; i32[] = [2]",
       "num_heads=1 kv_num_heads=1", "error[attention.past]"},
      {"com.microsoft:RotaryEmbedding", 1, "f32[1, 1, 2] = [1, 2]; i64[1] = [5]; f32[1, 1] = [1]; f32[1, 1] = [0]", "",
       "error[rotary.positions]"},
  });
}

TEST(Microsoft, QuantizedKernels) {
  check_kernel_rows({
      {"com.microsoft:QLinearReduceMean", 1,
       "u8[2, 2] = [1, 3, 5, 8]; f32[] = [1]; u8[] = [0]; f32[] = [0.5]; u8[] = [1]", "axes=[1] keepdims=0",
       "u8[2] = [5, 14]"},
      {"com.microsoft:ReduceSumInteger", 1, "u8[2, 2] = [200, 200, 1, 2]", "axes=[1] keepdims=0", "i32[2] = [400, 3]"},
      {"com.microsoft:QLinearAdd", 1, "u8[0] = []; f32[] = [1]; ; u8[1] = [1]; f32[] = [1]; ; f32[] = [1]", "",
       "u8[0] = []"},
      {"com.microsoft:DynamicQuantizeLSTM", 1,
       "f32[1, 1, 1] = [1]; i8[1, 1, 4] = [10, 10, 10, 10]; i8[1, 1, 4] = [0, 0, 0, 0]; ; ; ; ; ; f32[1] = [0.1]; "
       "i8[1] = [0]; f32[1] = [0.1]; i8[1] = [0]",
       "hidden_size=1", "f32[1, 1, 1, 1] = [0.369606]; f32[1, 1, 1] = [0.369606]; f32[1, 1, 1] = [0.55677]"},
  });
}

TEST(Microsoft, OtherKernels) {
  check_kernel_rows({
      {"com.microsoft:ComplexMul", 1, "f32[1, 2] = [1, 2]; f32[2, 2] = [3, 4, 0, 1]", "",
       "f32[2, 2] = [-5, 10, -2, 1]"},
      {"com.microsoft:ComplexMulConj", 1, "f16[1, 2] = [1, 2]; f16[1, 2] = [3, 4]", "", "f16[1, 2] = [11, 2]"},
      {"com.microsoft:Inverse", 1, "f64[2, 2] = [0, 2, 1, 0]", "", "f64[2, 2] = [0, 1, 0.5, 0]"},
      {"com.microsoft:Unique", 1, "f32[0] = []", "", "f32[0] = []; i64[0] = []; i64[0] = []"},
      {"com.microsoft:ExpandDims", 1, "string[1] = [a]; i32[] = [0]", "", "string[1, 1] = [a]"},
      {"com.microsoft:Tokenizer", 1, "string[1] = ['a b']", "separators=['['] mark=0 mincharnum=1 pad_value=_",
       "error[regex.syntax]"},
      {"com.microsoft:CDist", 1, "f32[1, 1] = [1]; f32[1, 1] = [4]", "metric=cosine", "error[cdist.metric]"},
  });
}

}  // namespace
}  // namespace anyshape::ops
