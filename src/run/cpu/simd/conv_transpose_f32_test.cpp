#include "run/cpu/simd/conv_transpose_f32.h"

#include <gtest/gtest.h>

#include "run/cpu/simd/simd_testing.h"

namespace anyshape::simd {
namespace {

// A random transposed convolution.
struct TransposeCase {
  ConvTranspose c;
  std::vector<float> in, weights, bias, out, scratch;

  explicit TransposeCase(Dice& dice) {
    c.batch = dice.between(1, 2);
    c.groups = dice.between(1, 3);
    c.in_channels = dice.between(1, 20);
    c.out_channels = dice.between(1, 30);
    const bool plain = dice.coin();  // as in the way up of a U-Net
    set_axis(dice, plain, c.in_width, c.out_width, c.kernel_width, c.stride_x, c.dilation_x, c.cut_left);
    if (dice.coin())
      set_axis(dice, plain, c.in_height, c.out_height, c.kernel_height, c.stride_y, c.dilation_y, c.cut_top);
    in = dice.numbers(c.batch * c.groups * c.in_channels * c.in_places());
    weights = dice.numbers(c.groups * c.in_channels * c.out_channels * c.area());
    bias = dice.numbers(c.groups * c.out_channels);
    out.assign(static_cast<size_t>(c.batch * c.groups * c.out_channels * c.out_places() + 1), 77.0f);
    if (dice.coin()) c.bias = bias.data();
    if (dice.coin()) c.activation = {Activation::relu};
    c.in = in.data(), c.weights = weights.data(), c.out = out.data();
    scratch.assign(static_cast<size_t>(conv_transpose_scratch(c) + 17), std::nanf(""));
  }

  static void set_axis(Dice& dice, bool plain, int64_t& in, int64_t& out, int64_t& kernel, int64_t& stride,
                       int64_t& dilation, int64_t& cut) {
    kernel = plain ? 2 : dice.between(1, 5);
    stride = plain ? 2 : dice.between(1, 4);
    dilation = plain ? 1 : dice.between(1, 3);
    in = std::max<int64_t>(dice.size(70), 1);
    const int64_t full = stride * (in - 1) + (kernel - 1) * dilation + 1 + dice.between(0, 1);
    cut = plain && dice.coin() ? 0 : dice.between(0, std::min<int64_t>(full - 1, 4));
    out = full - cut - dice.between(0, std::min<int64_t>(full - cut - 1, 3));
  }

  std::vector<double> expected() const {
    std::vector<double> sums(out.size() - 1);
    size_t i = 0;
    for (double& sum : sums)
      sum = c.bias ? c.bias[static_cast<int64_t>(i++) / c.out_places() % (c.groups * c.out_channels)] : 0;
    for (int64_t image = 0; image < c.batch * c.groups; ++image)
      for (int64_t channel = 0; channel < c.in_channels; ++channel)
        for (int64_t at = 0; at < c.in_places(); ++at)
          for (int64_t tap = 0; tap < c.out_channels * c.area(); ++tap) add(image, channel, at, tap, sums);
    if (c.activation.kind == Activation::relu)
      for (double& sum : sums) sum = std::max(sum, 0.0);
    return sums;
  }

  void add(int64_t image, int64_t channel, int64_t at, int64_t tap, std::vector<double>& sums) const {
    const int64_t ky = tap % c.area() / c.kernel_width, kx = tap % c.kernel_width;
    const int64_t y = at / c.in_width * c.stride_y + ky * c.dilation_y - c.cut_top;
    const int64_t x = at % c.in_width * c.stride_x + kx * c.dilation_x - c.cut_left;
    if (y < 0 || x < 0 || y >= c.out_height || x >= c.out_width) return;
    const int64_t filter = image * c.out_channels + tap / c.area(), group = image % c.groups;
    sums[static_cast<size_t>((filter * c.out_height + y) * c.out_width + x)] +=
        static_cast<double>(in[static_cast<size_t>((image * c.in_channels + channel) * c.in_places() + at)]) *
        weights[static_cast<size_t>((group * c.in_channels + channel) * c.out_channels * c.area() + tap)];
  }

  void run(Dice& dice) {
    float* aligned = scratch.data();
    while (reinterpret_cast<uintptr_t>(aligned) % 64 != 0) ++aligned;
    const int64_t items = conv_transpose_items(c), cut = dice.between(0, items);
    conv_transpose_run(c, cut, items, aligned);
    conv_transpose_run(c, 0, cut, aligned);
  }
};

TEST(ConvTranspose, AgainstLoops) {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Dice dice(seed);
      TransposeCase x(dice);
      x.run(dice);
      const std::vector<double> expected = x.expected();
      for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(x.out[i], expected[i], 5e-5) << i;
      ASSERT_EQ(x.out.back(), 77.0f);
    }
  });
}

}  // namespace
}  // namespace anyshape::simd
