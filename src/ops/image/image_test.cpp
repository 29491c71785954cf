#include <gtest/gtest.h>

#include <complex>
#include <numbers>

#include "kernels/fft.h"
#include "ops/testing.h"

namespace anyshape::ops {
namespace {

TEST(Resize, Kernel) {
  check_kernel_rows({
      {"Resize", 10, "f32[1, 1, 2, 4] = [1, 2, 3, 4, 5, 6, 7, 8]; f32[4] = [1, 1, 0.6, 0.6]", "mode=nearest",
       "f32[1, 1, 1, 2] = [1, 3]"},
      {"Resize", 10, "f32[1, 1, 1, 4] = [1, 2, 3, 4]; f32[4] = [1, 1, 1, 2]", "mode=linear",
       "f32[1, 1, 1, 8] = [1, 1.5, 2, 2.5, 3, 3.5, 4, 4]"},
      {"Upsample", 1, "f32[1, 1, 1, 2] = [1, 3]", "mode=nearest height_scale=2.0 width_scale=2.0",
       "f32[1, 1, 2, 4] = [1, 1, 3, 3, 1, 1, 3, 3]"},
      {"Upsample", 7, "f16[1, 2] = [1, 3]", "mode=linear scales=[1.0, 2.0]", "f16[1, 4] = [1, 2, 3, 3]"},
      {"Upsample", 9, "bool[2] = [1, 0]; f32[1] = [2]", "mode=nearest", "bool[4] = [1, 1, 0, 0]"},
      {"Resize", 11, "string[3] = [a, b, c]; ; f32[1] = [2]", "coordinate_transformation_mode=tf_half_pixel_for_nn",
       "string[6] = [a, b, b, c, c, c]"},
      {"Resize", 11, "string[2] = [a, b]; ; f32[1] = [2]", "mode=linear", "error[dtype]"},
      {"Resize", 13, "u8[2] = [0, 255]; ; f32[1] = [2]", "mode=linear", "u8[4] = [0, 64, 191, 255]"},
      {"Resize", 13, "i64[2] = [9007199254740993, -9007199254740993]; ; f32[1] = [2]", "",
       "i64[4] = [9007199254740993, 9007199254740993, -9007199254740993, -9007199254740993]"},
      {"Resize", 13, "i8[3] = [-100, 0, 100]; f32[2] = [0, 2]; ; i64[1] = [3]",
       "coordinate_transformation_mode=tf_crop_and_resize extrapolation_value=-7.0", "i8[3] = [-100, 100, -7]"},
      {"Resize", 13, "f32[3] = [1, 2, 3]; f32[2] = [nan, 2]; ; i64[1] = [2]",
       "mode=linear coordinate_transformation_mode=tf_crop_and_resize", "f32[2] = [0, 0]"},
      {"Resize", 19, "f64[4] = [1, 2, 3, 4]; ; ; i64[1] = [2]", "mode=linear antialias=1", "f64[2] = [1.625, 3.375]"},
      {"Resize", 19, "bf16[2, 2] = [1, 2, 3, 4]; ; ; i64[1] = [1]", "mode=linear axes=[0]", "bf16[1, 2] = [2, 3]"},
      {"Resize", 13, "f32[0, 2] = []; ; f32[2] = [1, 2]", "mode=cubic", "f32[0, 4] = []"},
      {"Resize", 13, "f32[2] = [1, 2]; ; f32[1] = [2]", "mode=quintic", "error[resize.mode]"},
      {"Resize", 13, "f32[2] = [1, 2]; ; f32[1] = [2]", "coordinate_transformation_mode=tf_crop_and_resize",
       "error[dtype]"},
  });
}

TEST(Image, Kernel) {
  check_kernel_rows({
      {"NonMaxSuppression", 10, "f32[1, 2, 4] = [0, 0, 1, 1, 0, 0, 1, 1]; f32[1, 1, 2] = [nan, 0.5]; i64[1] = [2]", "",
       "i64[1, 3] = [0, 0, 1]"},
      {"NonMaxSuppression", 10, "f32[1, 0, 4] = []; f32[1, 1, 0] = []; i64[1] = [2]", "", "i64[0, 3] = []"},
      {"Col2Im", 18, "i8[1, 2, 2] = [100, 1, 2, 100]; i64[1] = [3]; i64[1] = [2]", "", "i8[1, 1, 3] = [100, 3, 100]"},
      {"Col2Im", 18, "u8[1, 2, 2] = [1, 200, 100, 1]; i64[1] = [3]; i64[1] = [2]", "", "u8[1, 1, 3] = [1, 44, 1]"},
      {"Col2Im", 18, "bool[1, 2, 2] = [1, 1, 1, 0]; i64[1] = [3]; i64[1] = [2]", "", "bool[1, 1, 3] = [1, 1, 0]"},
      {"Col2Im", 18, "string[1, 2, 2] = [a, b, c, d]; i64[1] = [4]; i64[1] = [2]", "strides=[2]",
       "string[1, 1, 4] = [a, c, b, d]"},
      {"Col2Im", 18, "string[1, 2, 2] = [a, b, c, d]; i64[1] = [3]; i64[1] = [2]", "", "error[dtype]"},
      {"AffineGrid", 20, "f64[1, 2, 3] = [1, 0, 0, 0, 1, 0]; i64[4] = [1, 1, 1, 2]", "align_corners=1",
       "f64[1, 1, 2, 2] = [-1, -1, 1, -1]"},
      {"AffineGrid", 20, "f16[1, 2, 3] = [1, 0, 1, 0, 1, 0]; i64[4] = [1, 1, 1, 2]", "",
       "f16[1, 1, 2, 2] = [0.5, 0, 1.5, 0]"},
  });
}

TEST(Roi, Kernel) {
  check_kernel_rows({
      {"MaxRoiPool", 1, "f32[1, 1, 2, 3] = [1, 2, 3, 4, 5, 6]; f32[2, 5] = [0, 0, 0, 2, 1, 0, 5, 5, 9, 9]",
       "pooled_shape=[1, 2]", "f32[2, 1, 1, 2] = [5, 6, 0, 0]"},
      {"MaxRoiPool", 22, "bf16[1, 1, 1, 1] = [1]; bf16[1, 5] = [1, 0, 0, 1, 1]", "pooled_shape=[1, 1]",
       "error[roi.batch]"},
      {"RoiAlign", 10, "f64[1, 1, 2, 2] = [1, 2, 3, 4]; f64[1, 4] = [0, 0, 2, 2]; i64[1] = [0]", "sampling_ratio=2",
       "f64[1, 1, 1, 1] = [3.25]"},
      {"RoiAlign", 16, "f16[1, 1, 2, 2] = [1, 2, 3, 4]; f16[1, 4] = [0, 0, 2, 2]; i64[1] = [0]", "sampling_ratio=2",
       "f16[1, 1, 1, 1] = [2.5]"},
      {"RoiAlign", 16, "f32[1, 1, 2, 2] = [1, 2, 3, 4]; f32[1, 4] = [2, 2, 0, 0]; i64[1] = [0]", "",
       "f32[1, 1, 1, 1] = [0]"},
      {"RoiAlign", 16, "f32[1, 1, 2, 2] = [1, 2, 3, 4]; f32[1, 4] = [0, 0, 1e30, 1e30]; i64[1] = [0]", "",
       "error[roi.size]"},
      {"RoiAlign", 16, "f32[1, 1, 2, 2] = [1, 2, 3, 4]; f32[1, 4] = [nan, nan, nan, nan]; i64[1] = [0]", "mode=max",
       "f32[1, 1, 1, 1] = [0]"},
      {"RoiAlign", 16, "f32[1, 1, 2, 2] = [1, 2, 3, 4]; f32[1, 4] = [0, 0, 2, 2]; i64[1] = [-1]", "",
       "error[roi.batch]"},
      {"GridSample", 16, "string[1, 1, 1, 2] = [a, b]; f32[1, 1, 3, 2] = [-1, 0, 1, 0, 5, 0]",
       "mode=nearest align_corners=1 padding_mode=border", "string[1, 1, 1, 3] = [a, b, b]"},
      {"GridSample", 22, "u8[1, 1, 2] = [0, 255]; bf16[1, 3, 1] = [0, nan, inf]", "padding_mode=reflection",
       "u8[1, 1, 3] = [128, 0, 0]"},
      {"GridSample", 20, "f32[1, 1, 1] = [7]; f32[1, 2, 1] = [-9, 9]",
       "mode=cubic align_corners=1 padding_mode=reflection", "f32[1, 1, 2] = [7, 7]"},
      // As PyTorch: up to a cell outside the border, cells are mixed.
      {"GridSample", 20, "f32[1, 1, 4] = [1, 2, 4, 8]; f32[1, 7, 1] = [-1.125, -0.875, -1.5, 1.125, 1.5, 5e8, -5e8]",
       "mode=cubic padding_mode=border", "f32[1, 1, 7] = [0.964844, 0.894531, 1, 8.14062, 8, 8, 1]"},
      {"GridSample", 20, "f32[1, 1, 4] = [1, 2, 4, 8]; f32[1, 4, 1] = [-1.5, -2, 1.5, 2]",
       "mode=cubic align_corners=1 padding_mode=border", "f32[1, 1, 4] = [0.964844, 1, 8.14062, 8]"},
  });
}

TEST(Resize, Positions) {
  check_kernel_rows({
      // One cell reads the first one; a region is spread over the cells there are, whatever the scale is.
      {"Resize", 19, "f32[4] = [1, 2, 4, 8]; ; ; i64[1] = [1]",
       "mode=cubic coordinate_transformation_mode=pytorch_half_pixel", "f32[1] = [1]"},
      {"Resize", 19, "f32[4] = [1, 2, 4, 8]; ; f32[1] = [0.4]",
       "mode=linear coordinate_transformation_mode=pytorch_half_pixel", "f32[1] = [1]"},
      {"Resize", 19, "f32[4] = [1, 2, 4, 8]; f32[2] = [0, 1]; f32[1] = [0.9]",
       "mode=linear coordinate_transformation_mode=tf_crop_and_resize", "f32[3] = [1, 3, 8]"},
  });
}

TEST(Spectral, LongLengths) {
  for (const size_t length : {1u, 2u, 64u, 65u, 97u, 100u, 1000u, 1021u, 1024u}) {
    Temporary<std::complex<double>> signal(length);
    for (size_t i = 0; i < length; ++i) signal[i] = {static_cast<double>(i * i % 7) - 3, static_cast<double>(i % 5)};
    auto got = signal;
    const kernels::Fft fft(length);
    fft.run(got, false);
    for (const size_t k : {size_t{0}, length / 3, length - 1}) {
      std::complex<double> want;
      for (size_t i = 0; i < length; ++i)
        want += signal[i] * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i * k % length) /
                                                static_cast<double>(length));
      EXPECT_LT(std::abs(got[k] - want), 1e-9) << length << " at " << k;
    }
    fft.run(got, true);
    for (size_t i = 0; i < length; ++i) EXPECT_LT(std::abs(got[i] - signal[i]), 1e-12) << length << " at " << i;
  }
}

TEST(Spectral, Kernel) {
  check_kernel_rows({
      {"DFT", 17, "f64[1, 3, 1] = [1, 2, 3]", "", "f64[1, 3, 2] = [6, 0, -1.5, 0.866025, -1.5, -0.866025]"},
      {"DFT", 20, "f16[3, 1] = [1, 2, 3]; i64[] = [5]", "onesided=1",
       "f16[3, 2] = [6, 0, -0.809082, -3.66602, 0.309082, 1.67773]"},
      {"DFT", 20, "f32[2, 2] = [6, 5, -2, 5]; i64[] = [2]", "onesided=1 inverse=1", "f32[2, 1] = [2, 4]"},
      {"DFT", 20, "f32[1, 2] = [6, 1]", "inverse=1", "f32[1, 2] = [6, 1]"},
      {"DFT", 20, "f32[0, 3, 1] = []", "", "f32[0, 3, 2] = []"},
      {"DFT", 20, "f32[2, 1] = [1, 2]; ; i64[] = [1]", "", "error[dft.axis]"},
      {"STFT", 17, "f64[1, 4, 1] = [1, 2, 3, 4]; i64[] = [2]; ; i64[] = [2]", "",
       "f64[1, 2, 2, 2] = [3, 0, -1, 0, 7, 0, -1, 0]"},
      {"HannWindow", 17, "i32[] = [4]", "output_datatype=@f64", "f64[4] = [0, 0.5, 1, 0.5]"},
      {"HannWindow", 17, "i32[] = [1]", "periodic=0", "f32[1] = [nan]"},
      {"BlackmanWindow", 17, "i64[] = [0]", "", "f32[0] = []"},
      {"HammingWindow", 17, "i64[] = [3]", "periodic=0 output_datatype=@i32", "i32[3] = [0, 1, 0]"},
      {"MelWeightMatrix", 17, "i64[] = [2]; i64[] = [8]; i64[] = [0]; f32[] = [0]; f32[] = [4]", "",
       "error[melweightmatrix.edge]"},
  });
}

}  // namespace
}  // namespace anyshape::ops
