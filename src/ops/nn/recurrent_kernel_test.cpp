#include <gtest/gtest.h>

#include "ops/testing.h"

namespace anyshape::ops {
namespace {

TEST(Recurrent, Kernels) {
  constexpr auto kTwoSteps = "f32[2, 1, 1] = [1, 2]; f32[1, 1, 1] = [1]; f32[1, 1, 1] = [10]";
  check_kernel_rows({
      {"RNN", 1, kTwoSteps, "hidden_size=1 activations=[Affine] activation_alpha=[2.0] activation_beta=[1.0]",
       "f32[2, 1, 1, 1] = [3, 65]; f32[1, 1, 1] = [65]"},
      {"RNN", 7, kTwoSteps, "hidden_size=1 activations=[Relu] direction=reverse",
       "f32[2, 1, 1, 1] = [21, 2]; f32[1, 1, 1] = [21]"},
      {"RNN", 7, kTwoSteps, "hidden_size=1 activations=[relu] clip=1.5", "f32[2, 1, 1, 1] = [1, 1.5]"},
      {"RNN", 7, kTwoSteps, "hidden_size=1 activations=[Relu] clip=-1.5", "error[rnn.clip]"},
      {"RNN", 7, kTwoSteps, "hidden_size=1 activations=[Cosine]", "error[rnn.activations]"},
      {"RNN", 7, "f32[2, 1, 1]; f32[2, 1, 1]; f32[2, 1, 1]", "hidden_size=1 activations=[Relu] direction=bidirectional",
       "error[rnn.activations]"},
      {"RNN", 14, "f32[1, 2, 1] = [1, 2]; f32[2, 1, 1] = [1, 1]; f32[2, 1, 1] = [10, 10]",
       "hidden_size=1 activations=[Relu, Relu] direction=bidirectional layout=1",
       "f32[1, 2, 2, 1] = [1, 21, 12, 2]; f32[1, 2, 1] = [12, 21]"},
      {"RNN", 14,
       "f64[2, 2, 1] = [1, 2, 3, 4]; f64[1, 1, 1] = [1]; f64[1, 1, 1] = [1]; ; i32[2] = [2, 0]; f64[1, 2, 1] = [5, 6]",
       "hidden_size=1 activations=[Relu]", "f64[2, 1, 2, 1] = [6, 0, 9, 0]; f64[1, 2, 1] = [9, 0]"},
      {"RNN", 14, "f32[0, 1, 1] = []; f32[1, 1, 1] = [1]; f32[1, 1, 1] = [1]", "hidden_size=1",
       "f32[0, 1, 1, 1] = []; f32[1, 1, 1] = [0]"},
      {"RNN", 22, "bf16[1, 1, 1] = [3]; bf16[1, 1, 1] = [1]; bf16[1, 1, 1] = [1]", "hidden_size=1 activations=[Relu]",
       "bf16[1, 1, 1, 1] = [3]"},
  });
}

TEST(Recurrent, Gates) {
  constexpr auto kGru =
      "f32[1, 1, 1] = [1]; f32[1, 3, 1] = [0.5, 2, 1]; f32[1, 3, 1] = [0, 0, 1]; f32[1, 6] = [0, 0, 1, 0, 0, 4]; ; "
      "f32[1, 1, 1] = [3]";
  check_kernel_rows({
      // update 0.5, reset 2: candidate 1 + 1 + 2 * 3 + 4, and with linear_before_reset 1 + 1 + 2 * (3 + 4).
      {"GRU", 7, kGru, "hidden_size=1 activations=[Relu, Relu]", "f32[1, 1, 1, 1] = [7.5]"},
      {"GRU", 7, kGru, "hidden_size=1 activations=[Relu, Relu] linear_before_reset=1", "f32[1, 1, 1, 1] = [9.5]"},
      // input 1, output 2, forget 0.5, cell 4; state 2.
      {"LSTM", 7,
       "f32[1, 1, 1] = [1]; f32[1, 4, 1] = [1, 2, 0.5, 4]; f32[1, 4, 1] = [0, 0, 0, 0]; ; ; ; f32[1, 1, 1] = [2]",
       "hidden_size=1 activations=[Relu, Relu, Relu]",
       "f32[1, 1, 1, 1] = [10]; f32[1, 1, 1] = [10]; f32[1, 1, 1] = [5]"},
      {"LSTM", 7,
       "f32[1, 1, 1] = [1]; f32[1, 4, 1] = [0.25, 2, 0.5, 4]; f32[1, 4, 1] = [0, 0, 0, 0]; ; ; ; f32[1, 1, 1] = [2]",
       "hidden_size=1 activations=[Relu, Relu, Relu] input_forget=1",
       "f32[1, 1, 1, 1] = [5]; f32[1, 1, 1] = [5]; f32[1, 1, 1] = [2.5]"},
      {"LSTM", 7,
       "f16[1, 1, 1] = [1]; f16[1, 4, 1] = [1, 2, 0.5, 4]; f16[1, 4, 1] = [0, 0, 0, 0]; ; ; ; f16[1, 1, 1] = [2]; "
       "f16[1, 3] = [0.5, 1, 0.25]",
       "hidden_size=1 activations=[Relu, Relu, Relu]",
       "f16[1, 1, 1, 1] = [120]; f16[1, 1, 1] = [120]; f16[1, 1, 1] = [10]"},
      {"LSTM", 7, "f32[1, 1, 1]; f32[1, 4, 1]; f32[1, 4, 1]; ; i32[1] = [2]", "hidden_size=1",
       "error[rnn.sequence_lens]"},
  });
}

TEST(Attention, Kernels) {
  check_kernel_rows({
      {"Attention", 23, "f32[1, 1, 1, 1] = [0]; f32[1, 1, 2, 1] = [1, 2]; f32[1, 1, 2, 1] = [4, 8]", "",
       "f32[1, 1, 1, 1] = [6]"},
      {"Attention", 23,
       "f64[1, 1, 1, 1] = [0]; f64[1, 1, 2, 1] = [1, 2]; f64[1, 1, 2, 1] = [4, 8]; bool[1, 2] = [0, 1]", "",
       "f64[1, 1, 1, 1] = [8]"},
      {"Attention", 23, "f32[1, 1, 1, 1] = [0]; f32[1, 1, 2, 1] = [1, 2]; f32[1, 1, 2, 1] = [4, 8]; bool[1, 1] = [0]",
       "", "f32[1, 1, 1, 1] = [0]"},
      {"Attention", 24, "f32[1, 1, 1, 1] = [0]; f32[1, 1, 2, 1] = [1, 2]; f32[1, 1, 2, 1] = [4, 8]; bool[1, 1] = [1]",
       "", "f32[1, 1, 1, 1] = [4]"},
      {"Attention", 24, "f32[1, 1, 1, 1] = [0]; f32[1, 1, 2, 1] = [1, 2]; f32[1, 1, 2, 1] = [4, 8]; ; ; ; i64[1] = [0]",
       "", "f32[1, 1, 1, 1] = [0]"},
      {"Attention", 23,
       "bf16[1, 1, 1, 1] = [0]; bf16[1, 1, 2, 1] = [1, 2]; bf16[1, 1, 2, 1] = [4, 8]; i64[1, 2] = [5, 5]", "",
       "bf16[1, 1, 1, 1] = [6]"},
      {"Attention", 23, "f32[1, 1, 1] = [0]; f32[1, 1, 1] = [1]; f32[1, 1, 1] = [4]",
       "q_num_heads=1 kv_num_heads=1 qk_matmul_output_mode=4", "error[attention.mode]"},
      {"Attention", 25, "f32[1, 1, 1, 1] = [0]; f32[1, 1, 2, 1] = [1, 2]; f32[1, 1, 2, 1] = [4, 8]",
       "left_window_size=-2", "error[attention.window]"},
      {"Attention", 25, "f32[1, 1, 1, 1] = [0]; f32[1, 1, 2, 1] = [1, 2]; f32[1, 1, 2, 1] = [4, 8]",
       "left_window_size=9223372036854775807 right_window_size=0", "f32[1, 1, 1, 1] = [4]"},
      {"RotaryEmbedding", 23, "f16[1, 1, 2] = [1, 2]; f16[3, 1] = [0, 1, 0]; f16[3, 1] = [0, 0, 1]; i64[1, 1] = [2]",
       "num_heads=1", "f16[1, 1, 2] = [-2, 1]"},
      {"LinearAttention", 27, "f16[1, 1, 1] = [2]; f16[1, 1, 1] = [3]; f16[1, 1, 1] = [4]; f32[1, 1, 1, 1] = [1]",
       "q_num_heads=1 kv_num_heads=1 update_rule=linear", "f16[1, 1, 1] = [26]; f32[1, 1, 1, 1] = [13]"},
  });
}

}  // namespace
}  // namespace anyshape::ops
