#include <gtest/gtest.h>

#include "run/cpu/kernels/testing.h"

namespace anyshape::cpu {
namespace {

TEST(CpuKernels, Recurrent) {
  const std::string lstm = "const f32[1, 20, 3]; const f32[1, 20, 5]; const f32[1, 40]";
  check_kernels({
      {"LSTM", 14, "f32[7, 2, 3]; " + lstm, "hidden_size=5", 3, 2e-5, 0.7f},
      {"LSTM", 14, "f32[7, 2, 3]; " + lstm, "hidden_size=5 direction=reverse clip=0.4 input_forget=1", 3, 2e-5, 0.7f},
      {"LSTM", 14, "f32[2, 7, 3]; " + lstm, "hidden_size=5 layout=1", 3, 2e-5, 0.7f},
      {"LSTM", 14, "f32[7, 2, 3]; " + lstm + "; i32[2] = [3, 7]; f32[1, 2, 5]; f32[1, 2, 5]; const f32[1, 15]",
       "hidden_size=5", 3, 2e-5, 0.7f},
      {"LSTM", 14, "f32[4, 9, 3]; const f32[2, 20, 3]; const f32[2, 20, 5]", "hidden_size=5 direction=bidirectional", 3,
       2e-5, 0.7f},
      {"LSTM", 14, "f32[30, 2, 3]; " + lstm, "hidden_size=5 clip=0.6", 3, 2e-5, 0.7f},
      {"LSTM", 14, "f32[0, 2, 3]; " + lstm + "; ; f32[1, 2, 5]; f32[1, 2, 5]", "hidden_size=5", 3, 2e-5, 0.7f},
      {"LSTM", 14, "f32[7, 2, 3]; " + lstm + "; i32[2] = [0, 4]; f32[1, 2, 5]; f32[1, 2, 5]", "hidden_size=5", 3, 2e-5,
       0.7f},
      {"GRU", 14, "f32[7, 2, 3]; const f32[1, 15, 3]; const f32[1, 15, 5]; const f32[1, 30]", "hidden_size=5", 2, 2e-5,
       0.7f},
      {"GRU", 14, "f32[7, 2, 3]; const f32[2, 15, 3]; const f32[2, 15, 5]; const f32[2, 30]; i32[2] = [1, 5]",
       "hidden_size=5 linear_before_reset=1 direction=bidirectional", 2, 2e-5, 0.7f},
      {"RNN", 14, "f32[7, 2, 3]; const f32[1, 5, 3]; const f32[1, 5, 5]; const f32[1, 10]", "hidden_size=5", 2, 2e-5,
       0.7f},
      {"RNN", 14, "f32[2, 7, 3]; const f32[2, 5, 3]; const f32[2, 5, 5]; ; ; f32[2, 2, 5]",
       "hidden_size=5 layout=1 direction=bidirectional activations=[Relu,Relu]", 2, 2e-5, 0.7f},
  });
  const std::string gru = "f32[7, 2, 3]; const f32[1, 15, 3]; const f32[1, 15, 5]; ; f32[1, 2, 5]; ; ; ";
  check_kernels({
      {"anyshape:RecurrentStack", 1, "f32[40, 1, 3]; " + lstm + "; ; ; ; const f32[1, 24, 5]; const f32[1, 24, 6]", "",
       5, 2e-5, 0.7f},
      {"anyshape:RecurrentStack", 1,
       "f32[2, 7, 3]; " + lstm + "; f32[2, 1, 5]; f32[2, 1, 5]; const f32[1, 15]; " +
           "const f32[1, 24, 5]; const f32[1, 24, 6]; const f32[1, 48]; f32[2, 1, 6]; f32[2, 1, 6]",
       "layout=1 direction=reverse clip=0.6", 5, 2e-5, 0.7f},
      {"anyshape:RecurrentStack", 1, gru + "const f32[1, 9, 5]; const f32[1, 9, 3]", "cell=GRU linear_before_reset=1",
       3, 2e-5, 0.7f},
      {"anyshape:RecurrentStack", 1,
       "f32[3, 11, 2]; const f32[1, 2, 2]; const f32[1, 2, 2]; ; ; ; ; const f32[1, 4, 2]; const f32[1, 4, 4]",
       "cell=RNN activations=[Relu]", 3, 2e-5, 0.7f},
  });
  EXPECT_EQ(refusal_of({"LSTM", 14, "f32[7, 2, 3]; " + lstm, "hidden_size=5 activations=[Relu,Tanh,Tanh]"}),
            "its activations are not the default ones");
  EXPECT_EQ(refusal_of({"RNN", 14, "f32[7, 2, 3]; f32[1, 5, 3]; const f32[1, 5, 5]", "hidden_size=5"}),
            "the weights are not constant");
}

}  // namespace
}  // namespace anyshape::cpu
