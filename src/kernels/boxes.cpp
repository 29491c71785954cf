#include "kernels/boxes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/temporary.h"
#include "kernels/dispatch.h"

namespace anyshape::kernels {
namespace {

struct Box {
  float x0, y0, x1, y1;
  float area() const { return (x1 - x0) * (y1 - y0); }
};

Box box_at(const Tensor& boxes, int64_t i, bool centers) {
  const auto v = [&](int64_t k) { return boxes.at<float>(4 * i + k); };
  if (centers) return {v(0) - v(2) / 2, v(1) - v(3) / 2, v(0) + v(2) / 2, v(1) + v(3) / 2};
  return {std::min(v(1), v(3)), std::min(v(0), v(2)), std::max(v(1), v(3)), std::max(v(0), v(2))};
}

bool overlap(const Box& a, const Box& b, float limit) {
  const float width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0), height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  if (!(width > 0) || !(height > 0)) return false;
  const float both = width * height, either = a.area() + b.area() - both;
  if (!(both > 0) || !(a.area() > 0) || !(b.area() > 0) || !(either > 0)) return false;
  return both / either > limit;
}

// Best first; scores that are no number come last.
Temporary<int64_t> ranked(const Suppression& how, const Tensor& scores, int64_t base, int64_t count) {
  Temporary<int64_t> order;
  const auto score = [&](int64_t i) { return scores.at<float>(base + i); };
  for (int64_t i = 0; i < count; ++i)
    if (!how.has_least || score(i) > how.least) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    if (std::isnan(score(a)) || std::isnan(score(b))) return !std::isnan(score(a)) && std::isnan(score(b));
    return score(a) > score(b);
  });
  return order;
}

}  // namespace

Temporary<std::array<int64_t, 3>> suppress(const Suppression& how, const Tensor& boxes, const Tensor& scores) {
  Temporary<std::array<int64_t, 3>> out;
  const int64_t batch = scores.dims()[0], classes = scores.dims()[1], count = scores.dims()[2];
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t c = 0; c < classes; ++c) {
      Temporary<Box> kept;
      for (int64_t i : ranked(how, scores, (b * classes + c) * count, count)) {
        if (static_cast<int64_t>(kept.size()) >= how.most) break;
        const Box box = box_at(boxes, b * count + i, how.centers);
        if (std::any_of(kept.begin(), kept.end(), [&](const Box& other) { return overlap(box, other, how.overlap); }))
          continue;
        kept.push_back(box);
        out.push_back({b, c, i});
      }
    }
  return out;
}

namespace {

constexpr double kMostSamples = 0x1p22;

// One sample: four pixels and their weights.
template <class C>
struct Sample {
  int64_t at[4] = {0, 0, 0, 0};
  C weight[4] = {0, 0, 0, 0};
};

template <class C>
Sample<C> sample_at(C y, C x, int64_t height, int64_t width) {
  Sample<C> out;
  if (!(y >= -1 && y <= static_cast<C>(height) && x >= -1 && x <= static_cast<C>(width))) return out;
  const auto along = [](C& v, int64_t size, int64_t& low, int64_t& high) {
    v = std::max(v, C{0});
    low = static_cast<int64_t>(v);
    high = low + 1;
    if (low < size - 1) return;
    high = low = size - 1;
    v = static_cast<C>(low);
  };
  int64_t y0, y1, x0, x1;
  along(y, height, y0, y1);
  along(x, width, x0, x1);
  const C ly = y - static_cast<C>(y0), lx = x - static_cast<C>(x0), hy = 1 - ly, hx = 1 - lx;
  return {{y0 * width + x0, y0 * width + x1, y1 * width + x0, y1 * width + x1}, {hy * hx, hy * lx, ly * hx, ly * lx}};
}

template <class C>
struct Region {
  C y, x, cell_height, cell_width;
  int64_t rows = 0, columns = 0;  // samples of a cell
};

template <class C>
Result<int64_t> samples_along(const RoiAlign& how, C length, int64_t cells) {
  if (how.samples > 0) return how.samples;
  const C count = std::ceil(length / static_cast<C>(cells));
  if (!(count > 0)) return int64_t{0};
  if (count > static_cast<C>(kMostSamples)) return refuse("roi.size", "a region is {} pixels long", length);
  return static_cast<int64_t>(count);
}

template <class T, class C>
Result<Region<C>> region_of(const RoiAlign& how, const Tensor& rois, int64_t r, int64_t height, int64_t width) {
  const C offset = how.half_pixel ? C(0.5) : C(0), scale = static_cast<C>(how.scale);
  const auto v = [&](int64_t k) { return static_cast<C>(widen(rois.at<T>(4 * r + k))) * scale - offset; };
  C w = v(2) - v(0), h = v(3) - v(1);
  if (!how.half_pixel) {
    w = std::max(w, C{1});
    h = std::max(h, C{1});
  }
  Region<C> out{v(1), v(0), h / static_cast<C>(height), w / static_cast<C>(width)};
  TRY(out.rows, samples_along(how, h, height));
  TRY(out.columns, samples_along(how, w, width));
  if (static_cast<double>(out.rows) * static_cast<double>(out.columns) > kMostSamples)
    return refuse("roi.size", "a cell has {} x {} samples", out.rows, out.columns);
  return out;
}

template <class C>
Temporary<Sample<C>> samples_of(const Region<C>& region, int64_t row, int64_t column, int64_t height, int64_t width) {
  Temporary<Sample<C>> out;
  for (int64_t i = 0; i < region.rows; ++i)
    for (int64_t k = 0; k < region.columns; ++k) {
      const C y = region.y + static_cast<C>(row) * region.cell_height +
                  (static_cast<C>(i) + C(0.5)) * region.cell_height / static_cast<C>(region.rows);
      const C x = region.x + static_cast<C>(column) * region.cell_width +
                  (static_cast<C>(k) + C(0.5)) * region.cell_width / static_cast<C>(region.columns);
      out.push_back(sample_at(y, x, height, width));
    }
  return out;
}

// The maximum is over the weighted pixels, as ONNX's text has it.
template <class T, class C>
C pooled(const RoiAlign& how, const Temporary<Sample<C>>& samples, const Tensor& x, int64_t base) {
  double sum = 0;
  C best = 0;
  for (size_t s = 0; s < samples.size(); ++s)
    for (int k = 0; k < 4; ++k) {
      const C value = samples[s].weight[k] * static_cast<C>(widen(x.at<T>(base + samples[s].at[k])));
      sum += static_cast<double>(value);
      best = s == 0 && k == 0 ? value : std::max(best, value);
    }
  return how.maximum ? best : static_cast<C>(sum / static_cast<double>(std::max<size_t>(samples.size(), 1)));
}

}  // namespace

Status roi_align(const RoiAlign& how, const Tensor& x, const Tensor& rois, std::span<const int64_t> batch,
                 Tensor& out) {
  const int64_t channels = out.dims()[1], rows = out.dims()[2], columns = out.dims()[3];
  const int64_t height = x.dims()[2], width = x.dims()[3];
  if (out.count() == 0 || height == 0 || width == 0) return {};
  return visit_type<kFloats>(x.dtype(), [&]<class T>(T) -> Status {
    using C = Compute<T>;
    auto to = out.as_mutable<T>();
    for (int64_t r = 0; r < out.dims()[0]; ++r) {
      TRY(const auto region, (region_of<T, C>(how, rois, r, rows, columns)));
      for (int64_t cell = 0; cell < rows * columns; ++cell) {
        const auto samples = samples_of(region, cell / columns, cell % columns, height, width);
        for (int64_t c = 0; c < channels; ++c) {
          const int64_t base = (batch[static_cast<size_t>(r)] * channels + c) * height * width;
          to[static_cast<size_t>((r * channels + c) * rows * columns + cell)] =
              narrow<T>(pooled<T>(how, samples, x, base));
        }
      }
    }
    return {};
  });
}

namespace {

int64_t rounded(double value) {
  if (std::isnan(value)) return 0;
  return static_cast<int64_t>(std::round(std::clamp(value, -0x1p40, 0x1p40)));
}

struct Span {
  int64_t start, end;
};

// Where cell i of `cells` lies in an axis of `size` pixels.
Span cell_span(int64_t first, int64_t last, int64_t i, int64_t cells, int64_t size) {
  const double length = static_cast<double>(std::max<int64_t>(last - first + 1, 1)) / static_cast<double>(cells);
  const auto place = [&](double at) { return std::clamp<int64_t>(static_cast<int64_t>(at) + first, 0, size); };
  return {place(std::floor(static_cast<double>(i) * length)), place(std::ceil(static_cast<double>(i + 1) * length))};
}

template <class T>
Compute<T> maximum(const Tensor& x, int64_t base, int64_t width, Span ys, Span xs) {
  if (ys.end <= ys.start || xs.end <= xs.start) return 0;
  Compute<T> best = widen(x.at<T>(base + ys.start * width + xs.start));
  for (int64_t y = ys.start; y < ys.end; ++y)
    for (int64_t k = xs.start; k < xs.end; ++k) best = std::max(best, widen(x.at<T>(base + y * width + k)));
  return best;
}

}  // namespace

Status max_roi_pool(float scale, const Tensor& x, const Tensor& rois, Tensor& out) {
  const int64_t channels = out.dims()[1], rows = out.dims()[2], columns = out.dims()[3];
  const int64_t height = x.dims()[2], width = x.dims()[3];
  return visit_type<kFloats>(x.dtype(), [&]<class T>(T) -> Status {
    auto to = out.as_mutable<T>();
    for (int64_t r = 0; r < out.dims()[0]; ++r) {
      const auto v = [&](int64_t k) { return static_cast<double>(widen(rois.at<T>(5 * r + k))); };
      const int64_t image = rounded(std::trunc(v(0)));
      if (!(v(0) >= 0) || image >= x.dims()[0]) return refuse("roi.batch", "region {} lies in image {}", r, v(0));
      const int64_t x0 = rounded(v(1) * scale), y0 = rounded(v(2) * scale), x1 = rounded(v(3) * scale),
                    y1 = rounded(v(4) * scale);
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t cell = 0; cell < rows * columns; ++cell)
          to[static_cast<size_t>((r * channels + c) * rows * columns + cell)] = narrow<T>(maximum<T>(
              x, (image * channels + c) * height * width, width, cell_span(y0, y1, cell / columns, rows, height),
              cell_span(x0, x1, cell % columns, columns, width)));
    }
    return {};
  });
}

}  // namespace anyshape::kernels
