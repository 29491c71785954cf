#pragma once

#include <span>
#include <vector>

#include "base/error.h"
#include "base/temporary.h"
#include "tensor/tensor.h"

namespace anyshape::kernels {

// The entries of any number or bool type as doubles; complex ones as two each, real part first. Error kind unknown for
// other types.
Result<Temporary<double>> to_reals(const Tensor& tensor);

// Rounds each value to the type of `to`: to nearest even, integers and bool saturate, no number becomes 0 there. Error
// kind unknown for types to_reals does not read. REQUIRES: as many values as to_reals(to) would give.
Status from_reals(std::span<const double> values, Tensor& to);

}  // namespace anyshape::kernels
