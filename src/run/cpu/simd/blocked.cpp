#include "run/cpu/simd/blocked.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace anyshape::simd {

int64_t block_lanes() { return __builtin_cpu_supports("avx512f") ? 16 : __builtin_cpu_supports("avx2") ? 8 : 4; }

std::string_view blocked_conv_refuses(const BlockedConv& c) {
  const int64_t lanes = block_lanes();
  if (c.groups == 1 || (c.in_channels == 1 && c.out_channels == 1)) return {};
  if (c.in_channels % lanes == 0 && c.out_channels % lanes == 0) return {};
  return "its groups do not fill whole blocks";
}
int64_t blocked_conv_packed_size(const BlockedConv& c) {
  return c.groups * c.out_channels * c.in_channels * c.kernel_height * c.kernel_width;
}
void blocked_conv_pack(const BlockedConv& c, const std::byte* from, float* to) {
  std::memcpy(to, from, static_cast<size_t>(blocked_conv_packed_size(c)) * sizeof(float));
}
std::string_view blocked_conv_way(const BlockedConv&) { return "plain"; }
int64_t blocked_conv_items(const BlockedConv& c) { return c.batch * c.groups * c.out_channels; }
int64_t blocked_conv_scratch(const BlockedConv&) { return 0; }
void blocked_conv_run(const BlockedConv& c, int64_t first, int64_t last, float*) {
  const int64_t lanes = block_lanes(), channels = c.groups * c.out_channels, inc = c.groups * c.in_channels;
  const int64_t ib = (inc + lanes - 1) / lanes, ob = (channels + lanes - 1) / lanes;
  const int64_t places = c.in_height * c.in_width;
  for (int64_t item = first; item < last; ++item) {
    const int64_t n = item / channels, o = item % channels, g = o / c.out_channels;
    for (int64_t y = 0; y < c.out_height; ++y)
      for (int64_t x = 0; x < c.out_width; ++x) {
        double sum = c.bias ? c.bias[o] : 0;
        for (int64_t i = 0; i < c.in_channels; ++i)
          for (int64_t ky = 0; ky < c.kernel_height; ++ky)
            for (int64_t kx = 0; kx < c.kernel_width; ++kx) {
              const int64_t iy = y * c.stride_y + ky * c.dilation_y - c.pad_top;
              const int64_t ix = x * c.stride_x + kx * c.dilation_x - c.pad_left;
              if (iy < 0 || ix < 0 || iy >= c.in_height || ix >= c.in_width) continue;
              const int64_t ch = g * c.in_channels + i, p = iy * c.in_width + ix;
              const float v = c.plain_input ? c.in[(n * inc + ch) * places + p]
                                            : c.in[((n * ib + ch / lanes) * places + p) * lanes + ch % lanes];
              sum += static_cast<double>(v) *
                     static_cast<double>(
                         c.weights[((o * c.in_channels + i) * c.kernel_height + ky) * c.kernel_width + kx]);
            }
        const int64_t at =
            ((n * ob + o / lanes) * c.out_height * c.out_width + y * c.out_width + x) * lanes + o % lanes;
        float f = static_cast<float>(sum) + (c.residual ? c.residual[at] : 0);
        activate(c.activation, &f, 1, 1, 1);
        c.out[at] = f;
      }
  }
}
void blocked_pool_run(const BlockedPool& p, int64_t first, int64_t last) {
  const int64_t lanes = block_lanes();
  for (int64_t plane = first; plane < last; ++plane)
    for (int64_t y = 0; y < p.out_height; ++y)
      for (int64_t x = 0; x < p.out_width; ++x)
        for (int64_t l = 0; l < lanes; ++l) {
          double sum = 0, most = -INFINITY;
          int64_t count = 0;
          for (int64_t ky = 0; ky < p.kernel_height; ++ky)
            for (int64_t kx = 0; kx < p.kernel_width; ++kx) {
              const int64_t iy = y * p.stride_y + ky * p.dilation_y - p.pad_top;
              const int64_t ix = x * p.stride_x + kx * p.dilation_x - p.pad_left;
              const bool padded = iy < p.in_height + p.pad_bottom && ix < p.in_width + p.pad_right;
              if (p.count_include_pad && padded) ++count;
              if (iy < 0 || ix < 0 || iy >= p.in_height || ix >= p.in_width) continue;
              if (!p.count_include_pad) ++count;
              const float v = p.in[((plane * p.in_height + iy) * p.in_width + ix) * lanes + l];
              sum += static_cast<double>(v);
              if (static_cast<double>(v) > most || std::isnan(v)) most = static_cast<double>(v);
            }
          p.out[((plane * p.out_height + y) * p.out_width + x) * lanes + l] =
              p.kind == BlockedPool::Kind::max ? static_cast<float>(most)
                                               : static_cast<float>(sum / static_cast<double>(count));
        }
}
void to_blocked(const float* in, int64_t channels, int64_t plane, int64_t first, int64_t last, float* out) {
  const int64_t lanes = block_lanes(), blocks = (channels + lanes - 1) / lanes;
  for (int64_t item = first; item < last; ++item)
    for (int64_t l = 0; l < lanes; ++l) {
      const int64_t c = item % blocks * lanes + l;
      for (int64_t i = 0; i < plane; ++i)
        out[(item * plane + i) * lanes + l] = c < channels ? in[(item / blocks * channels + c) * plane + i] : 0;
    }
}
void from_blocked(const float* in, int64_t channels, int64_t plane, int64_t first, int64_t last, float* out) {
  const int64_t lanes = block_lanes(), blocks = (channels + lanes - 1) / lanes;
  for (int64_t item = first; item < last; ++item)
    for (int64_t l = 0; l < lanes; ++l) {
      const int64_t c = item % blocks * lanes + l;
      for (int64_t i = 0; c < channels && i < plane; ++i)
        out[(item / blocks * channels + c) * plane + i] = in[(item * plane + i) * lanes + l];
    }
}

}  // namespace anyshape::simd
