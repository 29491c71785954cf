#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace anyshape {

// Element i of a tensor of any float type; nullopt for other types.
std::optional<double> real_at(const Tensor& tensor, int64_t i);
// Rounds to the tensor's type; types of 8 bits and less saturate. False, and nothing is written, for types real_at does
// not read.
bool set_real(Tensor& tensor, int64_t i, double value);
// The bits of element i. REQUIRES: elements of 8 bits or less.
void set_code(Tensor& tensor, int64_t i, uint8_t code);

}  // namespace anyshape
