#include <gtest/gtest.h>

#include "ops/testing.h"

namespace anyshape::ops {
namespace {

TEST(Conv, Sizes) {
  check_rows({
      {"Conv", 22, "f32[b, 3, h, w]; f32[16, 3, 3, 3]", "pads=[1, 1, 1, 1] strides=[2, 2]",
       "f32[b, 16, (h + 1)//2, (w + 1)//2]", "h >= 1; w >= 1"},
      {"Conv", 1, "f32[b, c, h]; f32[16, 3, 7]", "", "f32[b, 16, h - 6]", "c == 3; h >= 7"},
      {"Conv", 11, "f32[1, 4, 9]; f32[6, 2, 3]; f32[6]", "group=2 dilations=[2]", "f32[1, 6, 5]"},
      {"Conv", 11, "f32[1, 2, 0]; f32[3, 2, 3]", "pads=[2, 2]", "f32[1, 3, 2]"},
      {"Conv", 11, "f32[0, 2, 5]; f32[3, 2, 3]", "", "f32[0, 3, 3]"},
      {"Conv", 11, "f32[b, 2, h]; f32[3, 2, 3]", "auto_pad=SAME_LOWER strides=[2]", "f32[b, 3, (h + 1)//2]", "h >= 1"},
      {"Conv", 11, "f32[b, 2, h]; f32[3, 2, 3]", "auto_pad=VALID strides=[2]", "f32[b, 3, (h + 1)//2 - 1]", "h >= 3"},
      {"ConvInteger", 10, "u8[1, 2, 5]; i8[3, 2, 3]; u8[]; i8[3]", "", "i32[1, 3, 3]"},
      {"QLinearConv", 10, "u8[1, 2, 5]; f32[]; u8[]; i8[3, 2, 3]; f32[3]; i8[3]; f32[]; i8[]; i32[3]", "",
       "i8[1, 3, 3]"},
      {"DeformConv", 19, "f32[n, 2, 5, 5]; f32[3, 2, 3, 3]; f32[m, 18, p, 3]; ; f32[n, 9, 3, 3]", "", "f32[n, 3, 3, 3]",
       "n == m; p == 3"},
      {"CausalConvWithState", 27, "f32[b, 8, t]; f32[8, 1, 4]; f32[8]; f32[b, 8, s]", "", "f32[b, 8, t]; f32[b, 8, 3]",
       "s == 3"},
  });
}

TEST(Conv, Refusals) {
  check_rows({
      {"Conv", 22, "f32[1, 2, 2]; f32[3, 2, 3]", "", "error[conv.window]"},
      {"Conv", 22, "f32[0, 2, 1]; f32[3, 2, 3]", "", "error[conv.window]"},
      {"Conv", 22, "f32[1, 2, 0]; f32[3, 2, 3]", "auto_pad=SAME_UPPER", "error[conv.window]"},
      {"Conv", 22, "f32[1, 2, 5]; f32[3, 1, 3]", "", "error[conv.channels]"},
      {"Conv", 22, "f32[1, 4, 5]; f32[3, 2, 3]", "group=2", "error[conv.group]"},
      {"Conv", 22, "f32[1, 4, 5]; f32[4, 2, 3]", "group=0", "error[conv.group]"},
      {"Conv", 22, "f32[1, 2, 5]; f32[3, 2, 3]; f32[1]", "", "error[conv.bias]"},
      {"Conv", 22, "f32[1, 2, 5]; f32[3, 2, 3]", "kernel_shape=[2]", "error[conv.kernel]"},
      {"Conv", 22, "f32[1, 2, 5]; f32[3, 2, 0]", "", "error[conv.kernel]"},
      {"Conv", 22, "f32[1, 2, 5]; f32[3, 2, 3]", "strides=[0]", "error[window.attribute]"},
      {"Conv", 22, "f32[1, 2, 5]; f32[3, 2, 3]", "strides=[1, 1]", "error[window.attribute]"},
      {"Conv", 22, "f32[1, 2, 5]; f32[3, 2, 3]", "dilations=[9223372036854775807]", "error[window.attribute]"},
      {"Conv", 22, "f32[1, 2, 5]; f32[3, 2, 3]", "pads=[-1, 0]", "error[lenient.pads]"},
      {"Conv", 22, "f32[1, 2, 5]; f32[3, 2, 3]", "auto_pad=VALID pads=[0, 0]", "error[conv.pads]"},
      {"Conv", 22, "f32[1, 2, 5]; f32[3, 2, 3]", "auto_pad=OTHER", "error[window.auto_pad]"},
      {"Conv", 22, "f32[1, 2]; f32[3, 2]", "", "error[rank]"},
      {"Conv", 22, "f32[1, 2, 5, 5]; f32[3, 2, 3]", "", "error[rank]"},
      {"Conv", 22, "f32[...]; f32[3, 2, 3]", "", "unknown[infer.rank]"},
      {"QLinearConv", 10, "u8[1, 2, 5]; f32[2]; u8[]; i8[3, 2, 3]; f32[]; i8[]; f32[]; i8[]", "",
       "error[conv.quantization]"},
      {"DeformConv", 19, "f32[1, 2, 1, 3]; f32[3, 2, 2, 1]; f32[1, 4, 0, 3]", "", "error[lenient.deformconv]"},
  });
}

TEST(ConvTranspose, Sizes) {
  check_rows({
      {"ConvTranspose", 22, "f32[b, 3, h]; f32[3, 8, 3]", "strides=[2] pads=[1, 1] output_padding=[1]",
       "f32[b, 8, 2*h]", "h >= 1"},
      {"ConvTranspose", 1, "f32[b, 4, h]; f32[4, 3, 3]", "group=2", "f32[b, 6, h + 2]"},
      {"ConvTranspose", 11, "f32[b, 3, h]; f32[3, 8, 3]", "strides=[2] auto_pad=SAME_UPPER", "f32[b, 8, 2*h]",
       "h >= 1"},
      {"ConvTranspose", 11, "f32[b, 3, h]; f32[3, 8, 1]", "strides=[2] auto_pad=SAME_LOWER", "f32[b, 8, 2*h - 1]",
       "h >= 1"},
      {"ConvTranspose", 11, "f32[b, 2, h]; f32[2, 3, 3]", "strides=[2] output_shape=[12]", "f32[b, 3, 12]", "h >= 5"},
      {"ConvTranspose", 11, "f32[1, 2, 5]; f32[2, 3, 3]", "strides=[2] output_shape=[13]",
       "error[convtranspose.output_shape]"},
      {"ConvTranspose", 11, "f32[1, 2, 1]; f32[2, 3, 3]", "pads=[2, 1]", "error[convtranspose.size]"},
      {"ConvTranspose", 11, "f32[1, 2, 5]; f32[2, 3, 3]", "output_padding=[1]", "error[convtranspose.output_padding]"},
      {"ConvTranspose", 11, "f32[1, 2, 5]; f32[3, 2, 3]", "", "error[conv.channels]"},
  });
}

}  // namespace
}  // namespace anyshape::ops
