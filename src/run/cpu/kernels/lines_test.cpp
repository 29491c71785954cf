#include <gtest/gtest.h>

#include "run/cpu/kernels/testing.h"

namespace anyshape::cpu {
namespace {

// Random integers are few and the floats below have equal ones, so that ties are met.
constexpr const char* kSpecial = "f32[2, 6] = [1, nan, 3, inf, nan, 3, -0.0, 0.0, -1, -inf, 0.0, -0.0]";

TEST(CpuKernels, ArgExtremes) {
  for (const char* op : {"ArgMax", "ArgMin"})
    for (const char* how : {"axis=-1", "axis=0", "axis=1 keepdims=0", "axis=-1 select_last_index=1"})
      check_kernels({
          {op, 13, "f32[3, 4, 50]", how},
          {op, 13, "i64[3, 4, 50]", how},
          {op, 13, "i32[70, 400, 5]", how},
          {op, 13, "f32[3, 40, 130]", how},
          {op, 13, "f64[3, 1, 5]", how},
          {op, 13, kSpecial, how},
      });
  check_kernels({{"ArgMax", 13, "f32[0, 4]", "axis=1"}, {"ArgMin", 13, "f32[4, 0]", "axis=0"}});
  EXPECT_NE(refusal_of({"ArgMax", 13, "u8[3, 4]"}), "");
}

TEST(CpuKernels, TopK) {
  for (const char* how : {"axis=-1", "axis=0", "axis=1 largest=0", "axis=-1 largest=0 sorted=0"})
    for (const char* k : {"; const i64[1] = [1]", "; const i64[1] = [2]", "; const i64[1] = [0]"}) {
      const std::string wanted = k;
      check_kernels({
          {"TopK", 11, "f32[3, 4, 50]" + wanted, how, 2, 0},
          {"TopK", 11, "i64[3, 4, 50]" + wanted, how, 2},
          {"TopK", 11, "i32[70, 40, 20]" + wanted, how, 2},
          {"TopK", 11, "f64[2, 3]" + wanted, how, 2},
          {"TopK", 11, kSpecial + wanted, how, 2, 0},
          {"TopK", 11, "f32[2, 2]" + wanted, how, 1, 0},
      });
    }
  for (const char* k : {"; const i64[1] = [5]", "; const i64[1] = [16]", "; const i64[1] = [17]"})
    for (const char* how : {"", "largest=0"})
      check_kernels({{"TopK", 11, std::string("f32[4, 500]") + k, how, 2, 0},
                     {"TopK", 11, std::string("i64[4, 500]") + k, how, 2}});
  for (const char* k : {"; const i64[1] = [30]", "; const i64[1] = [50]"})
    check_kernels(
        {{"TopK", 11, std::string("i64[3, 50]") + k, "", 2}, {"TopK", 10, std::string("f32[50]") + k, "", 2, 0}});
  check_kernels({{"TopK", 1, "f32[3, 5]", "k=2", 2, 0}, {"TopK", 11, "f32[0, 5]; const i64[1] = [2]", "", 2, 0}});
}

TEST(CpuKernels, CumSum) {
  for (const char* how : {"", "exclusive=1", "reverse=1", "exclusive=1 reverse=1"})
    for (const char* axis : {"; const i64[] = [0]", "; const i64[1] = [-1]", "; const i32[] = [1]"}) {
      const std::string along = axis;
      check_kernels({
          {"CumSum", 14, "f32[3, 4, 50]" + along, how, 1, 0},
          {"CumSum", 14, "i64[3, 4, 5]" + along, how},
          {"CumSum", 14, "i32[300, 40, 5]" + along, how},
          {"CumSum", 14, "f64[1, 4]" + along, how},
          {"CumSum", 14, "f32[3, 0]" + along, how, 1, 0},
          {"CumSum", 14, kSpecial + along, how, 1, 0},
      });
    }
  EXPECT_EQ(refusal_of({"CumSum", 14, "f32[3]; i64[]"}), "its axis is not constant");
}

}  // namespace
}  // namespace anyshape::cpu
