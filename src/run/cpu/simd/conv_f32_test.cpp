#include "run/cpu/simd/conv_f32.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "run/cpu/simd/simd_testing.h"

namespace anyshape::simd {
namespace {

// A random convolution; `plain` weights are in the order of ONNX.
struct ConvCase {
  Conv c;
  std::vector<float> in, plain, packed, bias, residual, out, scratch;

  explicit ConvCase(Dice& dice) {
    c.batch = dice.between(1, 2);
    const int64_t kind = dice.between(0, 3);  // plain, pointwise, depthwise, grouped
    c.groups = kind < 2 ? 1 : dice.between(2, 5);
    c.in_channels = kind == 2 ? 1 : dice.between(1, kind == 1 ? 300 : 20);
    c.out_channels = kind == 2 ? 1 : dice.between(1, dice.coin() ? 8 : 40);
    set_axis(dice, kind == 1, c.in_width, c.out_width, c.kernel_width, c.stride_x, c.dilation_x, c.pad_left);
    if (dice.coin())
      set_axis(dice, kind == 1, c.in_height, c.out_height, c.kernel_height, c.stride_y, c.dilation_y, c.pad_top);
    if (c.in_places() * c.in_channels < 2000 && dice.coin())
      set_axis(dice, kind == 1, c.in_layers, c.out_layers, c.kernel_layers, c.stride_z, c.dilation_z, c.pad_front);
    in = dice.numbers(c.batch * c.groups * c.in_channels * c.in_places() + 1);
    plain = dice.numbers(c.groups * c.out_channels * c.depth());
    bias = dice.numbers(c.groups * c.out_channels);
    const int64_t count = c.batch * c.groups * c.out_channels * c.places();
    residual = dice.numbers(count + 1);
    out.assign(static_cast<size_t>(count + 1), 77.0f);
    if (dice.coin()) c.bias = bias.data();
    if (dice.coin()) c.residual = residual.data();
    if (dice.coin()) c.activation = {dice.coin() ? Activation::relu : Activation::sigmoid};
    pack(dice);
    c.in = in.data(), c.out = out.data();
    scratch.assign(static_cast<size_t>(conv_scratch(c) + 17), std::nanf(""));
  }

  static void set_axis(Dice& dice, bool pointwise, int64_t& size, int64_t& count, int64_t& kernel, int64_t& stride,
                       int64_t& dilation, int64_t& pad) {
    kernel = pointwise ? 1 : dice.between(1, 5);
    stride = pointwise ? 1 : dice.between(1, 3);
    dilation = dice.between(1, 3);
    pad = pointwise ? 0 : dice.between(0, 4);
    const int64_t extent = (kernel - 1) * dilation + 1, end = pointwise ? 0 : dice.between(0, 4);
    size = std::max<int64_t>(dice.size(40), std::max<int64_t>(extent - pad - end, 1));
    count = (size + pad + end - extent) / stride + 1;
  }

  void pack(Dice& dice) {
    const size_t shift = static_cast<size_t>(dice.between(0, 3));
    std::vector<std::byte> bytes(plain.size() * sizeof(float) + 4);
    std::memcpy(bytes.data() + shift, plain.data(), plain.size() * sizeof(float));
    packed.assign(static_cast<size_t>(conv_packed_size(c.groups, c.out_channels, c.depth())), std::nanf(""));
    conv_pack(bytes.data() + shift, c.groups, c.out_channels, c.depth(), packed.data());
    c.weights = packed.data();
  }

  double at(int64_t channel, int64_t z, int64_t y, int64_t x) const {
    if (z < 0 || y < 0 || x < 0 || z >= c.in_layers || y >= c.in_height || x >= c.in_width) return 0;
    return in[static_cast<size_t>(((channel * c.in_layers + z) * c.in_height + y) * c.in_width + x)];
  }

  double expected(int64_t image, int64_t channel, int64_t z, int64_t y, int64_t x) const {
    const int64_t group = channel / c.out_channels;
    double sum = c.bias ? c.bias[channel] : 0;
    const float* w = plain.data() + channel * c.depth();
    for (int64_t i = 0; i < c.in_channels; ++i)
      for (int64_t kz = 0; kz < c.kernel_layers; ++kz)
        for (int64_t ky = 0; ky < c.kernel_height; ++ky)
          for (int64_t kx = 0; kx < c.kernel_width; ++kx)
            sum += *w++ *
                   at((image * c.groups + group) * c.in_channels + i, z * c.stride_z + kz * c.dilation_z - c.pad_front,
                      y * c.stride_y + ky * c.dilation_y - c.pad_top, x * c.stride_x + kx * c.dilation_x - c.pad_left);
    const int64_t layer = (image * c.groups * c.out_channels + channel) * c.out_layers + z;
    const int64_t index = (layer * c.out_height + y) * c.out_width + x;
    if (c.residual) sum += residual[static_cast<size_t>(index)];
    if (c.activation.kind == Activation::relu) return std::max(sum, 0.0);
    return c.activation.kind == Activation::sigmoid ? 1 / (1 + std::exp(-sum)) : sum;
  }

  void run(Dice& dice) {
    float* aligned = scratch.data();
    while (reinterpret_cast<uintptr_t>(aligned) % 64 != 0) ++aligned;
    const int64_t items = conv_items(c), cut = dice.between(0, items);
    conv_run(c, cut, items, aligned);
    conv_run(c, 0, cut, aligned);
  }
};

TEST(Conv, AgainstLoops) {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 150; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Dice dice(seed);
      ConvCase x(dice);
      x.run(dice);
      size_t i = 0;
      for (int64_t b = 0; b < x.c.batch; ++b)
        for (int64_t channel = 0; channel < x.c.groups * x.c.out_channels; ++channel)
          for (int64_t z = 0; z < x.c.out_layers; ++z)
            for (int64_t y = 0; y < x.c.out_height; ++y)
              for (int64_t w = 0; w < x.c.out_width; ++w, ++i)
                ASSERT_NEAR(x.out[i], x.expected(b, channel, z, y, w), 5e-5)
                    << b << " " << channel << " " << z << " " << y << " " << w;
      ASSERT_EQ(x.out.back(), 77.0f);
    }
  });
}

}  // namespace
}  // namespace anyshape::simd
