#pragma once

#include <cstddef>
#include <cstdint>

// Floats to bytes and back, entry for entry as the reference kernels do it.
namespace anyshape::simd {

// The least and greatest of 0 and the entries that are numbers.
struct Range {
  float low = 0, high = 0;
};
Range range_of(const float* x, int64_t n);

// Scale and zero point of a run of entries: one of each, or one per entry.
struct Quantization {
  const float* scales = nullptr;
  const int32_t* zeros = nullptr;  // null: 0
  bool per_entry = false;
};

// out = clamp(round(x / scale) + zero), to even; what is no number becomes the least byte.
void quantize_run(const float* x, int64_t n, const Quantization& q, bool is_signed, std::byte* out);
// out = (x - zero) * scale, rounded once.
void dequantize_run(const std::byte* x, int64_t n, const Quantization& q, bool is_signed, float* out);
void dequantize_run(const int32_t* x, int64_t n, const Quantization& q, float* out);

// Rows of n unsigned numbers less a zero point, times a scale, each one per column. With `nibbles` a row of bytes holds
// two rows of numbers, the first one in its low bits. REQUIRES: n is a multiple of the vectors' lanes.
void widen_rows(const uint8_t* values, bool nibbles, const float* scales, const float* zeros, int64_t rows, int64_t n,
                float* to);

// Bytes of one scale as those of another: out = clamp(round(y / to_scale) + to_zero), where y is (x - zero) * scale,
// less a shift, times a factor, plus a bias, within least..most; each step rounded to f32.
struct Requantization {
  float scale = 1, to_scale = 1, least = 0, most = 0;
  int32_t zero = 0, to_zero = 0;
  const float *shifts = nullptr, *factors = nullptr, *biases = nullptr;
  bool per_entry = false;  // one of each of these for each entry of a row, else for all of them
  bool in_signed = false, out_signed = false;
};
// `rows` of n entries that follow each other.
void requantize_rows(const std::byte* x, int64_t rows, int64_t n, const Requantization& how, std::byte* out);

}  // namespace anyshape::simd
