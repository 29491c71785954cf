#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace anyshape {

// Element i of an f32, f64, f16 or bf16 tensor; nullopt for other types.
std::optional<double> real_at(const Tensor& tensor, int64_t i);
// Rounds to the tensor's type. False, and nothing is written, for types real_at does not read.
bool set_real(Tensor& tensor, int64_t i, double value);

}  // namespace anyshape
