#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "run/cpu/simd/blocked.h"
#include "run/cpu/simd/simd_testing.h"

// Cases of convolutions over blocked channels with what a loop in double makes of them.
namespace anyshape::simd {

inline void random_axis(Dice& dice, bool pointwise, int64_t& size, int64_t& count, int64_t& kernel, int64_t& stride,
                        int64_t& dilation, int64_t& pad) {
  kernel = pointwise ? 1 : dice.between(1, 5);
  stride = pointwise ? 1 : dice.between(1, 3);
  dilation = dice.between(1, 3);
  const int64_t extent = (kernel - 1) * dilation + 1, most = dice.coin() ? 2 : extent + 3;
  pad = pointwise ? 0 : dice.between(0, most);
  const int64_t end = pointwise ? 0 : dice.between(0, most);
  size = std::max<int64_t>(dice.size(30), extent - pad - end);
  count = (size + pad + end - extent) / stride + 1;
}

inline double activated(const ActivationSpec& a, double x) {
  switch (a.kind) {
    case Activation::none:
      return x;
    case Activation::relu:
      return std::max(x, 0.0);
    case Activation::clip:
      return std::clamp<double>(x, a.a, a.b);
    case Activation::leaky_relu:
      return x < 0 ? x * a.a : x;
    case Activation::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::tanh:
      return std::tanh(x);
    case Activation::gelu:
      return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::gelu_tanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::hard_swish:
      return x * std::clamp(x / 6 + 0.5, 0.0, 1.0);
  }
  return x;
}

// [n, c, plane] in blocks; lanes past the last channel are NaN.
inline std::vector<float> in_blocks(const std::vector<float>& plain, int64_t batch, int64_t channels, int64_t plane) {
  const int64_t lanes = block_lanes(), blocks = (channels + lanes - 1) / lanes;
  std::vector<float> out(static_cast<size_t>(batch * blocks * plane * lanes), std::nanf(""));
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t p = 0; p < plane; ++p)
        out[static_cast<size_t>(((b * blocks + c / lanes) * plane + p) * lanes + c % lanes)] =
            plain[static_cast<size_t>((b * channels + c) * plane + p)];
  return out;
}

class ConvCase {
 public:
  ConvCase(Dice& dice, const BlockedConv& conv, const ActivationSpec& activation) : c_(conv) {
    c_.activation = activation;
    const int64_t outs = c_.groups * c_.out_channels, depth = c_.in_channels * c_.kernel_height * c_.kernel_width;
    in_ = dice.numbers(c_.batch * c_.groups * c_.in_channels * c_.in_height * c_.in_width);
    weights_ = dice.numbers(outs * depth, std::sqrt(3.0f / static_cast<float>(std::max<int64_t>(depth, 1))));
    bias_ = dice.numbers(outs);
    residual_ = dice.numbers(c_.batch * outs * c_.out_height * c_.out_width);
    with_bias_ = dice.coin();
    with_residual_ = dice.coin();
    pack(dice);
  }

  void set_input(int64_t image, int64_t channel, int64_t y, int64_t x, float value) {
    in_[static_cast<size_t>(((image * c_.groups * c_.in_channels + channel) * c_.in_height + y) * c_.in_width + x)] =
        value;
  }
  void residual_in_place() { with_residual_ = in_place_ = true; }

  // In two calls, as two threads would.
  void run(Dice& dice) {
    const int64_t places = c_.out_height * c_.out_width, outs = c_.groups * c_.out_channels;
    const auto in =
        c_.plain_input ? in_ : in_blocks(in_, c_.batch, c_.groups * c_.in_channels, c_.in_height * c_.in_width);
    const auto residual = in_blocks(residual_, c_.batch, outs, places);
    out_ = residual;
    if (!in_place_) std::fill(out_.begin(), out_.end(), 77.0f);
    out_.resize(out_.size() + kGuard, 77.0f);
    c_.in = in.data(), c_.out = out_.data(), c_.weights = packed_.data();
    c_.bias = with_bias_ ? bias_.data() : nullptr;
    c_.residual = !with_residual_ ? nullptr : in_place_ ? out_.data() : residual.data();
    const size_t floats = static_cast<size_t>(blocked_conv_scratch(c_));
    for (const bool second : {false, true}) {
      std::vector<float> scratch(floats + 16 + kGuard, std::nanf(""));
      float* aligned = scratch.data();
      while (reinterpret_cast<uintptr_t>(aligned) % 64 != 0) ++aligned;
      std::fill_n(aligned + floats, kGuard, 77.0f);
      const int64_t items = blocked_conv_items(c_);
      if (!second) cut_ = dice.between(0, items);
      blocked_conv_run(c_, second ? 0 : cut_, second ? cut_ : items, aligned);
      scratch_holds_ &= std::all_of(aligned + floats, aligned + floats + kGuard, [](float x) { return x == 77.0f; });
    }
  }

  float output(int64_t image, int64_t channel, int64_t y, int64_t x) const {
    const int64_t lanes = block_lanes(), blocks = (c_.groups * c_.out_channels + lanes - 1) / lanes;
    const int64_t plane = (image * blocks + channel / lanes) * c_.out_height + y;
    return out_[static_cast<size_t>((plane * c_.out_width + x) * lanes + channel % lanes)];
  }

  // The greatest difference from the loop in double; infinite where a number is none.
  double worst() const {
    double most = 0;
    for_each([&](double got, double want) {
      const double error = std::abs(got - want);
      most = error <= most ? most : error == error ? error : INFINITY;
    });
    return most;
  }
  // Of all outputs, as one vector.
  double relative_error() const {
    double error = 0, size = 0;
    for_each([&](double got, double want) {
      error += (got - want) * (got - want);
      size += want * want;
    });
    return std::sqrt(error / size);
  }
  bool guards_hold() const {
    return scratch_holds_ && std::all_of(out_.end() - kGuard, out_.end(), [](float x) { return x == 77.0f; });
  }

 private:
  static constexpr int64_t kGuard = 64;

  void pack(Dice& dice) {
    const size_t shift = static_cast<size_t>(dice.between(0, 3));
    std::vector<std::byte> bytes(weights_.size() * sizeof(float) + 4);
    if (!weights_.empty()) std::memcpy(bytes.data() + shift, weights_.data(), weights_.size() * sizeof(float));
    packed_.assign(static_cast<size_t>(blocked_conv_packed_size(c_)), std::nanf(""));
    blocked_conv_pack(c_, bytes.data() + shift, packed_.data());
  }

  double input(int64_t plane, int64_t y, int64_t x) const {
    if (y < 0 || x < 0 || y >= c_.in_height || x >= c_.in_width) return 0;
    return in_[static_cast<size_t>((plane * c_.in_height + y) * c_.in_width + x)];
  }

  double expected(int64_t image, int64_t channel, int64_t y, int64_t x) const {
    const int64_t plane = (image * c_.groups + channel / c_.out_channels) * c_.in_channels;
    double sum = with_bias_ ? bias_[static_cast<size_t>(channel)] : 0;
    const float* w = weights_.data() + channel * c_.in_channels * c_.kernel_height * c_.kernel_width;
    for (int64_t i = 0; i < c_.in_channels; ++i)
      for (int64_t ky = 0; ky < c_.kernel_height; ++ky)
        for (int64_t kx = 0; kx < c_.kernel_width; ++kx)
          sum += *w++ * input(plane + i, y * c_.stride_y + ky * c_.dilation_y - c_.pad_top,
                              x * c_.stride_x + kx * c_.dilation_x - c_.pad_left);
    const int64_t at = ((image * c_.groups * c_.out_channels + channel) * c_.out_height + y) * c_.out_width + x;
    return activated(c_.activation, with_residual_ ? sum + residual_[static_cast<size_t>(at)] : sum);
  }

  template <class Fn>
  void for_each(Fn fn) const {
    for (int64_t b = 0; b < c_.batch; ++b)
      for (int64_t channel = 0; channel < c_.groups * c_.out_channels; ++channel)
        for (int64_t y = 0; y < c_.out_height; ++y)
          for (int64_t x = 0; x < c_.out_width; ++x)
            fn(static_cast<double>(output(b, channel, y, x)), expected(b, channel, y, x));
  }

  BlockedConv c_;
  std::vector<float> in_, weights_, bias_, residual_, packed_, out_;
  bool with_bias_ = false, with_residual_ = false, in_place_ = false, scratch_holds_ = true;
  int64_t cut_ = 0;
};

}  // namespace anyshape::simd
