#include <gtest/gtest.h>

#include "run/cpu/kernels/testing.h"

namespace anyshape::cpu {
namespace {

constexpr const char* kCoordinates[] = {"half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel",
                                        "align_corners", "asymmetric",           "tf_half_pixel_for_nn"};

TEST(CpuKernels, ResizeInEveryMode) {
  for (const std::string coordinates : kCoordinates)
    for (const std::string mode :
         {"nearest", "nearest nearest_mode=ceil", "nearest nearest_mode=floor",
          "nearest nearest_mode=round_prefer_ceil", "linear", "cubic", "cubic exclude_outside=1 cubic_coeff_a=-0.5"}) {
      const std::string how = "coordinate_transformation_mode=" + coordinates + " mode=" + mode;
      const double bound = mode.starts_with("nearest") ? 0 : 1e-6;
      check_kernels({
          {"Resize", 13, "f32[2, 3, 5, 7]; ; const f32[4] = [1, 1, 2, 2]", how, 1, bound},
          {"Resize", 13, "f32[1, 2, 9, 40]; ; const f32[4] = [1, 1, 2.6, 0.6]", how, 1, bound},
          {"Resize", 13, "f32[1, 2, 9, 40]; ; ; const i64[4] = [1, 2, 4, 71]", how, 1, bound},
          {"Resize", 18, "f32[2, 2, 5, 6, 16]; ; const f32[2] = [2, 3]", how + " axes=[2,3]", 1, bound},
          {"Resize", 18, "f32[2, 2, 5, 6, 8]; ; ; const i64[2] = [9, 4]", how + " axes=[2,3]", 1, bound},
          {"Resize", 18, "f32[2, 5, 6, 3]; ; const f32[2] = [2, 1.5]", how + " axes=[2,1]", 1, bound},
          {"Resize", 13, "f32[2, 3, 4, 5]; ; const f32[4] = [2, 1.5, 2, 3]", how, 1, bound},
          {"Resize", 13, "f32[1, 2, 3, 4, 5]; ; const f32[5] = [1, 1, 2, 2, 2]", how, 1, bound},
          {"Resize", 13, "f32[3, 4, 50]; ; const f32[3] = [1, 2, 1]", how, 1, bound},
          // Few entries lie side by side along the last axis, and several places take the same of the one before.
          {"Resize", 13, "f32[1, 2, 6, 5]; ; ; const i64[4] = [1, 2, 13, 5]", how, 1, bound},
          {"Resize", 13, "f32[9]; ; const f32[1] = [1.05]", how, 1, bound},
          {"Resize", 13, "f32[1, 1, 1, 1]; ; const f32[4] = [1, 1, 3, 4]", how, 1, bound},
          {"Resize", 13, "f32[1, 3, 4, 4]; ; const f32[4] = [1, 1, 1, 1]", how, 1, bound},
          {"Resize", 13, "f32[0, 3, 4, 4]; ; const f32[4] = [1, 1, 2, 2]", how, 1, bound},
      });
    }
}

TEST(CpuKernels, ResizeOfManyTasks) {
  check_kernels({{"Resize", 13, "f32[4, 8, 40, 40]; ; const f32[4] = [1, 1, 2, 2]", "mode=linear", 1, 1e-6},
                 {"Resize", 13, "f32[4, 8, 40, 40]; ; const f32[4] = [1, 1, 2, 2]", "", 1, 0},
                 {"Resize", 18, "f32[4, 2, 40, 40, 16]; ; const f32[2] = [2, 2]", "mode=linear axes=[2,3]", 1, 1e-6}});
}

TEST(CpuKernels, ResizeOfARegion) {
  const std::string how = "coordinate_transformation_mode=tf_crop_and_resize extrapolation_value=7.0 mode=";
  for (const std::string mode : {"nearest", "linear", "cubic"})
    check_kernels({
        {"Resize", 13, "f32[1, 2, 9, 8]; f32[8] = [0, 0, 0.2, -0.3, 1, 1, 1.3, 0.8]; ; const i64[4] = [1, 2, 20, 30]",
         how + mode, 1, 1e-6},
        {"Resize", 18, "f32[2, 9, 8, 16]; f32[4] = [-0.2, 0.1, 1.1, 1]; ; const i64[2] = [9, 8]",
         how + mode + " axes=[1,2]", 1, 1e-6},
    });
}

TEST(CpuKernels, ResizeThatKeepsTheRatio) {
  for (const std::string policy : {"not_larger", "not_smaller"})
    check_kernels({{"Resize", 18, "f32[1, 2, 9, 12]; ; ; const i64[2] = [20, 21]",
                    "axes=[2,3] mode=linear keep_aspect_ratio_policy=" + policy, 1, 1e-6}});
}

TEST(CpuKernels, ResizeOfOldVersions) {
  for (const std::string mode : {"mode=nearest", "mode=linear"})
    check_kernels({
        {"Resize", 10, "f32[1, 2, 5, 6]; const f32[4] = [1, 1, 2, 0.5]", mode, 1, 1e-6},
        {"Upsample", 9, "f32[1, 2, 5, 6]; const f32[4] = [1, 1, 2, 3]", mode, 1, 1e-6},
        {"Upsample", 7, "f32[1, 2, 5, 6]", mode + " scales=[1.0,1.0,2.0,2.5]", 1, 1e-6},
    });
}

TEST(CpuKernels, ResizeRefusals) {
  EXPECT_EQ(refusal_of({"Resize", 13, "f64[1, 1, 4, 4]; ; const f32[4] = [1, 1, 2, 2]"}),
            "its element type is not f32");
  EXPECT_EQ(refusal_of({"Resize", 18, "f32[1, 1, 4, 4]; ; const f32[4] = [1, 1, 0.5, 0.5]", "mode=linear antialias=1"}),
            "it smoothes (antialias)");
}

}  // namespace
}  // namespace anyshape::cpu
