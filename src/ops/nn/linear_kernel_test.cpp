#include <gtest/gtest.h>

#include "ops/testing.h"

// Kernels of products, convolutions, pools and normalisations where ONNX's own cases have none: old versions, empty
// axes, rank 0, other element types, hostile attributes.
namespace anyshape::ops {
namespace {

TEST(MatMul, Kernels) {
  check_kernel_rows({
      {"MatMul", 13, "f32[3] = [1, 2, 3]; f32[3] = [4, 5, 6]", "", "f32[] = [32]"},
      {"MatMul", 13, "f16[1, 2] = [2048, 1]; f16[2, 1] = [1, 1]", "", "f16[1, 1] = [2048]"},
      {"MatMul", 13, "bf16[1, 3] = [256, 1, 1]; bf16[3, 1] = [1, 1, 1]", "", "bf16[1, 1] = [258]"},
      {"MatMul", 13, "f64[1, 2] = [0.5, nan]; f64[2, 1] = [1, 0]", "", "f64[1, 1] = [nan]"},
      {"MatMul", 9, "i32[1, 2] = [2147483647, 1]; i32[2, 1] = [1, 1]", "", "i32[1, 1] = [-2147483648]"},
      {"MatMul", 9, "u32[1, 1] = [4294967295]; u32[1, 1] = [2]", "", "u32[1, 1] = [4294967294]"},
      {"MatMul", 13, "f32[2, 0] = []; f32[0, 1] = []", "", "f32[2, 1] = [0, 0]"},
      {"MatMul", 13, "f32[0, 2] = []; f32[2, 1] = [1, 1]", "", "f32[0, 1] = []"},
      {"MatMul", 13, "f32[2, 1, 2] = [1, 2, 3, 4]; f32[2, 1] = [1, 10]", "", "f32[2, 1, 1] = [21, 43]"},
      {"MatMulInteger", 10, "u8[2, 2] = [1, 2, 3, 4]; i8[2, 1] = [-1, 1]; u8[2] = [1, 3]", "", "i32[2, 1] = [1, 1]"},
      {"QLinearMatMul", 10,
       "u8[1, 1] = [10]; f32[] = [1]; u8[] = [0]; u8[1, 2] = [1, 30]; f32[] = [1]; u8[] = [0]; f32[] = [4]; u8[] = [1]",
       "", "u8[1, 2] = [3, 76]"},
      {"QLinearMatMul", 10,
       "i8[1] = [100]; f32[] = [1]; i8[] = [0]; i8[1] = [100]; f32[] = [1]; i8[] = [0]; f32[] = [1]; i8[] = [0]", "",
       "i8[] = [127]"},
  });
}

TEST(Gemm, Kernels) {
  check_kernel_rows({
      {"Gemm", 6, "f32[1, 2] = [1, 2]; f32[2, 2] = [1, 0, 0, 1]; f32[2] = [10, 20]", "broadcast=1",
       "f32[1, 2] = [11, 22]"},
      {"Gemm", 7, "f32[1, 1] = [2]; f32[1, 2] = [3, 4]; f32[] = [1]", "alpha=0.5 beta=2.0", "f32[1, 2] = [5, 6]"},
      {"Gemm", 11, "i32[2, 1] = [1, 2]; i32[1, 2] = [3, 4]", "transA=1 transB=1", "i32[1, 1] = [11]"},
      {"Gemm", 13, "bf16[1, 1] = [3]; bf16[1, 1] = [3]", "", "bf16[1, 1] = [9]"},
      {"Gemm", 13, "f32[1, 0] = []; f32[0, 2] = []; f32[2] = [1, 2]", "", "f32[1, 2] = [1, 2]"},
      {"Gemm", 13, "f32[1, 1] = [1]; f32[1, 1] = [1]; f32[1] = [nan]", "beta=0.0", "f32[1, 1] = [1]"},
  });
}

TEST(Einsum, Kernels) {
  check_kernel_rows({
      {"Einsum", 12, "i8[2, 2] = [1, 2, 3, 4]", "equation=ii", "i8[] = [5]"},
      {"Einsum", 12, "u8[2] = [200, 100]; u8[2] = [1, 1]", "equation=i,i", "u8[] = [44]"},
      {"Einsum", 12, "f16[2, 1] = [1, 2]; f16[3] = [1, 2, 3]", "equation=ij,k->kij",
       "f16[3, 2, 1] = [1, 2, 2, 4, 3, 6]"},
      {"Einsum", 12, "f32[2, 1, 1] = [1, 2]; f32[1, 3, 1] = [1, 2, 3]", "equation=...i,...i",
       "f32[2, 3] = [1, 2, 3, 2, 4, 6]"},
      {"Einsum", 12, "f32[0] = []; f32[0] = []", "equation=i,i->", "f32[] = [0]"},
      {"Einsum", 12, "f32[0, 2] = []", "equation=ij->ji", "f32[2, 0] = []"},
      {"Einsum", 12, "f32[] = [3]; f32[2] = [1, 2]", "equation=',i->i'", "f32[2] = [3, 6]"},
      {"Det", 11, "f16[2, 2] = [1, 2, 3, 4]", "", "f16[] = [-2]"},
      {"Det", 11, "f32[2, 0, 0] = []", "", "f32[2] = [1, 1]"},
      {"Det", 11, "f64[1, 2, 2] = [0, 1, 1, 0]", "", "f64[1] = [-1]"},
  });
}

TEST(Conv, Kernels) {
  check_kernel_rows({
      {"Conv", 1, "f32[1, 1, 3] = [1, 2, 3]; f32[1, 1, 2] = [1, 10]", "auto_pad=SAME_LOWER",
       "f32[1, 1, 3] = [10, 21, 32]"},
      {"Conv", 1, "f32[1, 1, 3] = [1, 2, 3]; f32[1, 1, 2] = [1, 10]", "auto_pad=SAME_UPPER",
       "f32[1, 1, 3] = [21, 32, 3]"},
      {"Conv", 11, "f64[1, 2, 2] = [1, 2, 3, 4]; f64[2, 1, 1] = [10, 100]; f64[2] = [1, 2]", "group=2",
       "f64[1, 2, 2] = [11, 21, 302, 402]"},
      {"Conv", 22, "bf16[1, 1, 3] = [1, 2, 3]; bf16[1, 1, 2] = [1, 1]", "dilations=[2]", "bf16[1, 1, 1] = [4]"},
      {"Conv", 11, "f32[0, 1, 3] = []; f32[1, 1, 2] = [1, 1]", "", "f32[0, 1, 2] = []"},
      {"Conv", 11, "f32[1, 1, 1] = [1]; i32[1, 1, 1] = [1]", "", "error[dtype]"},
      {"ConvInteger", 10, "u8[1, 1, 2] = [1, 2]; i8[2, 1, 1] = [1, 2]; u8[] = [1]; i8[2] = [0, 1]", "",
       "i32[1, 2, 2] = [0, 1, 0, 1]"},
      {"ConvTranspose", 1, "f32[1, 1, 2] = [1, 2]; f32[1, 1, 2] = [1, 10]", "strides=[2] output_padding=[1]",
       "f32[1, 1, 5] = [1, 10, 2, 20, 0]"},
      {"ConvTranspose", 11, "f16[1, 1, 2] = [1, 2]; f16[1, 1, 3] = [1, 10, 100]", "output_shape=[2]",
       "f16[1, 1, 2] = [12, 120]"},
      {"ConvTranspose", 11, "f32[1, 1, 2] = [1, 2]; f32[1, 1, 3] = [1, 10, 100]",
       "output_shape=[3] auto_pad=SAME_UPPER", "f32[1, 1, 3] = [1, 12, 120]"},
      {"DeformConv", 19, "f32[1, 1, 2] = [1, 3]; f32[1, 1, 1] = [2]; f32[1, 1, 2] = [0.5, nan]", "",
       "f32[1, 1, 2] = [4, 0]"},
      {"CausalConvWithState", 27, "f16[1, 1, 2] = [1, 2]; f16[1, 1, 2] = [10, 1]; ; f16[1, 1, 1] = [3]", "",
       "f16[1, 1, 2] = [31, 12]; f16[1, 1, 1] = [2]"},
  });
}

TEST(Pool, Kernels) {
  check_kernel_rows({
      {"MaxPool", 1, "f32[1, 1, 3] = [1, nan, 2]", "kernel_shape=[2]", "f32[1, 1, 2] = [1, 2]"},
      {"MaxPool", 12, "u8[1, 2, 2] = [1, 2, 9, 3]", "kernel_shape=[2]", "u8[1, 2, 1] = [2, 9]; i64[1, 2, 1] = [1, 2]"},
      {"MaxPool", 8, "f16[1, 1, 2, 2] = [1, 2, 3, 0]", "kernel_shape=[1, 1] storage_order=1",
       "f16[1, 1, 2, 2] = [1, 2, 3, 0]; i64[1, 1, 2, 2] = [0, 2, 1, 3]"},
      {"MaxPool", 12, "f32[0, 1, 2] = []", "kernel_shape=[2]", "f32[0, 1, 1] = []"},
      {"MaxPool", 12, "f32[1, 1, 1] = [1]", "kernel_shape=[2000000000] pads=[1999999999, 0]", "error[kernel.window]"},
      {"AveragePool", 1, "f32[1, 1, 2] = [2, 4]", "kernel_shape=[2] pads=[1, 1]", "f32[1, 1, 3] = [2, 3, 4]"},
      {"AveragePool", 7, "f32[1, 1, 2] = [2, 4]", "kernel_shape=[2] pads=[1, 1] count_include_pad=1",
       "f32[1, 1, 3] = [1, 3, 2]"},
      {"AveragePool", 22, "bf16[1, 1, 4] = [2, 4, 6, 8]", "kernel_shape=[3] strides=[2] ceil_mode=1",
       "bf16[1, 1, 2] = [4, 7]"},
      {"LpPool", 1, "f32[1, 1, 2] = [3, -4]", "kernel_shape=[2] p=2.0", "f32[1, 1, 1] = [5]"},
      {"LpPool", 11, "f64[1, 1, 3] = [3, -4, 1]", "kernel_shape=[2] p=1", "f64[1, 1, 2] = [7, 5]"},
      {"LpPool", 11, "f32[1, 1, 6] = [1, 2, 3, 4, 5, 6]", "kernel_shape=[1] strides=[3] auto_pad=SAME_UPPER",
       "f32[1, 1, 2] = [2, 5]"},
      {"GlobalLpPool", 1, "f32[1, 1, 2] = [3, 4]", "p=2.0", "f32[1, 1, 1] = [5]"},
      {"GlobalMaxPool", 22, "bf16[1, 2, 2] = [3, 4, 6, 5]", "", "bf16[1, 2, 1] = [4, 6]"},
      {"GlobalAveragePool", 1, "f64[1, 1, 2, 2] = [1, 2, 3, 4]", "", "f64[1, 1, 1, 1] = [2.5]"},
      {"MaxUnpool", 9, "f32[1, 1, 1] = [7]; i64[1, 1, 1] = [1]", "kernel_shape=[2]", "f32[1, 1, 2] = [0, 7]"},
      {"MaxUnpool", 9, "f32[1, 1, 1] = [7]; i64[1, 1, 1] = [2]", "kernel_shape=[2]", "error[maxunpool.index]"},
      {"MaxUnpool", 9, "f32[1, 1, 1] = [7]; i64[1, 1, 1] = [-1]", "kernel_shape=[2]", "error[maxunpool.index]"},
  });
}

TEST(Normalization, Kernels) {
  constexpr auto kBatch = "f32[2, 1, 1] = [1, 3]; f32[1] = [2]; f32[1] = [1]; f32[1] = [0]; f32[1] = [4]";
  check_kernel_rows({
      {"BatchNormalization", 1, kBatch, "epsilon=0.0 is_test=1", "f32[2, 1, 1] = [2, 4]"},
      {"BatchNormalization", 6, kBatch, "epsilon=0.0", "f32[2, 1, 1] = [2, 4]"},
      {"BatchNormalization", 9, kBatch, "epsilon=0.0 momentum=0.5",
       "f32[2, 1, 1] = [-1, 3]; f32[1] = [1]; f32[1] = [2.5]; f32[1] = [2]; f32[1] = [1]"},
      {"BatchNormalization", 14, kBatch, "epsilon=0.0 momentum=0.5 training_mode=1",
       "f32[2, 1, 1] = [-1, 3]; f32[1] = [1]; f32[1] = [2.5]"},
      {"BatchNormalization", 7,
       "f32[1, 1, 2] = [1, 3]; f32[1, 2] = [1, 10]; f32[1, 2] = [0, 5]; f32[1, 2] = [0, 1]; f32[1, 2] = [1, 4]",
       "epsilon=0.0 spatial=0", "f32[1, 1, 2] = [1, 15]"},
      {"BatchNormalization", 15, "f16[2] = [1, 3]; f32[1] = [2]; f32[1] = [1]; f64[1] = [0]; f64[1] = [4]",
       "epsilon=0.0", "f16[2] = [2, 4]"},
      {"InstanceNormalization", 1, "f64[1, 2, 2] = [1, 3, 10, 30]; f64[2] = [1, 2]; f64[2] = [0, 5]", "epsilon=0.0",
       "f64[1, 2, 2] = [-1, 1, 3, 7]"},
      {"GroupNormalization", 18, "f32[1, 2, 1] = [1, 3]; f32[1] = [2]; f32[1] = [1]", "epsilon=0.0 num_groups=1",
       "f32[1, 2, 1] = [-1, 3]"},
      {"GroupNormalization", 21, "f32[1, 2, 1] = [1, 3]; f32[2] = [2, 3]; f32[2] = [1, 0]", "epsilon=0.0 num_groups=1",
       "f32[1, 2, 1] = [-1, 3]"},
      {"LayerNormalization", 17, "f16[2, 2] = [1, 3, 0, 4]; f16[2] = [1, 1]", "epsilon=0.0",
       "f16[2, 2] = [-1, 1, -1, 1]; f32[2, 1] = [2, 2]; f32[2, 1] = [1, 0.5]"},
      {"LayerNormalization", 17, "f32[0, 2] = []; f32[2] = [1, 1]", "", "f32[0, 2] = []"},
      {"RMSNormalization", 23, "f16[1, 2] = [3, -3]; f32[2] = [1, 2]", "epsilon=0.0", "f32[1, 2] = [1, -2]"},
      {"LpNormalization", 1, "f32[2, 2] = [3, 4, 0, 0]", "", "f32[2, 2] = [0.6, 0.8, 0, 0]"},
      {"LpNormalization", 22, "bf16[2] = [1, -3]", "p=1", "bf16[2] = [0.25, -0.75]"},
      {"LRN", 1, "f64[1, 3, 1] = [1, 2, 3]", "size=2 alpha=2.0 beta=1.0 bias=0.0",
       "f64[1, 3, 1] = [0.2, 0.153846, 0.333333]"},
      {"LRN", 13, "f32[1, 1, 1] = [2]", "size=9223372036854775807 alpha=0.0 beta=1.0 bias=2.0", "f32[1, 1, 1] = [1]"},
      {"MeanVarianceNormalization", 9, "f32[1, 2] = [1, 3]", "axes=[1]", "f32[1, 2] = [-1, 1]"},
  });
}

TEST(Softmax, Kernels) {
  check_kernel_rows({
      {"Softmax", 1, "f32[1, 2, 2] = [1, 1, 1, 1]", "", "f32[1, 2, 2] = [0.25, 0.25, 0.25, 0.25]"},
      {"Softmax", 11, "f16[1, 2, 2] = [1, 1, 1, 1]", "axis=2", "f16[1, 2, 2] = [0.5, 0.5, 0.5, 0.5]"},
      {"Softmax", 13, "f64[2, 1] = [1, 1]", "axis=0", "f64[2, 1] = [0.5, 0.5]"},
      {"Softmax", 13, "f32[2] = [inf, 1]", "", "f32[2] = [nan, nan]"},
      {"Softmax", 13, "f32[0, 2] = []", "axis=0", "f32[0, 2] = []"},
      {"Softmax", 13, "f32[] = [1]", "", "error[axis.range]"},
      {"LogSoftmax", 13, "f32[2] = [0, 1000]", "", "f32[2] = [-1000, 0]"},
      {"Hardmax", 11, "f32[1, 2, 2] = [1, 3, 3, 2]", "", "f32[1, 2, 2] = [0, 1, 0, 0]"},
      {"Hardmax", 13, "bf16[3] = [1, nan, 3]", "", "bf16[3] = [0, 1, 0]"},
  });
}

TEST(Loss, Kernels) {
  check_kernel_rows({
      {"NegativeLogLikelihoodLoss", 12, "f32[2, 2] = [1, 2, 3, 4]; i32[2] = [0, 1]; f32[2] = [1, 3]", "",
       "f32[] = [-3.25]"},
      {"NegativeLogLikelihoodLoss", 12, "f32[2, 2] = [1, 2, 3, 4]; i64[2] = [0, 7]", "ignore_index=7 reduction=none",
       "f32[2] = [-1, 0]"},
      {"NegativeLogLikelihoodLoss", 12, "f32[1, 2] = [1, 2]; i64[1] = [2]", "", "error[loss.label]"},
      {"NegativeLogLikelihoodLoss", 12, "f32[1, 2] = [1, 2]; i64[1] = [-1]", "", "error[loss.label]"},
      {"NegativeLogLikelihoodLoss", 22, "bf16[1, 2, 1] = [1, 2]; i64[1, 1] = [1]", "reduction=sum", "bf16[] = [-2]"},
      {"SoftmaxCrossEntropyLoss", 12, "f64[1, 2] = [0, 0]; i64[1] = [1]", "ignore_index=1", "f64[] = [nan]"},
  });
}

TEST(Dropout, Kernels) {
  check_kernel_rows({
      {"Dropout", 6, "f32[2] = [1, 2]", "is_test=1", "f32[2] = [1, 2]"},
      {"Dropout", 7, "f16[2] = [1, 2]", "ratio=0.9", "f16[2] = [1, 2]; f16[2] = [1, 1]"},
      {"Dropout", 10, "f64[2] = [1, 2]", "", "f64[2] = [1, 2]; bool[2] = [1, 1]"},
      {"Dropout", 13, "bf16[1] = [2]; f32[] = [0]; bool[] = [1]", "", "bf16[1] = [2]; bool[1] = [1]"},
      {"Dropout", 13, "f32[1] = [2]; f32[] = [1]; bool[] = [1]", "", "error[dropout.ratio]"},
      {"Dropout", 13, "f32[1] = [2]; f32[] = [nan]; bool[] = [1]", "", "error[dropout.ratio]"},
      {"Dropout", 13, "f32[4] = [1, 1, 1, 1]; f32[] = [0.5]; bool[] = [1]", "seed=0",
       "f32[4] = [2, 2, 2, 2]; bool[4] = [1, 1, 1, 1]"},
      {"Dropout", 13, "f32[3] = [1, 1, 1]; f32[] = [0.5]; bool[] = [1]", "seed=1",
       "f32[3] = [0, 2, 0]; bool[3] = [0, 1, 0]"},
  });
}

}  // namespace
}  // namespace anyshape::ops
