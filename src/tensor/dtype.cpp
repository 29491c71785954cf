#include "tensor/dtype.h"

#include <array>

namespace anyshape {
namespace {

enum class Class : uint8_t { none, text, boolean, integer, unsigned_integer, real, complex };

struct Row {
  std::string_view name, numpy;
  uint8_t bits;
  Class kind;
};

constexpr std::array<Row, kDTypeCount> kRows = {{
    {"undefined", "", 0, Class::none},
    {"f32", "float32", 32, Class::real},
    {"u8", "uint8", 8, Class::unsigned_integer},
    {"i8", "int8", 8, Class::integer},
    {"u16", "uint16", 16, Class::unsigned_integer},
    {"i16", "int16", 16, Class::integer},
    {"i32", "int32", 32, Class::integer},
    {"i64", "int64", 64, Class::integer},
    {"string", "object", 0, Class::text},
    {"bool", "bool", 8, Class::boolean},
    {"f16", "float16", 16, Class::real},
    {"f64", "float64", 64, Class::real},
    {"u32", "uint32", 32, Class::unsigned_integer},
    {"u64", "uint64", 64, Class::unsigned_integer},
    {"c64", "complex64", 64, Class::complex},
    {"c128", "complex128", 128, Class::complex},
    {"bf16", "bfloat16", 16, Class::real},
    {"f8e4m3fn", "float8_e4m3fn", 8, Class::real},
    {"f8e4m3fnuz", "float8_e4m3fnuz", 8, Class::real},
    {"f8e5m2", "float8_e5m2", 8, Class::real},
    {"f8e5m2fnuz", "float8_e5m2fnuz", 8, Class::real},
    {"u4", "uint4", 4, Class::unsigned_integer},
    {"i4", "int4", 4, Class::integer},
    {"f4e2m1", "float4_e2m1fn", 4, Class::real},
    {"f8e8m0", "float8_e8m0fnu", 8, Class::real},
    {"u2", "uint2", 2, Class::unsigned_integer},
    {"i2", "int2", 2, Class::integer},
    {"f6e2m3", "float6_e2m3fn", 6, Class::real},
    {"f6e3m2", "float6_e3m2fn", 6, Class::real},
}};

const Row& row(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }

}  // namespace

int bits(DType dtype) { return row(dtype).bits; }

std::string_view name(DType dtype) { return row(dtype).name; }

std::optional<DType> parse_dtype(std::string_view text) {
  for (size_t i = 1; i < kRows.size(); ++i)
    if (kRows[i].name == text || kRows[i].numpy == text) return static_cast<DType>(i);
  return std::nullopt;
}

std::optional<DType> dtype_from_onnx(int64_t code) {
  if (code <= 0 || code >= kDTypeCount) return std::nullopt;
  return static_cast<DType>(code);
}

bool is_integer(DType dtype) { return row(dtype).kind == Class::integer || row(dtype).kind == Class::unsigned_integer; }
bool is_signed_integer(DType dtype) { return row(dtype).kind == Class::integer; }
bool is_float(DType dtype) { return row(dtype).kind == Class::real; }

}  // namespace anyshape
