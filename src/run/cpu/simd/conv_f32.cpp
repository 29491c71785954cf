#include "run/cpu/simd/conv_f32.h"

#include <algorithm>
#include <cstring>

#include "run/cpu/simd/conv_few.h"
#include "run/cpu/simd/conv_unfold.h"
#include "run/cpu/simd/depthwise.h"

namespace anyshape::simd {
namespace {

constexpr int64_t kDepth = 256;  // rows of the unfolded input that are made at a time

int64_t panels_of(const Conv& c) { return (c.places() + gemm_panel() - 1) / gemm_panel(); }

// A kernel of one place that visits each input once: the input itself is the matrix.
bool pointwise(const Conv& c) {
  return c.area() == 1 && c.stride_z == 1 && c.stride_y == 1 && c.stride_x == 1 && c.pad_front == 0 && c.pad_top == 0 &&
         c.pad_left == 0 && c.in_layers == c.out_layers && c.in_height == c.out_height && c.in_width == c.out_width;
}

// Pieces of nearly equal width whose unfolded input stays in the L2 cache.
int64_t spans_of(const Conv& c) { return std::max<int64_t>((panels_of(c) + kMostPanels - 1) / kMostPanels, 1); }
int64_t panels_at_once(const Conv& c) { return std::max<int64_t>((panels_of(c) + spans_of(c) - 1) / spans_of(c), 1); }

// Filters share what is unfolded, so they are only parted where there is nothing else to part.
int64_t bands_of(const Conv& c) {
  const bool alone = c.batch * c.groups * spans_of(c) == 1;
  return alone && c.out_channels >= 4 * gemm_rows() ? 2 : 1;
}
int64_t rows_of_band(const Conv& c) {
  const int64_t units = (c.out_channels + gemm_rows() - 1) / gemm_rows();
  return (units + bands_of(c) - 1) / bands_of(c) * gemm_rows();
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
  const float* in = c.in + (p.image * c.groups + p.group) * c.in_channels * c.in_places();
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
      conv_unfold(c, in, k0, k1, p.j0, p.j1, scratch);
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
  if (few_filters(c)) return few_items(c);
  return c.batch * c.groups * spans_of(c) * bands_of(c);
}

int64_t conv_scratch(const Conv& c) {
  if (c.depthwise()) return depthwise_scratch(c);
  if (few_filters(c)) return few_scratch(c);
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
    else if (few_filters(c))
      few_run(c, item, scratch);
    else
      run_piece(c, piece_of(c, item), scratch);
  }
}

}  // namespace anyshape::simd
