#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "anyshape/api.h"

namespace anyshape {

// The element types of ONNX; the numbers are those of TensorProto.DataType.
enum class DType : uint8_t {
  undefined = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  string = 8,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  c64 = 14,
  c128 = 15,
  bf16 = 16,
  f8e4m3fn = 17,
  f8e4m3fnuz = 18,
  f8e5m2 = 19,
  f8e5m2fnuz = 20,
  u4 = 21,
  i4 = 22,
  f4e2m1 = 23,
  f8e8m0 = 24,
  u2 = 25,
  i2 = 26,
  f6e2m3 = 27,
  f6e3m2 = 28,
};

// "f32", "i64", "bool", ... as used on the command line.
ANYSHAPE_API std::string_view name(DType dtype);
// Accepts the names above, and NumPy's ("float32", "int64").
ANYSHAPE_API std::optional<DType> parse_dtype(std::string_view text);
// Bits of one element; 0 for string and undefined. Types under 8 bits are packed without gaps, first element in the low
// bits.
ANYSHAPE_API int bits(DType dtype);

}  // namespace anyshape
