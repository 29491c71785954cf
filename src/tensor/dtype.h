#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "anyshape/dtype.h"

namespace anyshape {

inline constexpr int kDTypeCount = 29;

// nullopt for a number that is no ONNX element type.
std::optional<DType> dtype_from_onnx(int64_t code);

bool is_integer(DType dtype);  // signed and unsigned, not bool
bool is_signed_integer(DType dtype);
bool is_float(DType dtype);  // f64 f32 f16 bf16 f8* f4*

}  // namespace anyshape
