#include "ops/testing.h"

#include <gtest/gtest.h>

namespace anyshape::ops {
namespace {

TEST(Testing, RowsOfText) {
  check_rows({
      {"Gather", 13, "f32[512, 16]; i64[b, s]", "axis=0", "f32[b, s, 16]", "data[gather.index]"},
      {"Gather", 13, "i64[3] = [b, s, 16]; i64[] = [1]", "axis=0", "i64[] = [s]"},
      {"Gather", 13, "f32[512, 16]; i64[s] over 0..s - 1", "axis=0", "f32[s, 16]", "s <= 512"},
      {"Gather", 13, "f32[2, 16]; i64[1] = [2]", "axis=0", "error[gather.index]"},
      {"Gather", 13, "f32[...]; i64[1] = [2]", "axis=0", "unknown[infer.rank]"},
  });
}

}  // namespace
}  // namespace anyshape::ops
