#include <cmath>

#include "kernels/normalize.h"
#include "kernels/wide.h"

namespace anyshape::kernels {
namespace {

Status require_layout(const Channels& layout, const Tensor& x, const Tensor& out) {
  const int64_t dims[] = {layout.outer, layout.channels, layout.inner};
  if (element_count(dims) != x.count() || out.count() != x.count())
    return refuse("kernel.shape", "the axes do not fit the tensor");
  return require_one_type({&x, &out});
}

// visit(from, to, step) for every line along the middle axis; its entries are from[i * step].
template <class T, class Visit>
void for_each_line(const Channels& layout, const Tensor& x, Tensor& out, Visit visit) {
  for (int64_t o = 0; o < layout.outer; ++o)
    for (int64_t i = 0; i < layout.inner; ++i) {
      const int64_t start = o * layout.channels * layout.inner + i;
      visit(x.as<T>().data() + start, out.as_mutable<T>().data() + start, layout.inner);
    }
}

template <class T>
void soft_line(SoftmaxKind kind, const T* from, T* to, int64_t size, int64_t step) {
  double top = static_cast<double>(from[0]);
  int64_t at = 0;
  for (int64_t i = 1; i < size; ++i)
    if (const auto value = static_cast<double>(from[i * step]); value > top || std::isnan(value)) {
      if (std::isnan(top)) break;
      top = value;
      at = i;
    }
  if (kind == SoftmaxKind::hard) {
    for (int64_t i = 0; i < size; ++i) to[i * step] = static_cast<T>(i == at);
    return;
  }
  double sum = 0;
  for (int64_t i = 0; i < size; ++i) sum += std::exp(static_cast<double>(from[i * step]) - top);
  const double log_sum = std::log(sum);
  for (int64_t i = 0; i < size; ++i) {
    const double below = static_cast<double>(from[i * step]) - top;
    to[i * step] = static_cast<T>(kind == SoftmaxKind::log ? below - log_sum : std::exp(below) / sum);
  }
}

}  // namespace

Status softmax(SoftmaxKind kind, const Channels& layout, const Tensor& x, Tensor& out) {
  TRY_OK(require_layout(layout, x, out));
  if (x.count() == 0) return {};
  return visit_real(x.dtype(), [&]<class T>(T) -> Status {
    for_each_line<T>(layout, x, out,
                     [&](const T* from, T* to, int64_t step) { soft_line(kind, from, to, layout.channels, step); });
    return {};
  });
}

Status lp_norm(const Channels& layout, int64_t p, const Tensor& x, Tensor& out) {
  TRY_OK(require_layout(layout, x, out));
  return visit_real(x.dtype(), [&]<class T>(T) -> Status {
    for_each_line<T>(layout, x, out, [&](const T* from, T* to, int64_t step) {
      double sum = 0;
      for (int64_t i = 0; i < layout.channels; ++i) {
        const double value = std::abs(static_cast<double>(from[i * step]));
        sum += p == 1 ? value : value * value;
      }
      const double norm = p == 1 ? sum : std::sqrt(sum);
      for (int64_t i = 0; i < layout.channels; ++i)
        to[i * step] = norm == 0 ? T{} : static_cast<T>(static_cast<double>(from[i * step]) / norm);
    });
    return {};
  });
}

Status local_response_norm(const LocalResponse& norm, const Channels& layout, const Tensor& x, Tensor& out) {
  TRY_OK(require_layout(layout, x, out));
  if (norm.size < 1) return refuse("kernel.shape", "size is {}, at least 1 is needed", norm.size);
  const int64_t before = (norm.size - 1) / 2, after = norm.size - 1 - before;
  return visit_real(x.dtype(), [&]<class T>(T) -> Status {
    for_each_line<T>(layout, x, out, [&](const T* from, T* to, int64_t step) {
      for (int64_t c = 0; c < layout.channels; ++c) {
        const int64_t first = before > c ? 0 : c - before;
        const int64_t last = after >= layout.channels - c ? layout.channels - 1 : c + after;
        double squares = 0;
        for (int64_t i = first; i <= last; ++i) {
          const auto value = static_cast<double>(from[i * step]);
          squares += value * value;
        }
        const double base = norm.bias + static_cast<double>(norm.alpha) / static_cast<double>(norm.size) * squares;
        to[c * step] = static_cast<T>(static_cast<double>(from[c * step]) / std::pow(base, norm.beta));
      }
    });
    return {};
  });
}

}  // namespace anyshape::kernels
