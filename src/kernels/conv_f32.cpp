#include "kernels/conv_f32.h"

#include <algorithm>
#include <cstring>

#include "kernels/depthwise.h"

namespace anyshape::simd {
namespace {

constexpr int64_t kDepth = 256;  // rows of the unfolded input that are made at a time

int64_t panels_of(const Conv& c) { return (c.places() + gemm_panel() - 1) / gemm_panel(); }

// A kernel of one place that visits each input once: the input itself is the matrix.
bool pointwise(const Conv& c) {
  return c.kernel_height == 1 && c.kernel_width == 1 && c.stride_y == 1 && c.stride_x == 1 && c.pad_top == 0 &&
         c.pad_left == 0 && c.in_height == c.out_height && c.in_width == c.out_width;
}

// Panels of one piece: what is unfolded of the input stays in the L2 cache.
int64_t panels_at_once(const Conv& c) { return std::clamp<int64_t>(panels_of(c), 1, 6); }
int64_t spans_of(const Conv& c) {
  return std::max<int64_t>((panels_of(c) + panels_at_once(c) - 1) / panels_at_once(c), 1);
}

// Filters of one piece. They share what is unfolded, so they are only parted where there is little else to part.
int64_t bands_of(const Conv& c) {
  const int64_t others = c.batch * c.groups * spans_of(c);
  return others >= 4 ? 1 : std::clamp<int64_t>(c.out_channels / (4 * gemm_rows()), 1, 4);
}
int64_t rows_of_band(const Conv& c) {
  const int64_t units = (c.out_channels + gemm_rows() - 1) / gemm_rows();
  return (units + bands_of(c) - 1) / bands_of(c) * gemm_rows();
}

// The weight (channel, ky, kx) that row k of the unfolded input belongs to.
struct Tap {
  int64_t channel, y, x;
};
Tap tap_of(const Conv& c, int64_t k) {
  const int64_t area = c.kernel_height * c.kernel_width;
  return {k / area, k % area / c.kernel_width, k % c.kernel_width};
}

// Entries from..from + n - 1 of an output row, as the input that a tap sees there.
void unfold_line(const Conv& c, const float* row, int64_t shift, int64_t from, int64_t n, float* to) {
  // Places x with 0 <= x * stride + shift < in_width.
  const int64_t low = shift >= 0 ? 0 : (-shift + c.stride_x - 1) / c.stride_x;
  const int64_t room = c.in_width - shift;
  const int64_t high = room <= 0 ? 0 : (room + c.stride_x - 1) / c.stride_x;
  const int64_t a = std::clamp(low, from, from + n), b = std::clamp(high, a, from + n);
  std::fill(to, to + (a - from), 0.0f);
  if (c.stride_x == 1 && a < b)
    std::copy(row + a + shift, row + b + shift, to + (a - from));
  else
    for (int64_t x = a; x < b; ++x) to[x - from] = row[x * c.stride_x + shift];
  std::fill(to + (b - from), to + n, 0.0f);
}

// Places first..first + n - 1 of one tap, which may lie in several output rows.
void unfold_tap(const Conv& c, const float* plane, const Tap& tap, int64_t first, int64_t n, float* to) {
  const int64_t shift = tap.x * c.dilation_x - c.pad_left;
  while (n > 0) {
    const int64_t y = first / c.out_width, x = first % c.out_width;
    const int64_t run = std::min(n, c.out_width - x);
    const int64_t in_y = y * c.stride_y + tap.y * c.dilation_y - c.pad_top;
    if (in_y < 0 || in_y >= c.in_height)
      std::fill_n(to, run, 0.0f);
    else
      unfold_line(c, plane + in_y * c.in_width, shift, x, run, to);
    first += run;
    to += run;
    n -= run;
  }
}

// Rows k0..k1 of the unfolded input as packed panels of columns j0..j1.
void unfold(const Conv& c, const float* in, int64_t k0, int64_t k1, int64_t j0, int64_t j1, float* to) {
  const int64_t width = gemm_panel(), depth = k1 - k0;
  for (int64_t j = j0; j < j1; j += width, to += depth * width) {
    const int64_t n = std::min(width, j1 - j);
    for (int64_t k = k0; k < k1; ++k) {
      const Tap tap = tap_of(c, k);
      float* row = to + (k - k0) * width;
      unfold_tap(c, in + tap.channel * c.in_height * c.in_width, tap, j, n, row);
      std::fill(row + n, row + width, 0.0f);
    }
  }
}

struct Piece {
  int64_t image, group, i0, i1, j0, j1;
};

Piece piece_of(const Conv& c, int64_t item) {
  const int64_t bands = bands_of(c), spans = spans_of(c), width = panels_at_once(c) * gemm_panel();
  Piece p;
  p.i0 = std::min(c.out_channels, item % bands * rows_of_band(c));
  p.i1 = std::min(c.out_channels, p.i0 + rows_of_band(c));
  item /= bands;
  p.j0 = item % spans * width;
  p.j1 = std::min(c.places(), p.j0 + width);
  item /= spans;
  p.group = item % c.groups;
  p.image = item / c.groups;
  return p;
}

// The product of filters i0..i1 with `depth` rows of B, at columns j0..j1; sums go on from what is in the output.
Gemm product_of(const Conv& c, const Piece& p) {
  const int64_t channel = p.group * c.out_channels;
  const int64_t at = (p.image * c.groups * c.out_channels + channel) * c.places();
  Gemm g;
  g.m = c.out_channels;
  g.c = c.out + at;
  g.c_row = c.places();
  if (c.bias) g.epilogue.bias = Addend::per_row(c.bias + channel);
  if (c.residual) g.epilogue.residual = {c.residual + at, c.places(), 1};
  return g;
}

// Blocks of filters are packed [depth][rows]: one call of the product for each, as their rows lie apart.
void multiply_blocks(const Conv& c, const Piece& p, Gemm g, int64_t k0, int64_t k1, float* scratch) {
  const int64_t depth = c.depth(), unit = gemm_rows();
  const int64_t filters = (c.out_channels + unit - 1) / unit * unit;
  const float* weights = c.weights + p.group * filters * depth;
  const bool first = k0 == 0, last = k1 == depth;
  const Gemm whole = g;
  g.k = k1 - k0;
  g.a_row = 1;
  g.a_column = unit;
  g.epilogue.activation = last ? c.activation : ActivationSpec();
  for (int64_t i = p.i0; i < p.i1; i += unit) {
    g.m = std::min(unit, p.i1 - i);
    g.a = weights + i * depth + k0 * unit;
    g.c = whole.c + i * g.c_row;
    g.epilogue.bias = g.epilogue.residual = {};
    if (!first) {
      g.epilogue.residual = {g.c, g.c_row, 1};
    } else {
      if (whole.epilogue.bias.data) g.epilogue.bias = Addend::per_row(whole.epilogue.bias.data + i);
      if (whole.epilogue.residual.data) g.epilogue.residual = {whole.epilogue.residual.data + i * g.c_row, g.c_row, 1};
    }
    gemm_tile(g, 0, g.m, 0, g.n, scratch);
  }
}

void run_piece(const Conv& c, const Piece& p, float* scratch) {
  if (p.i0 >= p.i1 || p.j0 >= p.j1) return;
  const float* in = c.in + (p.image * c.groups + p.group) * c.in_channels * c.in_height * c.in_width;
  Gemm g = product_of(c, p);
  g.c += p.j0;
  if (g.epilogue.residual.data) g.epilogue.residual.data += p.j0;
  g.n = p.j1 - p.j0;
  const int64_t depth = c.depth();
  int64_t k0 = 0;
  do {
    const int64_t k1 = std::min(depth, k0 + kDepth);
    if (pointwise(c) && c.out_channels <= 2 * gemm_rows()) {
      g.b_packed = false;
      g.b = in + k0 * c.places() + p.j0;
      g.b_row = c.places();
    } else {
      unfold(c, in, k0, k1, p.j0, p.j1, scratch);
      g.b = scratch;
    }
    multiply_blocks(c, p, g, k0, k1, scratch + kDepth * panels_at_once(c) * gemm_panel());
    k0 = k1;
  } while (k0 < depth);
}

}  // namespace

int64_t conv_packed_size(int64_t groups, int64_t out_channels, int64_t depth) {
  const int64_t unit = gemm_rows();
  return groups * ((out_channels + unit - 1) / unit * unit) * depth;
}

void conv_pack(const std::byte* from, int64_t groups, int64_t out_channels, int64_t depth, float* to) {
  const int64_t unit = gemm_rows(), filters = (out_channels + unit - 1) / unit * unit;
  std::fill_n(to, conv_packed_size(groups, out_channels, depth), 0.0f);
  for (int64_t f = 0; f < groups * out_channels; ++f) {
    const int64_t group = f / out_channels, i = f % out_channels;
    float* block = to + (group * filters + i / unit * unit) * depth + i % unit;
    for (int64_t k = 0; k < depth; ++k)
      std::memcpy(block + k * unit, from + static_cast<size_t>(f * depth + k) * sizeof(float), sizeof(float));
  }
}

int64_t conv_items(const Conv& c) {
  if (c.depthwise()) return c.batch * c.groups;
  return c.batch * c.groups * spans_of(c) * bands_of(c);
}

int64_t conv_scratch(const Conv& c) {
  if (c.depthwise()) return depthwise_scratch(c);
  const int64_t panels = panels_at_once(c) * gemm_panel();
  Gemm g;
  g.n = panels;
  g.a_row = 1;
  g.b_packed = !pointwise(c);
  return kDepth * panels + gemm_scratch(g);
}

void conv_run(const Conv& c, int64_t first, int64_t last, float* scratch) {
  for (int64_t item = first; item < last; ++item) {
    if (c.depthwise())
      depthwise_plane(c, item, scratch);
    else
      run_piece(c, piece_of(c, item), scratch);
  }
}

}  // namespace anyshape::simd
