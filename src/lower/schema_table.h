#pragma once

#include <span>
#include <string_view>

namespace anyshape::lower {

// Declarations of ATen operators, "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", sorted by name;
// overloads of one name in PyTorch's order.
std::span<const std::string_view> schema_table();

}  // namespace anyshape::lower
