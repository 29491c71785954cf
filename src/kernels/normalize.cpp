#include "kernels/normalize.h"

#include <cmath>

#include "base/temporary.h"
#include "kernels/elementwise.h"
#include "kernels/wide.h"

namespace anyshape::kernels {
namespace {

Status require_layout(const Channels& layout, const Tensor& x, const Tensor& out) {
  const int64_t dims[] = {layout.outer, layout.channels, layout.inner};
  if (element_count(dims) != x.count() || out.count() != x.count())
    return refuse("kernel.shape", "the tensors of a normalisation do not fit each other");
  return require_one_type({&x, &out});
}

Status require_count(std::initializer_list<const Tensor*> tensors, int64_t count) {
  for (const Tensor* tensor : tensors)
    if (*tensor && tensor->count() != count)
      return refuse("kernel.shape", "a parameter has {} entries, {} are needed", tensor->count(), count);
  return {};
}

struct Moments {
  double mean = 0, variance = 0;
};

// Of `count` values get(0), get(1), ...; NaN where there are none.
template <class Get>
Moments moments_of(int64_t count, Get get) {
  Moments m;
  for (int64_t i = 0; i < count; ++i) m.mean += get(i);
  m.mean /= static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i) m.variance += (get(i) - m.mean) * (get(i) - m.mean);
  m.variance /= static_cast<double>(count);
  return m;
}

template <class T>
double parameter(const Tensor& tensor, int64_t i, double absent) {
  return tensor ? static_cast<double>(tensor.as<T>()[static_cast<size_t>(i)]) : absent;
}

}  // namespace

Status channel_norm(const ChannelNorm& norm, const Channels& layout, const Tensor& x, Tensor& out) {
  TRY_OK(require_layout(layout, x, out));
  TRY_OK(require_one_type({&x, &norm.scale, &norm.bias, &norm.mean, &norm.variance}));
  TRY_OK(require_count({&norm.scale, &norm.bias, &norm.mean, &norm.variance}, layout.channels));
  return visit_real(x.dtype(), [&]<class T>(T) -> Status {
    const T* from = x.as<T>().data();
    T* to = out.as_mutable<T>().data();
    for (int64_t row = 0; row < layout.outer * layout.channels; ++row) {
      const int64_t c = row % layout.channels;
      const double mean = parameter<T>(norm.mean, c, 0);
      const double deviation = std::sqrt(parameter<T>(norm.variance, c, 1) + static_cast<double>(norm.epsilon));
      const double factor = parameter<T>(norm.scale, c, 1) / deviation, bias = parameter<T>(norm.bias, c, 0);
      for (int64_t i = 0; i < layout.inner; ++i)
        *to++ = static_cast<T>((static_cast<double>(*from++) - mean) * factor + bias);
    }
    return {};
  });
}

Status channel_moments(const Channels& layout, const Tensor& x, Tensor& mean, Tensor& variance) {
  TRY_OK(require_layout(layout, x, x));
  TRY_OK(require_one_type({&x, &mean, &variance}));
  TRY_OK(require_count({&mean, &variance}, layout.channels));
  return visit_real(x.dtype(), [&]<class T>(T) -> Status {
    const T* from = x.as<T>().data();
    for (int64_t c = 0; c < layout.channels; ++c) {
      const Moments m = moments_of(layout.outer * layout.inner, [&](int64_t i) {
        const int64_t n = i / layout.inner;
        return static_cast<double>(from[(n * layout.channels + c) * layout.inner + i % layout.inner]);
      });
      mean.as_mutable<T>()[static_cast<size_t>(c)] = static_cast<T>(m.mean);
      variance.as_mutable<T>()[static_cast<size_t>(c)] = static_cast<T>(m.variance);
    }
    return {};
  });
}

Status row_norm(const RowNorm& norm, const Tensor& x, const Tensor& scale, const Tensor& bias, Tensor& out) {
  TRY_OK(require_one_type({&x, &scale, &bias, &out}));
  if (x.count() == 0) return {};
  if (norm.rows < 1 || norm.repeat < 1 || x.count() % norm.rows != 0 || out.count() != x.count() || scale.count() < 1)
    return refuse("kernel.shape", "the tensors of a normalisation do not fit each other");
  TRY_OK(require_count({&bias}, scale.count()));
  const int64_t length = x.count() / norm.rows;
  return visit_real(x.dtype(), [&]<class T>(T) -> Status {
    T* to = out.as_mutable<T>().data();
    for (int64_t row = 0; row < norm.rows; ++row) {
      const T* from = x.as<T>().data() + row * length;
      const Moments m = moments_of(length, [&](int64_t i) { return static_cast<double>(from[i]); });
      const double inverse = 1 / std::sqrt(m.variance + static_cast<double>(norm.epsilon));
      for (int64_t i = 0; i < length; ++i) {
        const int64_t c = (row * length + i) / norm.repeat % scale.count();
        const double unit = (static_cast<double>(from[i]) - m.mean) * inverse;
        *to++ = static_cast<T>(unit * parameter<T>(scale, c, 1) + parameter<T>(bias, c, 0));
      }
    }
    return {};
  });
}

Status layer_norm(const LayerNorm& norm, const Tensor& x, const Tensor& scale, const Tensor& bias, Tensor& out,
                  Tensor& mean, Tensor& inverse) {
  TRY_OK(require_one_type({&x, &scale, &bias, &out, &mean, &inverse}));
  const auto fits = [&](const Tensor& t) { return !t || broadcasts(t.dims(), x.dims()); };
  if (norm.axis > x.rank() || out.count() != x.count() || !fits(scale) || !fits(bias))
    return refuse("kernel.shape", "the tensors of a normalisation do not fit each other");
  int64_t rows = 1;
  for (size_t i = 0; i < norm.axis; ++i) rows *= x.dims()[i];
  TRY_OK(require_count({&mean, &inverse}, rows));
  if (x.count() == 0) return {};
  const int64_t length = x.count() / rows;
  BroadcastIndex is(scale.dims(), x.dims()), ib(bias.dims(), x.dims());
  return visit_real(x.dtype(), [&]<class T>(T) -> Status {
    T* to = out.as_mutable<T>().data();
    for (int64_t row = 0; row < rows; ++row) {
      const T* from = x.as<T>().data() + row * length;
      Moments m = moments_of(length, [&](int64_t i) { return static_cast<double>(from[i]); });
      if (!norm.centered) m = {0, m.variance + m.mean * m.mean};
      const double factor = 1 / std::sqrt(m.variance + static_cast<double>(norm.epsilon));
      for (int64_t i = 0; i < length; ++i, is.next(), ib.next()) {
        const double unit = (static_cast<double>(from[i]) - m.mean) * factor;
        *to++ = static_cast<T>(unit * parameter<T>(scale, is.offset(), 1) + parameter<T>(bias, ib.offset(), 0));
      }
      if (mean) mean.as_mutable<T>()[static_cast<size_t>(row)] = static_cast<T>(m.mean);
      if (inverse) inverse.as_mutable<T>()[static_cast<size_t>(row)] = static_cast<T>(factor);
    }
    return {};
  });
}

Status mean_variance_norm(const Temporary<bool>& axes, const Tensor& x, Tensor& out) {
  TRY_OK(require_one_type({&x, &out}));
  if (axes.size() != x.rank() || out.count() != x.count())
    return refuse("kernel.shape", "the tensors of a normalisation do not fit each other");
  auto kept = temporary(x.dims());
  for (size_t i = 0; i < kept.size(); ++i)
    if (axes[i]) kept[i] = 1;
  const auto groups = static_cast<size_t>(element_count(kept).value_or(0));
  if (x.count() == 0) return {};
  const double count = static_cast<double>(x.count()) / static_cast<double>(groups);
  return visit_real(x.dtype(), [&]<class T>(T) -> Status {
    const auto from = x.as<T>();
    auto to = out.as_mutable<T>();
    Temporary<double> mean(groups), variance(groups);
    const auto each = [&](auto visit) {
      BroadcastIndex group(kept, x.dims());
      for (size_t i = 0; i < from.size(); ++i, group.next()) visit(i, static_cast<size_t>(group.offset()));
    };
    each([&](size_t i, size_t g) { mean[g] += static_cast<double>(from[i]) / count; });
    each([&](size_t i, size_t g) {
      const double d = static_cast<double>(from[i]) - mean[g];
      variance[g] += d * d / count;
    });
    each([&](size_t i, size_t g) {
      to[i] = static_cast<T>((static_cast<double>(from[i]) - mean[g]) / (std::sqrt(variance[g]) + 1e-9));
    });
    return {};
  });
}

}  // namespace anyshape::kernels
