#include <gtest/gtest.h>

#include "run/cpu/kernels/testing.h"

namespace anyshape::cpu {
namespace {

TEST(CpuKernels, MatMul) {
  check_kernels({
      {"MatMul", 13, "f32[3, 4]; f32[4, 5]"},
      {"MatMul", 13, "f32[3, 4]; const f32[4, 5]"},
      {"MatMul", 13, "f32[1, 300]; const f32[300, 260]"},
      {"MatMul", 13, "f32[70, 500]; const f32[500, 90]"},
      {"MatMul", 13, "f32[70, 500]; f32[500, 90]"},
      {"MatMul", 13, "f32[2, 3, 4]; const f32[4, 5]"},
      {"MatMul", 13, "f32[2, 3, 4]; f32[4, 5]"},
      {"MatMul", 13, "f32[2, 1, 3, 4]; f32[5, 4, 6]"},
      {"MatMul", 13, "f32[2, 1, 3, 4]; const f32[5, 4, 6]"},
      {"MatMul", 13, "f32[3, 4]; const f32[5, 4, 6]"},
      {"MatMul", 13, "f32[2, 64, 1, 17]; const f32[17, 40]"},
      {"MatMul", 13, "f32[64, 1, 17]; f32[1, 17, 40]"},
      {"MatMul", 13, "f32[8, 17, 33]; f32[8, 33, 40]"},
      {"MatMul", 13, "f32[64, 64, 64]; f32[64, 64, 64]"},
      {"MatMul", 13, "f32[4]; f32[4]"},
      {"MatMul", 13, "f32[4]; const f32[4]"},
      {"MatMul", 13, "f32[4]; f32[2, 4, 3]"},
      {"MatMul", 13, "f32[2, 3, 4]; f32[4]"},
      {"MatMul", 13, "f32[2, 3, 4]; const f32[4]"},
      {"MatMul", 13, "f32[3, 0]; f32[0, 5]"},
      {"MatMul", 13, "f32[0, 4]; const f32[4, 5]"},
      {"MatMul", 13, "f32[0, 3, 4]; f32[4, 5]"},
      {"MatMul", 13, "f32[3, 4]; f32[4, 0]"},
  });
}

TEST(CpuKernels, Gemm) {
  for (const char* b : {"f32", "const f32"}) {
    const std::string c = std::string(b) + "[7, 9]", t = std::string(b) + "[9, 7]";
    check_kernels({
        {"Gemm", 13, "f32[5, 7]; " + c},
        {"Gemm", 13, "f32[5, 7]; " + c + "; f32[9]"},
        {"Gemm", 13, "f32[5, 7]; " + c + "; f32[5, 1]", "alpha=0.5 beta=0.25"},
        {"Gemm", 13, "f32[5, 7]; " + c + "; f32[5, 9]", "beta=2.0"},
        {"Gemm", 13, "f32[5, 7]; " + c + "; f32[]"},
        {"Gemm", 13, "f32[5, 7]; " + c + "; f32[1]"},
        {"Gemm", 13, "f32[7, 5]; " + c + "; f32[9]", "transA=1"},
        {"Gemm", 13, "f32[7, 5]; " + t + "; f32[1, 9]", "transA=1 transB=1 alpha=-1.5"},
        {"Gemm", 13, "f32[1, 7]; " + t + "; f32[9]", "transB=1"},
        {"Gemm", 13, "f32[130, 7]; " + t + "; f32[9]", "transB=1"},
        {"Gemm", 13, "f32[0, 7]; " + t + "; f32[9]", "transB=1"},
    });
  }
  EXPECT_EQ(refusal_of({"Gemm", 13, "i64[2, 2]; i64[2, 2]"}), "its element type is not f64");
}

TEST(CpuKernels, FusedProducts) {
  for (const std::string b : {"f32", "const f32"}) {
    check_kernels({
        {"anyshape:FusedMatMul", 1, "f32[3, 4]; " + b + "[4, 5]; f32[5]"},
        {"anyshape:FusedMatMul", 1, "f32[2, 30, 40]; " + b + "[40, 70]; f32[1, 70]; f32[2, 30, 70]", "activation=Relu"},
        {"anyshape:FusedMatMul", 1, "f32[2, 3, 4]; " + b + "[2, 4, 37]; ; f32[2, 3, 37]", "activation=Tanh alpha=0.5"},
        {"anyshape:FusedMatMul", 1, "f32[1, 3, 4]; " + b + "[2, 4, 7]; f32[7]; f32[2, 3, 7]", "activation=Silu"},
        {"anyshape:FusedMatMul", 1, "f32[70, 500]; " + b + "[500, 90]; f32[90]; f32[70, 90]", "activation=Gelu"},
        {"anyshape:FusedMatMul", 1, "f32[4]; " + b + "[4, 5]; f32[5]; f32[5]", "activation=HardSwish"},
        {"anyshape:FusedMatMul", 1, "f32[0, 4]; " + b + "[4, 5]; f32[5]; f32[0, 5]"},
        {"anyshape:FusedGemm", 1, "f32[5, 7]; " + b + "[7, 9]; f32[9]; f32[5, 9]", "activation=GeluTanh"},
        {"anyshape:FusedGemm", 1, "f32[7, 5]; " + b + "[9, 7]; f32[5, 1]; f32[5, 9]",
         "transA=1 transB=1 alpha=0.5 beta=2.0 activation=Clip activation_params=[-0.5,0.75]"},
        {"anyshape:FusedGemm", 1, "f32[1, 300]; " + b + "[300, 260]; f32[260]", "activation=Sigmoid"},
    });
  }
}

TEST(CpuKernels, ConvTranspose) {
  check_kernels({
      {"ConvTranspose", 11, "f32[2, 3, 5, 6]; f32[3, 4, 2, 2]; f32[4]", "strides=[2,2]"},
      {"ConvTranspose", 11, "f32[1, 64, 20, 20]; const f32[64, 32, 2, 2]; f32[32]", "strides=[2,2]"},
      {"ConvTranspose", 11, "f32[2, 6, 5, 7]; f32[6, 2, 3, 4]; f32[4]", "strides=[2,3] group=2 pads=[1,0,1,2]"},
      {"ConvTranspose", 11, "f32[1, 3, 5, 7]; f32[3, 2, 3, 3]", "dilations=[2,1] output_padding=[0,0]"},
      {"ConvTranspose", 11, "f32[1, 3, 5, 7]; f32[3, 2, 3, 3]", "strides=[2,2] pads=[1,1,1,1] output_padding=[1,1]"},
      {"ConvTranspose", 11, "f32[1, 3, 5, 7]; f32[3, 2, 3, 3]", "strides=[2,2] output_shape=[10,14]"},
      {"ConvTranspose", 11, "f32[1, 3, 5, 7]; f32[3, 2, 3, 3]", "strides=[2,2] auto_pad=SAME_UPPER"},
      {"ConvTranspose", 11, "f32[1, 3, 5, 7]; f32[3, 2, 3, 3]", "strides=[2,2] auto_pad=SAME_LOWER"},
      {"ConvTranspose", 11, "f32[1, 3, 50]; f32[3, 2, 4]", "strides=[3]"},
      {"ConvTranspose", 11, "f32[0, 3, 5, 7]; f32[3, 2, 3, 3]"},
  });
}

TEST(CpuKernels, ElementwiseBroadcasts) {
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Pow"}) {
    const float size = std::string(op) == "Pow" ? 0.5f : 2.0f;
    check_kernels({
        {op, 14, "f32[3, 4]; f32[3, 4]", "", 1, 1e-5, size},
        {op, 14, "f32[3, 4]; f32[4]", "", 1, 1e-5, size},
        {op, 14, "f32[3, 1, 5]; f32[2, 1]", "", 1, 1e-5, size},
        {op, 14, "f32[]; f32[2, 1]", "", 1, 1e-5, size},
        {op, 14, "f32[]; f32[]", "", 1, 1e-5, size},
        {op, 14, "f32[0, 3]; f32[1, 3]", "", 1, 1e-5, size},
        {op, 14, "f32[70, 300]; f32[70, 1]", "", 1, 1e-5, size},
        {op, 14, "f32[1, 300]; f32[70, 1]", "", 1, 1e-5, size},
        {op, 14, "f32[2, 3, 4, 5, 6]; f32[3, 1, 5, 1]", "", 1, 1e-5, size},
        {op, 14, "f32[200, 333]; f32[200, 333]", "", 1, 1e-5, size},
    });
  }
  for (const char* op : {"Add", "Sub", "Mul"})
    check_kernels({{op, 14, "i64[3, 4]; i64[4]"}, {op, 14, "i32[3, 4]; i32[3, 1]"}, {op, 14, "f64[9]; f64[9]"}});
  EXPECT_NE(refusal_of({"Div", 14, "i64[3]; i64[3]"}), "");
  EXPECT_NE(refusal_of({"Add", 6, "f32[3]; f32[3]", "broadcast=1"}), "");
}

TEST(CpuKernels, ElementwiseUnary) {
  for (const char* op : {"Abs", "Neg", "Ceil", "Floor", "Round", "Exp", "Erf", "Relu", "Sigmoid", "Sign", "Tanh",
                         "Reciprocal", "Sqrt", "Log"})
    check_kernels({{op, 13, "f32[3, 7]", "", 1, 1e-6}, {op, 13, "f32[2000]", "", 1, 1e-6}, {op, 13, "f32[]"}});
  for (const char* op :
       {"Softplus", "Softsign", "Selu", "Elu", "LeakyRelu", "HardSigmoid", "ThresholdedRelu", "Celu", "Sin", "Cos"})
    check_kernels({{op, 22, "f32[3, 7]", "", 1, 1e-6}, {op, 22, "f32[2000]", "", 1, 1e-6}});
  check_kernels({
      {"Gelu", 20, "f32[500]"},
      {"Gelu", 20, "f32[500]", "approximate=tanh"},
      {"HardSwish", 14, "f32[500]"},
      {"Mish", 18, "f32[500]"},
      {"Swish", 24, "f32[500]", "alpha=0.5"},
      {"Elu", 6, "f32[500]", "alpha=0.5"},
      {"HardSigmoid", 6, "f32[500]", "alpha=0.5 beta=0.25"},
      {"Abs", 13, "i64[500]"},
      {"PRelu", 16, "f32[4, 3, 5]; f32[3, 1]"},
  });
  EXPECT_NE(refusal_of({"Tanh", 13, "f16[3]"}), "");
}

TEST(CpuKernels, ElementwiseOthers) {
  check_kernels({
      {"Clip", 13, "f32[3, 5]; f32[]; f32[]"},
      {"Clip", 13, "f32[3, 5]; const f32[] = [-0.5]"},
      {"Clip", 13, "f32[3, 5]; ; f32[]"},
      {"Clip", 13, "f32[3, 5]"},
      {"Clip", 13, "i64[3, 5]; const i64[] = [2]; const i64[] = [4]"},
      {"Clip", 6, "f32[3, 5]", "min=-0.5 max=0.25"},
      {"Where", 16, "bool[3, 1]; f32[3, 5]; f32[5]"},
      {"Where", 16, "bool[3, 200]; f32[]; f32[3, 200]"},
      {"Where", 16, "bool[3]; i64[3]; i64[1]"},
      {"Where", 16, "bool[3]; bool[3]; bool[1]"},
      {"Max", 13, "f32[3, 5]; f32[5]; f32[3, 1]"},
      {"Min", 13, "f32[3, 5]"},
      {"Mean", 13, "f32[3, 5]; f32[5]; f32[3, 1]"},
      {"Sum", 13, "f32[3, 5]; f32[5]; f32[3, 1]; f32[1]"},
      {"Less", 13, "f32[3, 5]; f32[5]"},
      {"Equal", 13, "i64[30, 50]; i64[50]"},
      {"GreaterOrEqual", 16, "i32[3, 5]; i32[5]"},
      {"And", 7, "bool[3, 5]; bool[5]"},
      {"Xor", 7, "bool[3, 5]; bool[5]"},
      {"Not", 1, "bool[3, 5]"},
      {"IsNaN", 13, "f32[3, 5]"},
  });
}

TEST(CpuKernels, FusedElementwise) {
  check_kernels({
      // relu((a + b) * 0.5) - b
      {"anyshape:Elementwise", 1, "f32[7, 300]; f32[300]", "code=[1,0,1,0,3,3,2,0,20,4,0,0,2,5,1,0] constants=[0.5]"},
      {"anyshape:Elementwise", 1, "f32[7, 3]; f32[7, 1]", "code=[1,0,1,0,3,3,2,0,20,4,0,0,2,5,1,0] constants=[0.5]"},
      // where(a < b, tanh(a), b)
      {"anyshape:Elementwise", 1, "f32[7, 3]; f32[3]", "code=[36,0,1,0,15,0,0,0,35,2,3,1]"},
      // a < b
      {"anyshape:Elementwise", 1, "i64[7, 3]; i64[3]", "code=[36,0,1,0]"},
  });
}

TEST(CpuKernels, Softmax) {
  for (const char* op : {"Softmax", "LogSoftmax"})
    check_kernels({
        {op, 13, "f32[3, 7]"},
        {op, 13, "f32[3, 4, 1000]", "axis=2"},
        {op, 13, "f32[5]"},
        {op, 13, "f32[3, 0]"},
        {op, 13, "f32[0, 3]"},
        {op, 11, "f32[3, 4, 5]"},
        {op, 11, "f32[3, 4, 5]", "axis=0"},
        {op, 13, "f32[3, 4, 5]", "axis=1"},
        {op, 13, "f32[7, 300]", "axis=0"},
        {op, 13, "f32[3, 40, 1]", "axis=1"},
        {op, 13, "f32[3, 0, 5]", "axis=1"},
        {op, 13, "f32[3, 5, 0]", "axis=1"},
    });
  EXPECT_EQ(refusal_of({"Softmax", 13, "f16[3, 4]"}), "its element type is not f32");
}

TEST(CpuKernels, Normalization) {
  check_kernels({
      {"LayerNormalization", 17, "f32[3, 4, 50]; f32[50]; f32[50]", "", 3, 1e-5},
      {"LayerNormalization", 17, "f32[3, 4, 5]; f32[4, 5]; f32[1, 4, 5]", "axis=1 epsilon=0.1"},
      {"LayerNormalization", 17, "f32[3, 4, 5]; f32[5]"},
      {"LayerNormalization", 17, "f32[3, 4, 5]; f32[1]; f32[]"},
      {"LayerNormalization", 17, "f32[300, 200]; f32[200]; f32[200]"},
      {"RMSNormalization", 23, "f32[3, 4, 50]; f32[50]"},
  });
  EXPECT_NE(refusal_of({"LayerNormalization", 17, "f32[3, 4, 5]; f32[4, 1]", "axis=1"}), "");
}

TEST(CpuKernels, Reduce) {
  for (const char* op :
       {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceSumSquare", "ReduceL1", "ReduceL2", "ReduceLogSumExp"})
    check_kernels({
        {op, 13, "f32[3, 4, 5]", "axes=[0,2]"},
        {op, 13, "f32[3, 40, 5, 7]", "axes=[0,2,3] keepdims=0"},
        {op, 13, "f32[3, 4, 5, 20, 2]", "axes=[0,2,4]"},
        {op, 13, "f32[3, 4, 5, 6]", "axes=[1,3] keepdims=0"},
        {op, 13, "f32[3, 4, 50]", "axes=[-1]"},
        {op, 13, "f32[3, 4, 5]", "axes=[1,2] keepdims=0"},
        {op, 13, "f32[3, 4, 50]", "axes=[1]"},
        {op, 13, "f32[3, 4, 5]", "axes=[0]"},
        {op, 13, "f32[3, 4, 5]"},
        {op, 13, "f32[]"},
        {op, 18, "f32[3, 400, 50]; const i64[1] = [1]"},
        {op, 18, "f32[30, 400, 50]; const i64[2] = [-1, 1]"},
    });
  check_kernels({{"ReduceSum", 13, "f32[3, 4, 50]; const i64[1] = [-1]"},
                 {"ReduceSum", 13, "f32[3, 0, 5]; const i64[1] = [1]"},
                 {"GlobalAveragePool", 1, "f32[2, 3, 4, 5]"},
                 {"GlobalMaxPool", 1, "f32[2, 3, 40]"}});
  check_kernels({{"ReduceSum", 13, "f32[3, 0, 5]; const i64[2] = [0, 2]"},
                 {"ReduceSum", 13, "f32[0, 4, 0]; const i64[2] = [0, 2]"},
                 {"ReduceLogSum", 18, "f32[3, 2, 2] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0]; const i64[2] = [0, 2]"},
                 {"ReduceLogSum", 18, "f32[2, 3] = [1, 2, 3, 0, 0, 0]; const i64[1] = [1]"},
                 {"ReduceLogSumExp", 18, "f32[4, 2] = [1000, 1000, inf, 1, -inf, -inf, nan, 1]; const i64[1] = [1]"},
                 {"ReduceLogSumExp", 18, "f32[2, 3] = [1000, -inf, inf, -1000, -inf, 1]; const i64[1] = [0]"},
                 {"ReduceLogSumExp", 18, "f32[2, 0]; const i64[1] = [1]"}});
  EXPECT_NE(refusal_of({"ReduceMean", 18, "f32[3, 4, 5]; i64[1]"}), "");
}

TEST(CpuKernels, Movement) {
  check_kernels({
      {"Transpose", 13, "f32[3, 4]"},
      {"Transpose", 13, "f32[70, 90]"},
      {"Transpose", 13, "f32[2, 3, 4, 5]", "perm=[0,2,1,3]"},
      {"Transpose", 13, "f32[20, 30, 40]", "perm=[2,0,1]"},
      {"Transpose", 13, "i64[2, 3, 4]", "perm=[1,2,0]"},
      {"Transpose", 13, "bool[2, 3, 40]", "perm=[2,1,0]"},
      {"Transpose", 13, "f64[0, 3]"},
      {"Transpose", 13, "f32[]"},
      {"Expand", 13, "f32[3, 1]; const i64[3] = [2, 1, 6]"},
      {"Expand", 13, "i64[]; const i64[2] = [70, 80]"},
      {"Concat", 13, "f32[3, 4]; f32[3, 2]", "axis=1"},
      {"Concat", 13, "f32[3, 4]; f32[0, 4]; f32[2, 4]", "axis=0"},
      {"Concat", 13, "i64[2, 3, 4]; i64[2, 5, 4]", "axis=-2"},
      {"Gather", 13, "f32[5, 4]; i64[3] = [4, -1, 0]"},
      {"Gather", 13, "f32[3, 5, 2]; i32[2, 2] = [4, -5, 0, 1]", "axis=1"},
      {"Gather", 13, "i64[5]; i64[] = [2]"},
      {"Tile", 13, "f32[3, 4]; const i64[2] = [2, 3]"},
      {"Tile", 13, "i64[2, 1, 50]; const i64[3] = [1, 70, 2]"},
      {"Tile", 13, "bool[3, 0]; const i64[2] = [2, 3]"},
      {"Tile", 13, "u8[3, 4]; const i64[2] = [2, 0]"},
      {"Tile", 13, "f64[]; const i64[0]"},
  });
  for (const char* mode : {"blocksize=2 mode=DCR", "blocksize=2 mode=CRD", "blocksize=1"})
    check_kernels({
        {"DepthToSpace", 13, "f32[2, 12, 3, 5]", mode, 1, 0},
        {"DepthToSpace", 13, "i64[1, 8, 40, 30]", mode},
        {"DepthToSpace", 13, "u8[2, 4, 0, 5]", mode},
        {"SpaceToDepth", 28, "f32[2, 3, 6, 10]", mode, 1, 0},
        {"SpaceToDepth", 28, "i64[1, 8, 40, 30]", mode},
    });
  check_kernels({{"SpaceToDepth", 13, "f32[2, 3, 6, 9]", "blocksize=3", 1, 0}});
}

TEST(CpuKernels, Conv) {
  check_kernels({
      {"Conv", 11, "f32[1, 3, 8, 9]; const f32[5, 3, 3, 3]; f32[5]", "pads=[1,1,1,1]"},
      {"Conv", 11, "f32[2, 3, 8, 9]; const f32[5, 3, 3, 2]", "strides=[2,1] dilations=[1,2]"},
      {"Conv", 11, "f32[2, 4, 30]; const f32[6, 2, 3]; f32[6]", "group=2 pads=[2,0]"},
      {"Conv", 11, "f32[2, 4, 9, 7]; const f32[4, 1, 3, 3]; f32[4]", "group=4 auto_pad=SAME_UPPER strides=[2,2]"},
      {"Conv", 11, "f32[2, 4, 9, 8]; const f32[4, 4, 4, 2]; f32[4]", "auto_pad=SAME_LOWER strides=[2,3]"},
      {"Conv", 11, "f32[1, 16, 12, 12]; const f32[40, 16, 1, 1]; f32[40]"},
      {"Conv", 11, "f32[1, 300, 20, 20]; const f32[20, 300, 1, 1]"},
      {"Conv", 11, "f32[1, 4, 9]; const f32[2, 4, 3]", "auto_pad=VALID"},
      {"Conv", 11, "f32[0, 3, 8, 9]; const f32[5, 3, 3, 3]"},
  });
  EXPECT_EQ(refusal_of({"Conv", 11, "f32[1, 4, 9]; f32[2, 4, 3]"}), "the weights are not constant");
  EXPECT_NE(refusal_of({"ConvTranspose", 11, "f64[1, 4, 9]; f64[4, 2, 3]"}), "");
  EXPECT_NE(refusal_of({"ConvTranspose", 11, "f32[1, 4, 5, 6, 7, 2]; f32[4, 2, 3, 3, 3, 1]"}), "");
  EXPECT_NE(refusal_of({"Conv", 11, "f32[1, 4, 5, 6, 7, 2]; const f32[4, 4, 3, 3, 3, 1]"}), "");
}

TEST(CpuKernels, ConvWithActivation) {
  const std::string conv = "com.microsoft:FusedConv", two = "f32[2, 3, 8, 9]; const f32[5, 3, 3, 3]; f32[5]";
  for (const char* activation :
       {"Relu", "Sigmoid", "Tanh", "Clip activation_params=[-0.5,0.75]", "LeakyRelu activation_params=[0.2]"}) {
    const std::string attributes = std::string(" activation=") + activation;
    check_kernels({
        {conv, 1, two, "pads=[1,1,1,1]" + attributes},
        {conv, 1, "f32[2, 4, 9, 7]; const f32[4, 1, 3, 3]; f32[4]", "group=4" + attributes},
        // Activations make entries small, but not the rounding of long sums.
        {conv, 1, "f32[1, 300, 20, 20]; const f32[20, 300, 1, 1]", attributes, 1, 1e-5, 0.5f},
        {conv, 1, "f32[2, 4, 30]; const f32[6, 2, 3]; f32[6]", "group=2 pads=[2,0]" + attributes},
        {conv, 1, "f32[1, 4, 6, 6]; const f32[8, 4, 1, 1]; f32[8]; f32[1, 8, 6, 6]", attributes},
    });
  }
  check_kernels({{conv, 1, two, ""}});
  for (const char* activation : {"HardSigmoid", "Clip", "LeakyRelu"})
    EXPECT_EQ(refusal_of({conv, 1, two, std::string("activation=") + activation}),
              "its activation is none of those computed with it");
}

TEST(CpuKernels, Pool) {
  for (const char* op : {"MaxPool", "AveragePool"})
    check_kernels({
        {op, 19, "f32[2, 3, 9, 11]", "kernel_shape=[3, 2]", 1, 0},
        {op, 19, "f32[2, 3, 9, 11]", "kernel_shape=[3, 3] strides=[2, 2] pads=[1, 1, 1, 1]", 1, 0},
        {op, 19, "f32[1, 2, 9, 10]", "kernel_shape=[3, 3] strides=[2, 3] pads=[1, 0, 2, 1] ceil_mode=1", 1, 0},
        {op, 19, "f32[1, 2, 9, 10]", "kernel_shape=[2, 3] dilations=[2, 3] strides=[1, 2] pads=[1, 2, 1, 2]", 1, 0},
        {op, 19, "f32[1, 2, 9, 10]", "kernel_shape=[3, 2] strides=[2, 2] auto_pad=SAME_UPPER", 1, 0},
        {op, 19, "f32[1, 2, 9, 10]", "kernel_shape=[3, 2] strides=[2, 2] auto_pad=SAME_LOWER", 1, 0},
        {op, 19, "f32[1, 2, 9, 10]", "kernel_shape=[3, 2] auto_pad=VALID", 1, 0},
        {op, 19, "f32[3, 4, 50]", "kernel_shape=[4] strides=[3] pads=[2, 1]", 1, 0},
        {op, 19, "f32[3, 4, 5]", "kernel_shape=[2] dilations=[4] pads=[1, 1]", 1, 0},
        {op, 19, "f32[0, 4, 50]", "kernel_shape=[4]", 1, 0},
        {op, 19, "f32[4, 64, 60, 60]", "kernel_shape=[3, 3] strides=[2, 2]", 1, 0},
    });
  check_kernels({
      {"AveragePool", 19, "f32[1, 2, 9, 10]", "kernel_shape=[3, 3] pads=[1, 1, 1, 1] count_include_pad=1", 1, 0},
      {"AveragePool", 19, "f32[1, 2, 9, 10]",
       "kernel_shape=[3, 3] strides=[2, 3] pads=[1, 0, 2, 1] ceil_mode=1 count_include_pad=1", 1, 0},
  });
  EXPECT_NE(refusal_of({"MaxPool", 12, "f32[1, 2, 9]", "kernel_shape=[3]", 2}), "");
  EXPECT_NE(refusal_of({"MaxPool", 12, "f64[1, 2, 9]", "kernel_shape=[3]"}), "");
}

// Two trees over features 0 and 1.
const std::string kTrees =
    "nodes_treeids=[0, 0, 0, 1, 1, 1] nodes_nodeids=[0, 1, 2, 0, 1, 2] nodes_featureids=[0, 0, 0, 1, 0, 0] "
    "nodes_values=[0.5, 0.0, 0.0, 2.0, 0.0, 0.0] nodes_modes=[BRANCH_LEQ, LEAF, LEAF, BRANCH_LT, LEAF, LEAF] "
    "nodes_truenodeids=[1, 0, 0, 1, 0, 0] nodes_falsenodeids=[2, 0, 0, 2, 0, 0] ";

std::string votes(const std::string& prefix, const std::string& ids, const std::string& weights) {
  return kTrees + prefix + "_treeids=[0, 0, 1, 1] " + prefix + "_nodeids=[1, 2, 1, 2] " + prefix + "_ids=" + ids + " " +
         prefix + "_weights=" + weights + " ";
}

TEST(CpuKernels, Trees) {
  const std::string one = votes("target", "[0, 0, 0, 0]", "[2.0, 3.5, -1.0, 0.1]");
  const std::string two = votes("target", "[0, 1, 1, 0]", "[2.0, 3.5, -1.0, 0.1]") + "n_targets=2 ";
  const std::string signs = votes("class", "[0, 0, 0, 0]", "[-2.0, 2.0, 0.3, -0.1]") + "classlabels_int64s=[3, 4] ";
  const std::string shares = votes("class", "[1, 1, 1, 1]", "[0.1, 0.2, 0.3, 0.4]") + "classlabels_int64s=[3, 4] ";
  const std::string both = votes("class", "[0, 1, 1, 0]", "[0.1, 0.2, 0.3, 0.4]") + "classlabels_int64s=[3, 4] ";
  const std::string three = votes("class", "[2, 1, 0, 0]", "[0.1, 0.2, 0.3, 0.4]") + "classlabels_int64s=[3, 4, 9] ";
  for (const char* type : {"f32", "f64", "f16", "i64", "i32", "u8"}) {
    const std::string x = std::string(type) + "[50, 3]";
    check_kernels({{"ai.onnx.ml:TreeEnsembleRegressor", 3, x, one, 1, 0},
                   {"ai.onnx.ml:TreeEnsembleRegressor", 1, x, one + "base_values=[0.5] post_transform=PROBIT", 1},
                   {"ai.onnx.ml:TreeEnsembleRegressor", 3, x, two + "aggregate_function=AVERAGE", 1, 0},
                   {"ai.onnx.ml:TreeEnsembleRegressor", 3, std::string(type) + "[0, 3]", two, 1, 0}});
    for (const std::string& trees : {signs, shares, both, three})
      for (const char* more : {"", "post_transform=LOGISTIC", "post_transform=PROBIT base_values=[0.5]",
                               "post_transform=SOFTMAX base_values=[0.5, -0.5]"})
        check_kernels({{"ai.onnx.ml:TreeEnsembleClassifier", 3, x, trees + more, 2, 0},
                       {"ai.onnx.ml:TreeEnsembleClassifier", 3, x, trees + more, 1, 0}});
  }
  for (const std::string type : {"f32", "f64"})
    check_kernels({{"ai.onnx.ml:TreeEnsemble", 5, type + "[50, 3]",
                    "nodes_splits=" + type +
                        "[1]=[0.5] nodes_modes=u8[1]=[0] nodes_featureids=[2] "
                        "nodes_truenodeids=[0] nodes_trueleafs=[1] nodes_falsenodeids=[1] nodes_falseleafs=[1] "
                        "leaf_targetids=[0, 1] leaf_weights=" +
                        type + "[2]=[5,6] tree_roots=[0] n_targets=2",
                    1, 0}});
  EXPECT_NE(refusal_of({"ai.onnx.ml:TreeEnsembleRegressor", 3, "string[2, 3]", one}), "");
}

TEST(CpuKernels, LabelEncoder) {
  check_kernels({
      {"ai.onnx.ml:LabelEncoder", 2, "i64[20, 3]", "keys_int64s=[1, 2, 5] values_int64s=[7, 8, 9] default_int64=-3"},
      {"ai.onnx.ml:LabelEncoder", 2, "i64[20, 3]", "keys_int64s=[1, 2, 1] values_floats=[0.5, 1.5, 2.5]"},
      {"ai.onnx.ml:LabelEncoder", 2, "f32[4] = [1, nan, 2.5, 7]", "keys_floats=[2.5, nan] values_int64s=[7, 8]"},
      {"ai.onnx.ml:LabelEncoder", 4, "f32[4] = [1, nan, 2.5, 7]", "keys_floats=[2.5, nan] values_floats=[7.0, 8.0]"},
      {"ai.onnx.ml:LabelEncoder", 4, "i32[2, 1, 2, 1, 2, 1, 2, 1, 2, 1]",
       "keys_tensor=i32[2]=[1,3] values_tensor=f64[2]=[0.5,0.25] default_tensor=f64[1]=[-1]"},
      {"ai.onnx.ml:LabelEncoder", 4, "f64[]",
       "keys_tensor=f64[1]=[1] values_tensor=i16[1]=[3] default_tensor=i16[1]=[4]"},
      {"ai.onnx.ml:LabelEncoder", 4, "i64[0, 3]", "keys_int64s=[1] values_floats=[2.0]"},
  });
  EXPECT_NE(refusal_of({"ai.onnx.ml:LabelEncoder", 2, "string[2]", "keys_strings=[a] values_int64s=[1]"}), "");
}

}  // namespace
}  // namespace anyshape::cpu
