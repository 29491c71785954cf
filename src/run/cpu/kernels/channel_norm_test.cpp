#include <gtest/gtest.h>

#include "run/cpu/kernels/testing.h"

namespace anyshape::cpu {
namespace {

TEST(CpuKernels, ChannelNormalization) {
  check_kernels({
      {"InstanceNormalization", 6, "f32[2, 3, 4, 5]; f32[3]; f32[3]", "epsilon=0.01"},
      {"InstanceNormalization", 6, "f32[1, 7, 100, 101]; f32[7]; f32[7]"},
      {"InstanceNormalization", 6, "f32[2, 1, 37]; f32[1]; f32[1]"},
      {"InstanceNormalization", 6, "f32[0, 3, 4]; f32[3]; f32[3]"},
      {"GroupNormalization", 18, "f32[2, 6, 4, 5]; f32[3]; f32[3]", "num_groups=3 epsilon=0.01"},
      {"GroupNormalization", 21, "f32[2, 6, 4, 5]; f32[6]; f32[6]", "num_groups=3"},
      {"GroupNormalization", 21, "f32[3, 8, 70]; f32[8]; f32[8]", "num_groups=1"},
      {"GroupNormalization", 21, "f32[3, 8]; f32[8]; f32[8]", "num_groups=2"},
      {"GroupNormalization", 21, "f32[2, 32, 40, 40]; f32[32]; f32[32]", "num_groups=4"},
  });
  EXPECT_NE(refusal_of({"InstanceNormalization", 6, "f64[2, 3, 4]; f64[3]; f64[3]"}), "");
  EXPECT_NE(refusal_of({"GroupNormalization", 21, "f32[2, 4, 4]; f32[4]; f32[1]", "num_groups=2"}), "");
}

TEST(CpuKernels, LocalResponse) {
  check_kernels({
      {"LRN", 13, "f32[2, 7, 3, 4]", "size=5"},
      {"LRN", 13, "f32[1, 20, 17, 18]", "size=5 alpha=0.3 beta=0.75 bias=2.0"},
      {"LRN", 13, "f32[2, 3, 300]", "size=4 alpha=0.5"},
      {"LRN", 13, "f32[2, 3, 5]", "size=9 alpha=0.5 beta=1.5"},
      {"LRN", 13, "f32[3, 6]", "size=1 alpha=0.5 beta=0.5"},
      {"LRN", 13, "f32[0, 6, 2]", "size=3"},
      {"LRN", 13, "f32[2, 6, 0]", "size=3"},
  });
  EXPECT_EQ(refusal_of({"LRN", 13, "f32[2, 3, 4]", "size=1000"}), "it adds up many channels");
}

}  // namespace
}  // namespace anyshape::cpu
