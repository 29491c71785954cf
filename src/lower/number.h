#pragma once

#include <optional>
#include <string_view>

#include "lower/lowering.h"

namespace anyshape::lower {

// Python's arithmetic on numbers that may depend on sizes: add sub mul truediv floordiv mod neg pow abs, eq ne lt le gt
// ge, and or not, max min, float int bool, floor ceil trunc round, sqrt, ite. Refused where the result has no form.
Arg number_op(Lowering& l, std::string_view name, const Arguments& args);
// True where number_op has a meaning for the name.
bool is_number_op(std::string_view name);

bool is_comparison(std::string_view name);  // eq ne lt le gt ge
bool compare(std::string_view comparison, double a, double b);
Condition relate(std::string_view comparison, Dim a, Dim b);
// A double that is a fraction with a small power of two below, as factors of sizes are.
std::optional<Ratio> exact_ratio(double value);

// The truth of a Python value where it is known.
std::optional<bool> truth_of(Lowering& l, const Arg& arg);
// A number as numerator / denominator, where it is exactly that.
std::optional<Ratio> ratio_of(const Arg& arg);

}  // namespace anyshape::lower
