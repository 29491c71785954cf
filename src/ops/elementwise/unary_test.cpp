#include <gtest/gtest.h>

#include "ops/testing.h"

namespace anyshape::ops {
namespace {

TEST(Unary, Rules) {
  check_rows({
      {"Neg", 13, "i64[] = [s]", "", "i64[] = [-s]"},
      {"Abs", 13, "i64[2] = [s, -3]", "", "i64[2] = [s, 3]"},
      {"Sign", 13, "i64[] = [s + 1]", "", "i64[] = [1]"},
      {"Floor", 13, "f32[] = [s]/2", "", "f32[] = [s//2]"},
      {"Ceil", 13, "f32[] = [s]/2", "", "f32[] = [(s + 1)//2]"},
      {"Floor", 13, "f32[] = [s]/1", "", "f32[] = [s]"},
      {"Floor", 13, "i64[2]", "", "error[dtype]"},
      {"Sqrt", 13, "f32[] = [s]/1", "", "f32[]"},
      {"Relu", 14, "f32[...]", "", "f32[...]"},
      {"Relu", 1, "f32[b, s]", "consumed_inputs=[0]", "f32[b, s]"},
      {"Erf", 13, "f32[0, b]", "", "f32[0, b]"},
      {"Neg", 13, "i64[n] in 0..s", "", "i64[n] in -s..0"},
      {"Neg", 13, "i64[s] over 0..s - 1", "", "i64[s] over 1 - s..0"},
      {"Abs", 13, "i64[n] in -5..3", "", "i64[n] in 0..5"},
      {"Tanh", 13, "?", "", "?[...]"},
  });
}

TEST(Unary, RoundIsHalfToEven) {
  for (int s = 0; s < 40; ++s) {
    const std::string in = fmt::format("f32[] = [{}]/4", s);
    const auto rule = answer({"Round", 11, in, "", "f32[]"}).out;
    const auto kernel = kernel_answer({"Round", 11, fmt::format("f32[] = [{}]", s / 4.0), "", "f32[]"});
    EXPECT_EQ(rule, kernel) << s;
  }
}

TEST(Unary, Kernels) {
  check_kernel_rows({
      {"Round", 11, "f32[5] = [0.5, 1.5, 2.5, -0.5, -1.5]", "", "f32[5] = [0, 2, 2, -0, -2]"},
      {"Abs", 13, "i8[2] = [-128, -3]", "", "i8[2] = [-128, 3]"},
      {"Sign", 13, "f32[3] = [-2, 0, nan]", "", "f32[3] = [-1, 0, nan]"},
      {"Sqrt", 13, "f64[2] = [4, -1]", "", "f64[2] = [2, nan]"},
      {"Reciprocal", 13, "f32[2] = [4, 0]", "", "f32[2] = [0.25, inf]"},
      {"Exp", 13, "f16[1] = [0]", "", "f16[1] = [1]"},
      {"Log", 13, "f32[1] = [1]", "", "f32[1] = [0]"},
      {"Sigmoid", 13, "f32[1] = [0]", "", "f32[1] = [0.5]"},
      {"Tanh", 13, "f32[1] = [0]", "", "f32[1] = [0]"},
      {"Erf", 13, "f32[1] = [inf]", "", "f32[1] = [1]"},
      {"Relu", 14, "i32[2] = [-4, 4]", "", "i32[2] = [0, 4]"},
      {"Ceil", 13, "bf16[1] = [1.5]", "", "bf16[1] = [2]"},
      {"IsNaN", 13, "f32[2] = [nan, 1]", "", "bool[2] = [1, 0]"},
      {"IsInf", 10, "f32[3] = [inf, -inf, 1]", "detect_negative=0", "bool[3] = [1, 0, 0]"},
  });
}

TEST(Activation, Kernels) {
  check_kernel_rows({
      {"Elu", 6, "f64[2] = [-inf, 2]", "alpha=0.5", "f64[2] = [-0.5, 2]"},
      {"Selu", 1, "f64[1] = [1]", "gamma=2.0", "f64[1] = [2]"},
      {"Gelu", 20, "f32[3] = [0, -inf, 40]", "", "f32[3] = [0, nan, 40]"},
      {"HardSigmoid", 1, "f16[3] = [-9, 0, 9]", "", "f16[3] = [0, 0.5, 1]"},
      {"HardSwish", 14, "f32[3] = [-3, 3, nan]", "", "f32[3] = [-0, 3, nan]"},
      {"LeakyRelu", 16, "bf16[2] = [-2, 2]", "alpha=0.5", "bf16[2] = [-1, 2]"},
      {"Softplus", 1, "f32[2] = [1000, -1000]", "", "f32[2] = [1000, 0]"},
      {"Softsign", 1, "f32[2] = [-1, 3]", "", "f32[2] = [-0.5, 0.75]"},
      {"Shrink", 9, "i32[4] = [-3, -1, 1, 3]", "lambd=1.5 bias=1.0", "i32[4] = [-2, 0, 0, 2]"},
      {"ThresholdedRelu", 10, "f32[3] = [1, 1.5, nan]", "", "f32[3] = [0, 1.5, 0]"},
      {"PRelu", 6, "f32[1, 2, 2] = [-1, 1, -1, 1]; f32[2] = [2, 3]", "", "f32[1, 2, 2] = [-2, 1, -3, 1]"},
      {"PRelu", 9, "i32[2] = [-1, 1]; i32[1] = [4]", "", "i32[2] = [-4, 1]"},
      {"Acos", 7, "f32[2] = [1, 2]", "", "f32[2] = [0, nan]"},
      {"Erf", 9, "i8[2] = [-9, 0]", "", "i8[2] = [-1, 0]"},
      {"SwiGLU", 28, "f32[2] = [0, 100]; f32[2] = [5, 2]", "", "f32[2] = [0, 200]"},
  });
}

TEST(Optimizer, Kernels) {
  const std::string domain = "ai.onnx.preview.training:";
  check_kernel_rows({
      {domain + "Momentum", 1, "f32[] = [0.5]; i64[] = [0]; f32[1] = [2]; f32[1] = [1]; f32[1] = [4]",
       "alpha=0.5 beta=0.25 mode=standard norm_coefficient=0.0", "f32[1] = [0.5]; f32[1] = [3]"},
      {domain + "Adagrad", 1, "f64[] = [2]; i64[] = [1]; f64[1] = [1]; f64[1] = [3]; f64[1] = [16]",
       "decay_factor=1.0 epsilon=1.0", "f64[1] = [0.5]; f64[1] = [25]"},
      {domain + "Adam", 1, "f32[] = [1]; i64[] = [0]; f32[1] = [1]; f32[1] = [2]; f32[1] = [0]; f32[1] = [0]",
       "alpha=0.5 beta=0.75 epsilon=1.0", "f32[1] = [0.5]; f32[1] = [1]; f32[1] = [1]"},
      {domain + "Adam", 1, "f32[2] = [1, 1]; i64[] = [0]; f32[1] = [1]; f32[1] = [2]; f32[1] = [0]; f32[1] = [0]", "",
       "error[optimizer.inputs]"},
  });
}

TEST(Random, TheSameSeedGivesTheSameNumbers) {
  for (const char* op : {"RandomNormal", "RandomUniform"}) {
    const auto draw = [&](const char* attributes) { return kernel_answer({op, 1, "", attributes, "f32[4]"}); };
    EXPECT_EQ(draw("shape=[4] seed=1.5"), draw("shape=[4] seed=1.5")) << op;
    EXPECT_NE(draw("shape=[4] seed=1.5"), draw("shape=[4] seed=2.5")) << op;
  }
  check_kernel_rows({
      {"RandomUniform", 1, "", "shape=[2] low=3.0 high=3.0 dtype=@f64", "f64[2] = [3, 3]"},
      {"RandomNormalLike", 1, "string[2] = [a, b]", "mean=2.0 scale=0.0 dtype=@f16", "f16[2] = [2, 2]"},
      {"Bernoulli", 15, "f32[4] = [0, 1, 0, 1]", "dtype=@bool", "bool[4] = [0, 1, 0, 1]"},
      {"Multinomial", 7, "f32[2, 3] = [-inf, 0, -inf, -inf, -inf, 0]", "sample_size=2 dtype=@i64",
       "i64[2, 2] = [1, 1, 2, 2]"},
  });
}

TEST(Variadic, RulesAndKernels) {
  check_rows({
      {"Min", 13, "i64[] = [s]; i64[] = [512]", "", "i64[] = [min(s, 512)]"},
      {"Max", 13, "i64[] = [s]; i64[] = [0]", "", "i64[] = [s]"},
      {"Max", 13, "i64[n] in 0..s; i64[] = [1]", "", "i64[n] in 1..max(s, 1)"},
      {"Min", 13, "i64[s] over 0..s - 1; i64[] = [511]", "", "i64[s] over 0..min(s - 1, 511)"},
      {"Sum", 13, "f32[a, 1]; f32[b]; f32[]", "", "f32[a, b]"},
      {"Sum", 6, "f32[2]; f32[1]", "", "error[shape.equal]"},
      {"Mean", 13, "f32[s]", "", "f32[s]"},
      {"Max", 13, "f32[2]; ", "", "error[node.arity]"},
  });
  check_kernel_rows({
      {"Max", 13, "f32[2] = [nan, 1]; f32[2] = [2, 3]; f32[] = [0]", "", "f32[2] = [nan, 3]"},
      {"Min", 13, "u8[2] = [200, 1]; u8[1] = [7]", "", "u8[2] = [7, 1]"},
      {"Mean", 13, "f32[1] = [1]; f32[2] = [2, 4]", "", "f32[2] = [1.5, 2.5]"},
      {"Sum", 13, "f32[2, 1] = [1, 2]; f32[2] = [10, 20]", "", "f32[2, 2] = [11, 21, 12, 22]"},
  });
}

TEST(Clip, RulesAndKernels) {
  check_rows({
      {"Clip", 13, "i64[n]; i64[] = [0]; i64[] = [511]", "", "i64[n] in 0..511"},
      {"Clip", 13, "i64[n] in 0..s - 1; ; i64[] = [511]", "", "i64[n] in 0..min(s - 1, 511)"},
      {"Clip", 13, "i64[] = [s]; i64[] = [1]; i64[] = [8]", "", "i64[] = [min(max(s, 1), 8)]"},
      {"Clip", 13, "f32[s]; f32[2]", "", "error[clip.limit]"},
      {"Clip", 6, "f32[s]", "min=0.0 max=6.0", "f32[s]"},
  });
  check_kernel_rows({
      {"Clip", 13, "f32[3] = [-1, nan, 9]; f32[] = [0]; f32[] = [6]", "", "f32[3] = [0, nan, 6]"},
      {"Clip", 13, "i32[2] = [-1, 9]; i32[] = [0]", "", "i32[2] = [0, 9]"},
      {"Clip", 6, "f32[2] = [-1, 9]", "min=0.0 max=6.0", "f32[2] = [0, 6]"},
  });
}

TEST(Activation, Rules) {
  check_rows({
      {"Elu", 22, "f32[b, s]", "alpha=0.5", "f32[b, s]"},
      {"Elu", 22, "i64[b]", "", "error[dtype]"},
      {"PRelu", 16, "f32[b, 3, h]; f32[3, 1]", "", "f32[b, 3, h]"},
      {"PRelu", 16, "f32[3]; f32[2, 3]", "", "error[lenient.prelu]", "", true},
      {"PRelu", 16, "f32[3]; f32[2, 3]", "", "f32[2, 3]", "lenient[lenient.prelu]"},
      {"PRelu", 16, "f32[b, 1]; f32[4]", "", "f32[b, 4]", "lenient[lenient.prelu]"},
      {"PRelu", 16, "f32[b, 4]; f32[4]", "", "f32[b, 4]"},
      {"PRelu", 1, "f32[b, 3, h]; f32[3]", "", "f32[b, 3, h]"},
      {"SwiGLU", 28, "f32[b, 8]; f32[b, 8]", "", "f32[b, 8]"},
      {"SwiGLU", 28, "f32[b, 8]; f32[c, 8]", "", "f32[b, 8]", "b == c"},
      {"Softmax", 13, "f32[b, s]", "", "f32[b, s]"},
      {"Softmax", 13, "f32[]", "", "error[axis.range]"},
      {"Softmax", 11, "f32[b]", "", "error[axis.range]"},
      {"Dropout", 13, "f32[b, s]; f32[]; bool[]", "", "f32[b, s]; bool[b, s]"},
      {"Dropout", 7, "f32[b, s]", "", "f32[b, s]; f32[b, s]"},
  });
}

}  // namespace
}  // namespace anyshape::ops
