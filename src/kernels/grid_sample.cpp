#include "kernels/grid_sample.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/temporary.h"
#include "kernels/copy.h"
#include "kernels/reals.h"

namespace anyshape::kernels {
namespace {

constexpr double kFarthest = 0x1p31;
constexpr double kNowhere = -100;

struct Range {
  double lo = 0, hi = 0;
};

Range range_of(int64_t size, bool align_corners) {
  const auto n = static_cast<double>(size);
  return align_corners ? Range{0, n - 1} : Range{-0.5, n - 0.5};
}

// Mirrored at the ends until it lies within them.
double reflect(double x, Range range) {
  const double length = range.hi - range.lo;
  if (!(length > 0) || !std::isfinite(x)) return range.lo;
  if (x >= range.lo && x <= range.hi) return x;
  const bool below = x < range.lo;
  const double beyond = below ? range.lo - x : x - range.hi;
  const double turns = std::floor(beyond / length), rest = beyond - turns * length;
  const bool from_near = std::fmod(turns, 2) == 0;
  return below == from_near ? range.lo + rest : range.hi - rest;
}

// The position in cells. Positions of 32-bit grids and smaller are computed in float, as runtimes do: which cell is
// nearest may hang on the last bit.
double denormalized(double x, int64_t size, bool align_corners, bool wide) {
  const auto n = static_cast<double>(size);
  if (wide) return align_corners ? (x + 1) / 2 * (n - 1) : ((x + 1) * n - 1) / 2;
  const auto f = static_cast<float>(x), m = static_cast<float>(size);
  return align_corners ? (f + 1) / 2 * (m - 1) : ((f + 1) * m - 1) / 2;
}

// No farther outside than makes a difference. Each of the four cells of a cubic is drawn to the border by itself: up to
// one cell outside they are not all the same.
double towards_border(Interpolation interpolation, double at, int64_t size) {
  const double margin = interpolation == Interpolation::cubic ? 1 : 0;
  return std::clamp(at, -margin, static_cast<double>(size - 1) + margin);
}

double position(const GridSample& how, double x, int64_t size, bool wide) {
  double at = denormalized(x, size, how.align_corners, wide);
  if (how.interpolation == Interpolation::nearest) at = std::nearbyint(at);
  if (how.padding == Padding::border) at = towards_border(how.interpolation, at, size);
  if (how.padding == Padding::reflection) at = reflect(at, range_of(size, how.align_corners));
  return std::fabs(at) < kFarthest ? at : kNowhere;
}

// The cell that stands for cell i, or -1: it is zero.
int64_t cell(const GridSample& how, int64_t i, int64_t size) {
  if (i >= 0 && i < size) return i;
  if (how.padding == Padding::zeros) return -1;
  if (how.padding == Padding::border) return std::clamp<int64_t>(i, 0, size - 1);
  const double mirrored = reflect(static_cast<double>(i), range_of(size, how.align_corners));
  return std::clamp<int64_t>(static_cast<int64_t>(mirrored), 0, size - 1);
}

// Cells and weights along one axis.
struct Taps {
  int count = 1;
  int64_t cells[4];
  double weights[4];
};

Taps taps_at(const GridSample& how, double at, int64_t size) {
  Taps taps;
  const auto left = static_cast<int64_t>(std::floor(at));
  const double part = at - std::floor(at);
  int64_t first = left;
  if (how.interpolation == Interpolation::nearest) {
    taps.weights[0] = 1;
  } else if (how.interpolation == Interpolation::linear) {
    taps.count = 2;
    taps.weights[0] = 1 - part;
    taps.weights[1] = part;
  } else {
    taps.count = 4;
    first = left - 1;
    cubic_weights(part, -0.75, taps.weights);
  }
  for (int k = 0; k < taps.count; ++k) taps.cells[k] = cell(how, first + k, size);
  return taps;
}

double blend(std::span<const Taps> taps, std::span<const int64_t> sizes, std::span<const double> values, int64_t base,
             int64_t stride) {
  if (taps.empty()) return values[static_cast<size_t>(base * stride)];
  double sum = 0;
  for (int k = 0; k < taps[0].count; ++k) {
    if (taps[0].cells[k] < 0 || taps[0].weights[k] == 0) continue;
    const int64_t next = base * sizes[0] + taps[0].cells[k];
    sum += taps[0].weights[k] * blend(taps.subspan(1), sizes.subspan(1), values, next, stride);
  }
  return sum;
}

void copy_nearest(std::span<const Taps> taps, std::span<const int64_t> sizes, const Tensor& x, int64_t base,
                  Tensor& out, int64_t to) {
  for (size_t i = 0; i < taps.size(); ++i) {
    if (taps[i].cells[0] < 0) return;
    base = base * sizes[i] + taps[i].cells[0];
  }
  copy_elements(out, to, x, base, 1);
}

}  // namespace

Status grid_sample(const GridSample& how, const Tensor& x, const Tensor& grid, Tensor& out) {
  if (out.count() == 0) return {};
  TRY_OK(require_numbers(how.interpolation, x.dtype()));
  const bool nearest = how.interpolation == Interpolation::nearest;
  TRY(const Temporary<double> positions, to_reals(grid));
  Temporary<double> values, results;
  if (!nearest) {
    TRY(values, to_reals(x));
  }
  const auto parts = nearest ? size_t{1} : values.size() / static_cast<size_t>(x.count());
  if (!nearest) results.resize(static_cast<size_t>(out.count()) * parts);
  const std::span<const int64_t> sizes = std::span(x.dims()).subspan(2);
  const int64_t batch = out.dims()[0], channels = out.dims()[1], points = out.count() / (batch * channels);
  const auto rank = static_cast<int64_t>(sizes.size());
  Temporary<Taps> taps(sizes.size());
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t p = 0; p < points; ++p) {
      for (int64_t k = 0; k < rank; ++k) {
        const double raw = positions[static_cast<size_t>((n * points + p) * rank + rank - 1 - k)];
        const int64_t size = sizes[static_cast<size_t>(k)];
        taps[static_cast<size_t>(k)] = taps_at(how, position(how, raw, size, grid.dtype() == DType::f64), size);
      }
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t plane = n * channels + c, to = plane * points + p;
        if (nearest) copy_nearest(taps, sizes, x, plane, out, to);
        for (size_t part = 0; !nearest && part < parts; ++part)
          results[static_cast<size_t>(to) * parts + part] =
              blend(taps, sizes, std::span(values).subspan(part), plane, static_cast<int64_t>(parts));
      }
    }
  return nearest ? Status() : from_reals(results, out);
}

}  // namespace anyshape::kernels
