#include <cstring>
#include <limits>

#include "run/cpu/simd/blocked_parts.h"

namespace anyshape::simd {
namespace {

enum class Way : uint8_t { direct, lines, winograd };

Way way_of(const BlockedConv& c) {
  if (winograd_tile(c) != 0) return Way::winograd;
  return goes_by_lines(c) ? Way::lines : Way::direct;
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
  switch (way_of(c)) {
    case Way::lines:
      return is_depthwise(c) ? depthwise_packed_size(c) : direct_packed_size(c);
    case Way::winograd:
      return winograd_packed_size(c);
    default:
      return direct_packed_size(c);
  }
}

void blocked_conv_pack(const BlockedConv& c, const std::byte* from, float* to) {
  switch (way_of(c)) {
    case Way::lines:
      return is_depthwise(c) ? depthwise_pack(c, from, to) : direct_pack(c, from, to);
    case Way::winograd:
      return winograd_pack(c, from, to);
    default:
      return direct_pack(c, from, to);
  }
}

std::string_view blocked_conv_way(const BlockedConv& c) {
  if (is_depthwise(c)) return "depthwise";
  if (way_of(c) == Way::winograd) {
    const int64_t tile = winograd_tile(c);
    return tile == 4 ? "winograd 4x4" : tile == 3 ? "winograd 3x3 of phases" : "winograd 2x2";
  }
  if (c.plain_input) return "direct from plain channels";
  return is_pointwise(c) ? "pointwise" : "direct";
}

int64_t blocked_conv_items(const BlockedConv& c) {
  if (c.batch == 0 || c.out_height == 0 || c.out_width == 0) return 0;
  switch (way_of(c)) {
    case Way::lines:
      return lines_items(c);
    case Way::winograd:
      return winograd_items(c);
    default:
      return direct_items(c);
  }
}

int64_t blocked_conv_scratch(const BlockedConv& c) {
  switch (way_of(c)) {
    case Way::lines:
      return 0;
    case Way::winograd:
      return winograd_scratch(c);
    default:
      return direct_scratch(c);
  }
}

void blocked_conv_run(const BlockedConv& c, int64_t first, int64_t last, float* scratch) {
  switch (way_of(c)) {
    case Way::lines:
      return lines_run(c, first, last);
    case Way::winograd:
      return winograd_run(c, first, last, scratch);
    default:
      return direct_run(c, first, last, scratch);
  }
}

}  // namespace anyshape::simd
