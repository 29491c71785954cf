#include <gtest/gtest.h>

#include "ops/testing.h"

namespace anyshape::ops {
namespace {

TEST(Resize, Rows) {
  check_rows({
      {"Resize", 13, "f32[b, c, h, w]; ; f32[4] = [1, 1, 2, 0.5]", "", "f32[b, c, 2*h, w//2]"},
      {"Resize", 13, "f32[b, c, h, w]; ; f32[4] = [1, 1, 1.5, 1]", "", "f32[b, c, h + h//2, w]"},
      {"Resize", 13, "f32[1, 1, 10, 105]; ; f32[4] = [1, 1, 0.7, 0.33333334]", "", "f32[1, 1, 7, 35]"},
      {"Resize", 13, "f32[1, 1, h, w]; ; f32[4] = [1, 1, 0.7, 0.33333334]", "", "f32[1, 1, (7*h)//10, w//3]"},
      {"Resize", 13, "f32[b, c, h, w]; f32[0] = []; f32[0] = []; i64[4] = [b, c, 7, 8]", "", "f32[b, c, 7, 8]",
       "h >= 1; w >= 1"},
      {"Resize", 13, "f32[b, c, h, w]; ; ; i64[4] = [b, c, 2*h, 2*w]", "", "f32[b, c, 2*h, 2*w]"},
      {"Resize", 19, "f32[b, c, h, w]; ; f32[2] = [2, 3]", "axes=[-1, -2]", "f32[b, c, 3*h, 2*w]"},
      {"Resize", 19, "f32[1, 1, 10, 7]; ; ; i64[2] = [5, 6]", "axes=[2, 3] keep_aspect_ratio_policy=not_smaller",
       "f32[1, 1, 9, 6]"},
      {"Resize", 19, "f32[1, 1, 10, 7]; ; ; i64[2] = [5, 6]", "axes=[2, 3] keep_aspect_ratio_policy=not_larger",
       "f32[1, 1, 5, 4]"},
      {"Resize", 13, "f32[1, 1, 9, 9]; ; ; i64[4] = [1, 1, 0, 5]", "", "error[resize.sizes]"},
      {"Resize", 13, "f32[1, 1, 9, 9]; ; f32[4] = [1, 1, 0, 5]", "", "error[resize.scale]"},
      {"Resize", 13, "f32[1, 1, 9, 9]; ; f32[2] = [2, 2]", "", "error[resize.length]"},
      {"Resize", 13, "f32[1, 1, 9, 9]", "", "error[resize.target]"},
      {"Resize", 10, "f32[1, 1, 9, 9]; f32[4]", "", "f32[resize, resize.1, resize.2, resize.3]"},
      {"Upsample", 7, "f32[b, 1, h, 5]", "scales=[1.0, 1.0, 2.0, 1.5]", "f32[b, 1, 2*h, 7]"},
      {"Upsample", 9, "f32[1, 1, 5, 5]; f32[4] = [1, 1, 0.5, 2]", "", "error[resize.scale]"},
      {"Upsample", 10, "f32[1, 1, 5, 5]; f32[4] = [1, 1, 2, 2]", "", "error[upsample.deprecated]"},
      {"Upsample", 9, "f32[1, 1, 5, 5]; f32[4] = [1, 1, 2, 2]", "mode=quintic", "error[resize.mode]"},
      {"Resize", 13, "f32[1, n]; ; f32[2] = [1, 2]", "mode=quintic", "error[resize.mode]"},
      {"Resize", 13, "f32[1, n]; ; f32[2] = [1, 2]", "nearest_mode=far", "error[resize.mode]"},
      {"Resize", 13, "f32[1, n]; ; f32[2] = [1, 2]", "coordinate_transformation_mode=none", "error[resize.mode]"},
      {"Resize", 13, "string[1, n]; ; f32[2] = [1, 2]", "mode=linear", "error[dtype]"},
      {"Resize", 13, "string[1, n]; ; f32[2] = [1, 2]", "", "string[1, 2*n]"},
  });
}

// Positions that fall on a border between two entries, by scales that no double holds.
TEST(Resize, Borders) {
  const auto row = [](const char* input, const char* modes, const char* output) {
    return Row{"Resize", 13, input, modes, output};
  };
  const char* seven = "i64[7] = [0, 1, 2, 3, 4, 5, 6]; ; ; i64[1] = [9]";
  const char* fourteen = "i64[14] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]; ; ; i64[1] = [9]";
  check_rows({
      row(seven, "nearest_mode=floor", "i64[9] = [0, 0, 1, 2, 3, 3, 4, 5, 6]"),
      row(seven, "nearest_mode=ceil", "i64[9] = [0, 1, 2, 3, 3, 4, 5, 6, 6]"),
      row(fourteen, "nearest_mode=round_prefer_floor", "i64[9] = [0, 2, 3, 5, 6, 8, 10, 11, 13]"),
      row(fourteen, "nearest_mode=round_prefer_ceil", "i64[9] = [0, 2, 3, 5, 7, 8, 10, 11, 13]"),
      row("i64[7] = [0, 1, 2, 3, 4, 5, 6]; ; ; i64[1] = [18]",
          "coordinate_transformation_mode=asymmetric nearest_mode=round_prefer_ceil",
          "i64[18] = [0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6]"),
  });
}

TEST(Image, Rows) {
  check_rows({
      {"NonMaxSuppression", 11, "f32[b, n, 4]; f32[b, c, n]; i64[1] = [3]", "",
       "i64[selected, 3] in 0..max(b, n, c) - 1"},
      {"NonMaxSuppression", 11, "f32[1, 5, 4]; f32[1, 2, 5]", "", "i64[0, 3] in 0..4"},
      {"NonMaxSuppression", 11, "f32[1, 5, 4]; f32[1, 2, 6]", "", "error[shape.equal]"},
      {"HannWindow", 17, "i64[] = [n]", "", "f32[n]"},
      {"HannWindow", 17, "i64[] = [-1]", "", "error[window.size]"},
      {"MelWeightMatrix", 17, "i64[] = [8]; i64[] = [16]; i64[] = [8192]; f32[] = [0]; f32[] = [4096]", "",
       "f32[9, 8]"},
      {"Col2Im", 18, "f32[b, 5, 5]; i64[2] = [5, 5]; i64[2] = [1, 5]", "", "f32[b, 1, 5, 5]"},
      {"Col2Im", 18, "f32[b, 5, 4]; i64[2] = [5, 5]; i64[2] = [1, 5]", "", "error[col2im.blocks]"},
      {"AffineGrid", 20, "f32[b, 2, 3]; i64[4] = [b, 3, h, w]", "", "f32[b, h, w, 2]"},
      {"AffineGrid", 20, "f32[1, 2, 3]; i64[5] = [1, 3, 4, 5, 6]", "", "error[shape.equal]"},
      {"GridSample", 20, "f32[b, c, h, w]; f32[b, 4, 5, 2]", "mode=fuzzy", "error[gridsample.mode]"},
      {"GridSample", 20, "f32[b, c, h, w]; f32[b, 4, 5, 2]", "padding_mode=fuzzy", "error[gridsample.mode]"},
      {"GridSample", 20, "string[b, c, h, w]; f32[b, 4, 5, 2]", "mode=cubic", "error[dtype]"},
      {"RoiAlign", 16, "f32[b, c, h, w]; f32[n, 4]; i64[n]", "mode=min", "error[roi.mode]"},
      {"RoiAlign", 16, "f32[b, c, h, w]; f32[n, 4]; i64[n]", "sampling_ratio=-1", "error[roi.samples]"},
      {"ImageDecoder", 20, "u8[n]", "pixel_format=Grayscale", "u8[height, width, 1]"},
  });
}

}  // namespace
}  // namespace anyshape::ops
