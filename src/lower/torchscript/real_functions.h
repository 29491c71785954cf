#pragma once

#include <optional>
#include <string_view>

namespace anyshape::lower::script {

// The function of that name in Python's math or in PyTorch, of one number; nothing where there is none.
std::optional<double> function_of(std::string_view name, double x);

}  // namespace anyshape::lower::script
