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

}  // namespace anyshape::simd
