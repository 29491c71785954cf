#include <gtest/gtest.h>

#include "ops/testing.h"

namespace anyshape::ops {
namespace {

TEST(Normalization, Rows) {
  check_rows({
      {"BatchNormalization", 15, "f32[b, c, h]; f32[8]; f32[8]; f32[8]; f32[8]", "", "f32[b, 8, h]", "c == 8"},
      {"BatchNormalization", 15, "f16[b, 8]; f16[8]; f16[8]; f32[8]; f32[8]", "training_mode=1",
       "f16[b, 8]; f32[8]; f32[8]"},
      {"BatchNormalization", 15, "f32[b, 8]; f32[8]; f32[8]; f32[8]; f32[8]", "training_mode=1",
       "error[batchnorm.outputs]"},
      {"BatchNormalization", 7, "f32[b, 3, 4]; f32[3, 4]; f32[3, 4]; f32[3, 4]; f32[3, 4]", "spatial=0",
       "f32[b, 3, 4]; f32[3, 4]"},
      {"BatchNormalization", 9, "f32[5]; f32[1]; f32[1]; f32[1]; f32[1]", "", "f32[5]"},
      {"BatchNormalization", 9, "f32[2, 3]; f32[1]; f32[1]; f32[1]; f32[1]", "", "error[batchnorm.parameter]"},
      {"InstanceNormalization", 6, "f32[2, 3, 0]; f32[3]; f32[3]", "", "f32[2, 3, 0]"},
      {"InstanceNormalization", 6, "f32[2, 3]; f32[3]; f32[3]", "", "error[rank]"},
      {"LayerNormalization", 17, "f32[b, s, d]; f32[768]; f32[768]", "", "f32[b, s, 768]; f32[b, s, 1]; f32[b, s, 1]",
       "d == 768"},
      {"LayerNormalization", 17, "f32[2, 3, 4]; f32[3, 1]", "axis=1", "f32[2, 3, 4]"},
      {"LayerNormalization", 17, "f32[2, 3, 1]; f32[4]", "", "error[broadcast]"},
      {"LayerNormalization", 17, "f32[2, 3, 0]; f32[0]", "", "error[norm.empty]"},
      {"LayerNormalization", 17, "f32[2, 3, 4]; f32[4]", "axis=5", "error[axis.range]"},
      {"RMSNormalization", 23, "f16[b, s, 64]; f32[64]", "", "f32[b, s, 64]"},
      {"GroupNormalization", 21, "f32[b, 4, h]; f32[4]; f32[4]", "num_groups=2", "f32[b, 4, h]", "b >= 1; h >= 1"},
      {"GroupNormalization", 18, "f32[1, 4, 3]; f32[2]; f32[2]", "num_groups=2", "f32[1, 4, 3]"},
      {"GroupNormalization", 21, "f32[1, 4, 3]; f32[1]; f32[1]", "num_groups=2", "error[lenient.groupnorm]"},
      {"GroupNormalization", 21, "f32[1, 4, 3]; f32[4]; f32[4]", "num_groups=3", "error[groupnorm.groups]"},
      {"LpNormalization", 22, "f32[a, 0]", "p=1", "f32[a, 0]"},
      {"LpNormalization", 22, "f32[]", "", "error[axis.range]"},
      {"MeanVarianceNormalization", 13, "f32[2, 3, 4]", "", "error[lenient.axes]"},
      {"LRN", 13, "f32[n, c, h, w]", "size=3", "f32[n, c, h, w]"},
  });
}

TEST(Recurrent, Rows) {
  check_rows({
      {"LSTM", 22, "f32[s, b, i]; f32[1, 16, 3]; f32[1, 16, 4]; f32[1, 32]; ; f32[1, 1, 4]; f32[1, 1, 4]",
       "hidden_size=4", "f32[s, 1, 1, 4]; f32[1, 1, 4]; f32[1, 1, 4]", "i == 3; b == 1"},
      {"LSTM", 14, "f32[b, s, 3]; f32[2, 16, 3]; f32[2, 16, 4]; ; ; f32[b, 2, 4]",
       "hidden_size=4 layout=1 direction=bidirectional", "f32[b, s, 2, 4]; f32[b, 2, 4]; f32[b, 2, 4]", "b >= 1"},
      {"GRU", 7, "f32[s, b, 3]; f32[1, 12, 3]; f32[1, 12, 4]; ; i32[b]", "hidden_size=4",
       "f32[s, 1, b, 4]; f32[1, b, 4]", "b >= 1; s >= 1; data[rnn.sequence_lens]"},
      {"RNN", 7, "f32[s, 0, 3]; f32[1, 4, 3]; f32[1, 4, 4]", "hidden_size=4", "f32[s, 1, 0, 4]; f32[1, 0, 4]"},
      {"RNN", 7, "f32[s, 2, 3]; f32[1, 4, 3]; f32[1, 4, 4]; ; i32[2] = [5, 3]", "hidden_size=4", "f32[s, 1, 2, 4]",
       "s >= 5"},
      {"LSTM", 22, "f32[5, 0, 3]; f32[1, 16, 3]; f32[1, 16, 4]", "hidden_size=4", "error[rnn.empty]"},
      {"LSTM", 22, "f32[5, 2, 3]; f32[1, 16, 3]; f32[1, 16, 4]", "hidden_size=5", "error[rnn.weights]"},
      {"LSTM", 22, "f32[5, 2, 3]; f32[1, 16, 3]; f32[1, 16, 4]", "hidden_size=-4", "error[rnn.hidden_size]"},
      {"LSTM", 22, "f32[5, 2, 3]; f32[2, 16, 3]; f32[2, 16, 4]", "direction=reverse", "error[rnn.weights]"},
      {"LSTM", 22, "f32[5, 2, 3]; f32[1, 16, 3]; f32[1, 16, 4]", "direction=both", "error[rnn.direction]"},
      {"LSTM", 22, "f32[5, 2]; f32[1, 16, 3]; f32[1, 16, 4]", "", "error[rank]"},
  });
}

}  // namespace
}  // namespace anyshape::ops
