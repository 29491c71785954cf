#include <gtest/gtest.h>

#include "run/cpu/kernels/testing.h"

namespace anyshape::cpu {
namespace {

TEST(CpuKernels, Stft) {
  check_kernels({
      {"STFT", 17, "f32[2, 900, 1]; const i64[] = [160]; const f32[400]"},
      {"STFT", 17, "f32[1, 512, 1]; const i64[] = [100]; const f32[512]; const i64[] = [512]"},
      {"STFT", 17, "f32[3, 90, 1]; const i64[] = [7]; ; const i64[] = [25]"},
      {"STFT", 17, "f32[3, 90, 1]; const i64[] = [7]; ; const i64[] = [25]", "onesided=0"},
      {"STFT", 17, "f32[2, 70, 2]; const i64[] = [3]; const f32[16]", "onesided=0"},
      {"STFT", 17, "f32[0, 70, 1]; const i64[] = [3]; const f32[16]"},
      {"STFT", 17, "f32[2, 70]; const i64[] = [3]; const f32[16]"},
  });
  EXPECT_EQ(refusal_of({"STFT", 17, "f32[2, 70, 1]; const i64[] = [3]; f32[16]"}),
            "its lengths are not known before it runs, or it is not along the last axis");
  EXPECT_EQ(refusal_of({"STFT", 17, "f64[2, 70, 1]; const i64[] = [3]; const f64[16]"}), "its element type is not f32");
  EXPECT_EQ(refusal_of({"STFT", 17, "f32[2, 7000, 1]; const i64[] = [3]; ; const i64[] = [4096]"}), "it is long");
}

TEST(CpuKernels, Dft) {
  check_kernels({
      {"DFT", 17, "f32[2, 5, 48, 1]", "axis=2 onesided=1"},
      {"DFT", 17, "f32[3, 33, 2]", "axis=-2"},
      {"DFT", 17, "f32[3, 33, 2]", "inverse=1"},
      {"DFT", 17, "f32[3, 33, 1]", "inverse=1"},
      {"DFT", 20, "f32[3, 40, 1]; const i64[] = [64]", "onesided=1"},
      {"DFT", 20, "f32[3, 40, 2]; const i64[] = [17]; const i64[] = [1]"},
      {"DFT", 20, "f32[0, 40, 1]"},
  });
  EXPECT_EQ(refusal_of({"DFT", 20, "f32[3, 40, 5, 1]; ; const i64[] = [1]"}),
            "its lengths are not known before it runs, or it is not along the last axis");
  EXPECT_EQ(refusal_of({"DFT", 20, "f32[3, 40, 2]", "inverse=1 onesided=1"}), "it makes reals of half a spectrum");
}

}  // namespace
}  // namespace anyshape::cpu
