#pragma once

#include <complex>
#include <vector>

#include "base/temporary.h"

namespace anyshape::kernels {

// The discrete Fourier transform of one length, any length, in n log n steps.
class Fft {
 public:
  explicit Fft(size_t length);
  size_t length() const { return length_; }
  // values[k] = sum over n of values[n] * exp(-2 pi i k n / length); the inverse has exp(+...) and divides by length.
  // REQUIRES: values.size() == length().
  void run(Temporary<std::complex<double>>& values, bool inverse) const;

 private:
  void forward(Temporary<std::complex<double>>& values) const;
  void by_convolution(Temporary<std::complex<double>>& values) const;

  size_t length_;
  Temporary<std::complex<double>> roots_;  // of the length that is transformed
  // Of long lengths that are no power of two: the transform is a convolution with a chirp.
  Temporary<std::complex<double>> chirp_, chirp_spectrum_;
};

}  // namespace anyshape::kernels
