#include "kernels/fft.h"

#include <bit>
#include <numbers>
#include <utility>

#include "base/temporary.h"

namespace anyshape::kernels {
namespace {

using Complex = std::complex<double>;

constexpr size_t kShort = 64;

Complex turn(size_t part, size_t whole) {
  return std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(part) / static_cast<double>(whole));
}

void by_powers_of_two(Temporary<Complex>& values, const Temporary<Complex>& roots) {
  const size_t n = values.size();
  for (size_t i = 1, j = 0; i < n; ++i) {
    size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
  for (size_t half = 1; half < n; half *= 2)
    for (size_t start = 0; start < n; start += 2 * half)
      for (size_t k = 0; k < half; ++k) {
        const Complex odd = values[start + half + k] * roots[k * (n / (2 * half))], even = values[start + k];
        values[start + k] = even + odd;
        values[start + half + k] = even - odd;
      }
}

void by_definition(Temporary<Complex>& values, const Temporary<Complex>& roots) {
  const size_t n = values.size();
  Temporary<Complex> sums(n);
  for (size_t k = 0; k < n; ++k)
    for (size_t i = 0; i < n; ++i) sums[k] += values[i] * roots[i * k % n];
  values = std::move(sums);
}

}  // namespace

Fft::Fft(size_t length) : length_(length) {
  if (length < 2) return;
  const bool whole = std::has_single_bit(length) || length <= kShort;
  const size_t size = whole ? length : std::bit_ceil(2 * length - 1);
  // A shorter length may need more than this one: memory for all up to it is there from now on.
  if (TemporaryMemory::in_scope()) Temporary<Complex>().reserve(5 * std::bit_ceil(2 * length));
  roots_.reserve(size);
  for (size_t k = 0; k < size; ++k) roots_.push_back(turn(k, size));
  if (whole) return;
  chirp_.reserve(length);
  chirp_spectrum_.resize(size);
  for (size_t k = 0; k < length; ++k) {
    chirp_.push_back(turn(k * k % (2 * length), 2 * length));
    chirp_spectrum_[k] = chirp_spectrum_[(size - k) % size] = std::conj(chirp_[k]);
  }
  by_powers_of_two(chirp_spectrum_, roots_);
}

void Fft::by_convolution(Temporary<Complex>& values) const {
  const size_t size = chirp_spectrum_.size();
  Temporary<Complex> work(size);
  for (size_t k = 0; k < length_; ++k) work[k] = values[k] * chirp_[k];
  by_powers_of_two(work, roots_);
  for (size_t k = 0; k < size; ++k) work[k] = std::conj(work[k] * chirp_spectrum_[k]);
  by_powers_of_two(work, roots_);
  for (size_t k = 0; k < length_; ++k) values[k] = std::conj(work[k]) / static_cast<double>(size) * chirp_[k];
}

void Fft::forward(Temporary<Complex>& values) const {
  if (length_ < 2) return;
  if (!chirp_.empty())
    by_convolution(values);
  else if (std::has_single_bit(length_))
    by_powers_of_two(values, roots_);
  else
    by_definition(values, roots_);
}

void Fft::run(Temporary<Complex>& values, bool inverse) const {
  if (!inverse) return forward(values);
  for (Complex& value : values) value = std::conj(value);
  forward(values);
  for (Complex& value : values) value = std::conj(value) / static_cast<double>(length_);
}

}  // namespace anyshape::kernels
