#pragma once

#include "base/temporary.h"
#include "kernels/conv.h"
#include "kernels/window.h"

namespace anyshape::kernels {

// The sizes of a convolution; `plane` counts the cells of all spatial axes.
struct ConvShape {
  size_t rank = 0;
  Temporary<int64_t> in, kernel, out;
  int64_t batch = 0, channels = 0, out_channels = 0;
  int64_t in_plane = 1, out_plane = 1, kernel_plane = 1;
};

// Checks that the tensors fit each other. `transposed`: w has the channels of x first. Errors "dtype", "kernel.shape".
Result<ConvShape> conv_shape(const Conv& conv, const Tensor& x, const Tensor& w, const Tensor& bias, const Tensor& out,
                             bool transposed);

// What of a convolution is independent of how its input is read: batches, groups, blocks of output positions.
// read(n, first_channel, position, count, columns) fills columns[(c * kernel_plane + k) * count + i] with the input
// cell of channel first_channel + c that cell k of the window at output position + i reads.
template <class T, class Read>
void convolve(const ConvShape& s, int64_t group, const T* w, const T* bias, T* out, Read read);

}  // namespace anyshape::kernels

#include "kernels/multiply.h"

namespace anyshape::kernels {

template <class T, class Read>
void convolve(const ConvShape& s, int64_t group, const T* w, const T* bias, T* out, Read read) {
  const int64_t in_group = s.channels / group, out_group = s.out_channels / group;
  const int64_t depth = in_group * s.kernel_plane;
  const int64_t block = std::clamp<int64_t>((1 << 22) / std::max<int64_t>(1, depth), 16, 256);
  const int64_t widest = std::min(block, s.out_plane);
  Temporary<T> columns(static_cast<size_t>(depth * widest));
  Temporary<double> sums(static_cast<size_t>(out_group * widest));
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t first = 0; first < s.out_plane; first += block)
      for (int64_t g = 0; g < group; ++g) {
        const int64_t count = std::min(block, s.out_plane - first);
        read(n, g * in_group, first, count, columns.data());
        for (int64_t m = 0; m < out_group; ++m)
          std::fill_n(sums.begin() + m * count, count, bias ? static_cast<double>(bias[g * out_group + m]) : 0.0);
        multiply_add(Matrix<T>{w + g * out_group * depth, depth, 1}, Matrix<T>{columns.data(), count, 1}, out_group,
                     count, depth, sums.data());
        for (int64_t m = 0; m < out_group; ++m)
          for (int64_t i = 0; i < count; ++i)
            out[((n * group + g) * out_group + m) * s.out_plane + first + i] =
                static_cast<T>(sums[static_cast<size_t>(m * count + i)]);
      }
}

}  // namespace anyshape::kernels
