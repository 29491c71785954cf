#pragma once

#include <cstddef>
#include <cstdint>

// Sums and products of quantised bytes, entry for entry as the reference kernel does it: in f32, ties by the last bit.
namespace anyshape::simd {

struct ByteBinary {
  bool sum = true, is_signed = false;
  float left = 1, right = 1, fixed = 0;              // of a sum: right * b + (left * a + fixed), each fused
  float a_zero = 0, b_zero = 0, both = 1, zero = 0;  // of a product: (a - a_zero) * (b - b_zero) * both + zero
};

// One entry of a or b for each of out, or one for all of them.
struct ByteOperand {
  const std::byte* data = nullptr;
  bool one = false;
};

// What is no number becomes 0.
void byte_binary(const ByteBinary& how, ByteOperand a, ByteOperand b, int64_t n, std::byte* out);

}  // namespace anyshape::simd
