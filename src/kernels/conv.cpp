#include "kernels/conv.h"

#include <cmath>

#include "base/temporary.h"
#include "kernels/conv_shape.h"
#include "kernels/wide.h"

namespace anyshape::kernels {
namespace {

template <class T>
void run_conv(const Conv& conv, const ConvShape& s, const Tensor& x, const Tensor& w, const Tensor& bias, Tensor& out) {
  const Windows windows{s.in, s.kernel, s.out, conv.strides, conv.dilations, conv.pads};
  WindowReader reader(windows);
  const T* data = x.as<T>().data();
  const int64_t in_group = s.channels / conv.group;
  const auto read = [&](int64_t n, int64_t channel, int64_t first, int64_t count, T* columns) {
    const auto& offsets = reader.offsets(first, count);
    for (int64_t c = 0; c < in_group; ++c) {
      const T* plane = data + (n * s.channels + channel + c) * s.in_plane;
      for (size_t i = 0; i < offsets.size(); ++i) *columns++ = offsets[i] < 0 ? T{} : plane[offsets[i]];
    }
  };
  convolve<T>(s, conv.group, w.as<T>().data(), bias ? bias.as<T>().data() : nullptr, out.as_mutable<T>().data(), read);
}

// Adds w(:, m) * x of one image and group to the plane of one output channel.
template <class T>
void scatter_channel(const Conv& conv, const ConvShape& s, const T* x, const T* w, int64_t w_stride,
                     Temporary<double>& products, Temporary<double>& plane) {
  std::fill(products.begin(), products.end(), 0.0);
  const int64_t depth = s.channels / conv.group;
  multiply_add(Matrix<T>{w, 1, w_stride}, Matrix<T>{x, s.in_plane, 1}, s.kernel_plane, s.in_plane, depth,
               products.data());
  Temporary<int64_t> position(s.rank), cell(s.rank);
  for (int64_t k = 0; k < s.kernel_plane; ++k) {
    unravel(k, s.kernel, cell);
    for (int64_t i = 0; i < s.in_plane; ++i) {
      unravel(i, s.in, position);
      int64_t flat = 0;
      bool inside = true;
      for (size_t a = 0; a < s.rank; ++a) {
        const int64_t at = position[a] * conv.strides[a] + cell[a] * conv.dilations[a] - conv.pads[a];
        inside &= at >= 0 && at < s.out[a];
        flat = flat * s.out[a] + at;
      }
      if (inside) plane[static_cast<size_t>(flat)] += products[static_cast<size_t>(k * s.in_plane + i)];
    }
  }
}

template <class T>
void run_transposed(const Conv& conv, const ConvShape& s, const Tensor& x, const Tensor& w, const Tensor& bias,
                    Tensor& out) {
  const int64_t in_group = s.channels / conv.group, out_group = s.out_channels / conv.group;
  Temporary<double> products(static_cast<size_t>(s.kernel_plane * s.in_plane));
  Temporary<double> plane(static_cast<size_t>(s.out_plane));
  const T *px = x.as<T>().data(), *pw = w.as<T>().data();
  T* to = out.as_mutable<T>().data();
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t m = 0; m < s.out_channels; ++m) {
      const int64_t g = m / out_group;
      std::fill(plane.begin(), plane.end(), bias ? static_cast<double>(bias.as<T>()[static_cast<size_t>(m)]) : 0.0);
      const T* image = px + (n * s.channels + g * in_group) * s.in_plane;
      const T* filter = pw + (g * in_group * out_group + m % out_group) * s.kernel_plane;
      scatter_channel<T>(conv, s, image, filter, out_group * s.kernel_plane, products, plane);
      for (double value : plane) *to++ = static_cast<T>(value);
    }
}

}  // namespace

Result<ConvShape> conv_shape(const Conv& conv, const Tensor& x, const Tensor& w, const Tensor& bias, const Tensor& out,
                             bool transposed) {
  TRY_OK(require_one_type({&x, &w, &bias, &out}));
  const auto misfit = [] { return refuse("kernel.shape", "the tensors of a convolution do not fit each other"); };
  if (x.rank() < 2 || w.rank() != x.rank() || out.rank() != x.rank() || conv.group < 1) return misfit();
  ConvShape s;
  s.rank = x.rank() - 2;
  if (conv.strides.size() != s.rank || conv.dilations.size() != s.rank || conv.pads.size() != s.rank) return misfit();
  s.in.assign(x.dims().begin() + 2, x.dims().end());
  s.kernel.assign(w.dims().begin() + 2, w.dims().end());
  s.out.assign(out.dims().begin() + 2, out.dims().end());
  s.batch = x.dims()[0];
  s.channels = x.dims()[1];
  s.out_channels = out.dims()[1];
  const int64_t in_group = s.channels / conv.group, out_group = s.out_channels / conv.group;
  const bool fits = transposed ? w.dims()[0] == s.channels && w.dims()[1] == out_group
                               : w.dims()[0] == s.out_channels && w.dims()[1] == in_group;
  if (!fits || s.channels % conv.group != 0 || s.out_channels % conv.group != 0 || out.dims()[0] != s.batch ||
      (bias && bias.count() != s.out_channels))
    return misfit();
  const auto in_plane = element_count(s.in), kernel_plane = element_count(s.kernel), out_plane = element_count(s.out);
  if (!in_plane || !kernel_plane || !out_plane) return misfit();
  s.in_plane = *in_plane;
  s.kernel_plane = *kernel_plane;
  s.out_plane = *out_plane;
  return s;
}

Status conv(const Conv& conv, const Tensor& x, const Tensor& w, const Tensor& bias, Tensor& out) {
  TRY(const ConvShape s, conv_shape(conv, x, w, bias, out, false));
  return visit_real(out.dtype(), [&]<class T>(T) -> Status {
    run_conv<T>(conv, s, x, w, bias, out);
    return {};
  });
}

Status conv_transpose(const Conv& conv, const Tensor& x, const Tensor& w, const Tensor& bias, Tensor& out) {
  TRY(const ConvShape s, conv_shape(conv, x, w, bias, out, true));
  return visit_real(out.dtype(), [&]<class T>(T) -> Status {
    if (out.count() > 0) run_transposed<T>(conv, s, x, w, bias, out);
    return {};
  });
}

Status causal_conv(const Tensor& x, const Tensor& w, const Tensor& bias, const Tensor& past, bool silu, Tensor& out,
                   Tensor& present) {
  TRY_OK(require_one_type({&x, &w, &bias, &past, &out, &present}));
  if (x.rank() != 3 || w.rank() != 3) return refuse("kernel.shape", "rank 3 is needed");
  const int64_t rows = x.dims()[0] * x.dims()[1], channels = x.dims()[1], steps = x.dims()[2], k = w.dims()[2];
  return visit_real(x.dtype(), [&]<class T>(T) -> Status {
    Temporary<T> line(static_cast<size_t>(steps + k - 1));
    T *to = out.as_mutable<T>().data(), *state = present ? present.as_mutable<T>().data() : nullptr;
    for (int64_t row = 0; row < rows; ++row) {
      if (past) std::copy_n(past.as<T>().data() + row * (k - 1), k - 1, line.begin());
      std::copy_n(x.as<T>().data() + row * steps, steps, line.begin() + (k - 1));
      const T* filter = w.as<T>().data() + row % channels * k;
      for (int64_t i = 0; i < steps; ++i) {
        double sum = bias ? static_cast<double>(bias.as<T>()[static_cast<size_t>(row % channels)]) : 0.0;
        for (int64_t j = 0; j < k; ++j) sum += static_cast<double>(filter[j]) * line[static_cast<size_t>(i + j)];
        *to++ = static_cast<T>(silu ? sum / (1 + std::exp(-sum)) : sum);
      }
      if (state) std::copy_n(line.begin() + steps, k - 1, state + row * (k - 1));
    }
    return {};
  });
}

}  // namespace anyshape::kernels
