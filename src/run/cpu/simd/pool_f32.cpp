#include "run/cpu/simd/pool_f32.h"

#include <algorithm>
#include <limits>

namespace anyshape::kernels {
namespace {

int64_t ceil_div(int64_t a, int64_t b) { return a > 0 ? (a + b - 1) / b : -(-a / b); }

template <class Add>
void add_row(const PoolAxis& x, const float* row, Add add) {
  for (int64_t k = 0; k < x.kernel; ++k) {
    const int64_t first = x.first(k), last = x.last(k);
    if (first < last) add(row + x.cell(first, k), first, last - first);
  }
}

// Windows without a cell inside have the least value.
void fill_empty(const PlanePool& pool, int64_t i, float* out) {
  constexpr float kLeast = std::numeric_limits<float>::lowest();
  if (pool.y.inside(i) == 0) {
    std::fill_n(out, pool.x.out, kLeast);
    return;
  }
  for (int64_t j = 0; j < pool.x.out; ++j)
    if (out[j] != out[j] && pool.x.inside(j) == 0) out[j] = kLeast;
}

}  // namespace

int64_t PoolAxis::first(int64_t k) const { return std::clamp<int64_t>(ceil_div(pad - k * dilation, stride), 0, out); }

int64_t PoolAxis::last(int64_t k) const {
  return std::clamp<int64_t>(ceil_div(in + pad - k * dilation, stride), 0, out);
}

int64_t PoolAxis::inside(int64_t i) const {
  const int64_t start = i * stride - pad;
  const int64_t before = std::clamp<int64_t>(ceil_div(-start, dilation), 0, kernel);
  return std::clamp<int64_t>(ceil_div(in - start, dilation), before, kernel) - before;
}

int64_t PoolAxis::padded(int64_t i) const {
  const int64_t room = in + pad + pad_end - i * stride;
  return std::clamp<int64_t>((room + dilation - 1) / dilation, 0, kernel);
}

void max_pool_plane(const PlanePool& pool, const float* in, float* out) {
  const PoolAxis &y = pool.y, &x = pool.x;
  for (int64_t i = 0; i < y.out; ++i, out += x.out) {
    std::fill_n(out, x.out, std::numeric_limits<float>::quiet_NaN());
    for (int64_t k = 0; k < y.kernel; ++k) {
      const int64_t at = y.cell(i, k);
      if (at < 0 || at >= y.in) continue;
      add_row(x, in + at * x.in, [&](const float* from, int64_t first, int64_t n) {
        float* to = out + first;
        // A number takes the place of NaN, NaN never that of a number.
        for (int64_t j = 0; j < n; ++j) {
          const float value = from[j * x.stride], best = to[j];
          to[j] = ((value > best) | (best != best)) ? value : best;
        }
      });
    }
    fill_empty(pool, i, out);
  }
}

void average_pool_plane(const PlanePool& pool, const float* in, float* out, double* sums) {
  const PoolAxis &y = pool.y, &x = pool.x;
  // All cells of these windows are inside.
  const int64_t whole = x.first(0), end = std::max(whole, x.last(x.kernel - 1));
  const auto cells_at = [&](int64_t j) { return pool.count_padding ? x.padded(j) : x.inside(j); };
  const auto mean = [](double sum, int64_t cells) { return static_cast<float>(sum / static_cast<double>(cells)); };
  for (int64_t i = 0; i < y.out; ++i, out += x.out) {
    std::fill_n(sums, x.out, 0.0);
    for (int64_t k = 0; k < y.kernel; ++k) {
      const int64_t at = y.cell(i, k);
      if (at < 0 || at >= y.in) continue;
      add_row(x, in + at * x.in, [&](const float* from, int64_t first, int64_t n) {
        for (int64_t j = 0; j < n; ++j) sums[first + j] += static_cast<double>(from[j * x.stride]);
      });
    }
    const int64_t rows = pool.count_padding ? y.padded(i) : y.inside(i);
    for (int64_t j = 0; j < whole; ++j) out[j] = mean(sums[j], rows * cells_at(j));
    for (int64_t j = whole; j < end; ++j) out[j] = mean(sums[j], rows * x.kernel);
    for (int64_t j = end; j < x.out; ++j) out[j] = mean(sums[j], rows * cells_at(j));
  }
}

}  // namespace anyshape::kernels
