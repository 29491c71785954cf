#include <cstring>
#include <limits>

#include "run/cpu/simd/blocked_parts.h"

namespace anyshape::simd {
namespace {

enum class Way : uint8_t { direct, depthwise };

Way way_of(const BlockedConv& c) {
  return c.groups > 1 && c.in_channels == 1 && c.out_channels == 1 ? Way::depthwise : Way::direct;
}

}  // namespace

float read_float(const std::byte* from, int64_t i) {
  float x;
  std::memcpy(&x, from + i * static_cast<int64_t>(sizeof(float)), sizeof(float));
  return x;
}

Limits limits_of(const ActivationSpec& activation) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (activation.kind) {
    case Activation::none:
      return {-kInfinity, kInfinity, true};
    case Activation::relu:
      return {0, kInfinity, true};
    case Activation::clip:
      return {activation.a, activation.b, true};
    default:
      return {-kInfinity, kInfinity, false};
  }
}

std::string_view blocked_conv_refuses(const BlockedConv& c) {
  if (c.groups == 1) return "";
  if (c.plain_input) return "its input has groups of channels";
  if (c.in_channels == 1 && c.out_channels == 1) return "";
  if (c.in_channels % block_lanes() == 0 && c.out_channels % block_lanes() == 0) return "";
  return "its groups have neither one channel nor whole blocks of them";
}

int64_t blocked_conv_packed_size(const BlockedConv& c) {
  return way_of(c) == Way::depthwise ? depthwise_packed_size(c) : direct_packed_size(c);
}

void blocked_conv_pack(const BlockedConv& c, const std::byte* from, float* to) {
  way_of(c) == Way::depthwise ? depthwise_pack(c, from, to) : direct_pack(c, from, to);
}

std::string_view blocked_conv_way(const BlockedConv& c) {
  if (way_of(c) == Way::depthwise) return "depthwise";
  if (c.plain_input) return "direct from plain channels";
  return is_pointwise(c) ? "pointwise" : "direct";
}

int64_t blocked_conv_items(const BlockedConv& c) {
  return way_of(c) == Way::depthwise ? depthwise_items(c) : direct_items(c);
}

int64_t blocked_conv_scratch(const BlockedConv& c) { return way_of(c) == Way::depthwise ? 0 : direct_scratch(c); }

void blocked_conv_run(const BlockedConv& c, int64_t first, int64_t last, float* scratch) {
  if (c.out_height == 0 || c.out_width == 0) return;
  way_of(c) == Way::depthwise ? depthwise_run(c, first, last) : direct_run(c, first, last, scratch);
}

}  // namespace anyshape::simd
