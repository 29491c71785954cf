#include <gtest/gtest.h>

#include "run/cpu/kernels/testing.h"

namespace anyshape::cpu {
namespace {

TEST(CpuKernels, GatherElements) {
  for (const std::string type : {"f32", "f64", "i64", "u8", "f16"})
    check_kernels({
        {"GatherElements", 13, type + "[3, 4]; i64[2, 3] = [2, -1, 0, 1, 1, -3]", "axis=0", 1, 0},
        {"GatherElements", 13, type + "[3, 4]; i32[2, 3] = [3, -4, 0, 1, 1, 2]", "axis=-1", 1, 0},
        {"GatherElements", 13, type + "[2, 12, 3]; i64[2, 40, 2]", "axis=1", 1, 0},
        {"GatherElements", 13, type + "[300, 20, 10]; i64[300, 20, 70]", "axis=2", 1, 0},
        {"GatherElements", 13, type + "[12, 20, 10]; i32[50, 20, 10]", "axis=0", 1, 0},
        {"GatherElements", 13, type + "[10]; i64[5]", "axis=0", 1, 0},
        {"GatherElements", 13, type + "[10, 3]; i64[0, 3]", "axis=0", 1, 0},
        {"GatherElements", 13, type + "[10, 3]; i64[4, 0]", "axis=0", 1, 0},
    });
  EXPECT_NE(refusal_of({"GatherElements", 13, "string[3]; i64[2]"}), "");
}

TEST(CpuKernels, GatherND) {
  for (const std::string type : {"f32", "i64", "bool"})
    check_kernels({
        {"GatherND", 13, type + "[3, 4]; i64[3, 2] = [2, -1, 0, 1, 1, -4]", "", 1, 0},
        {"GatherND", 13, type + "[3, 4, 50]; i64[2, 1] = [2, -3]", "", 1, 0},
        {"GatherND", 11, type + "[12, 10, 5]; i64[30, 20, 2]", "", 1, 0},
        {"GatherND", 13, type + "[4, 12, 10, 300]; i64[4, 50, 2]", "batch_dims=1", 1, 0},
        {"GatherND", 13, type + "[2, 3, 12]; i64[2, 3, 1]", "batch_dims=2", 1, 0},
        {"GatherND", 13, type + "[2, 3]; i64[5, 0]", "", 1, 0},
        {"GatherND", 13, type + "[12, 0]; i64[5, 1]", "", 1, 0},
        {"GatherND", 13, type + "[0, 3]; i64[0, 1]", "", 1, 0},
    });
}

TEST(CpuKernels, ArrayFeatureExtractor) {
  for (const std::string type : {"f32", "i64", "f64"})
    check_kernels({
        {"ai.onnx.ml:ArrayFeatureExtractor", 1, type + "[3, 4]; i64[1, 3] = [3, 0, 0]", "", 1, 0},
        {"ai.onnx.ml:ArrayFeatureExtractor", 1, type + "[4]; i64[5] = [3, 0, 0, 1, 2]", "", 1, 0},
        {"ai.onnx.ml:ArrayFeatureExtractor", 1, type + "[40, 30, 10]; i64[70]", "", 1, 0},
        {"ai.onnx.ml:ArrayFeatureExtractor", 1, type + "[0, 10]; i64[7]", "", 1, 0},
    });
}

TEST(CpuKernels, OneHot) {
  for (const char* axis : {"", "axis=0", "axis=1", "axis=-2"})
    check_kernels({
        {"OneHot", 11, "i64[6] = [0, 4, -1, -5, 5, -6]; const i64[] = [5]; f32[2] = [0.5, 2]", axis, 1, 0},
        {"OneHot", 11, "i32[2, 3]; const i64[1] = [8]; i64[2] = [0, 1]", axis},
        {"OneHot", 11, "i64[30, 40]; const i64[] = [70]; u8[2] = [3, 1]", axis},
        {"OneHot", 11, "i64[3, 0]; const i64[] = [7]; f64[2]", axis},
    });
  EXPECT_NE(refusal_of({"OneHot", 11, "f32[3]; const i64[] = [5]; f32[2]"}), "");
}

}  // namespace
}  // namespace anyshape::cpu
