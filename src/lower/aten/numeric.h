#pragma once

#include <numbers>

#include "lower/lowering.h"

namespace anyshape::lower {

// Expressions that several families need. Operands have one type unless something else is said.

// A number of x's type.
Ref like(Lowering& l, Ref x, double value);
Ref less(Lowering& l, Ref a, Ref b);
Ref greater(Lowering& l, Ref a, Ref b);
Ref at_most(Lowering& l, Ref a, Ref b);
Ref at_least(Lowering& l, Ref a, Ref b);
// condition ? a : b, also for bools.
Ref choose(Lowering& l, Ref condition, Ref a, Ref b);
// NaN where one of both is.
Ref larger(Lowering& l, Ref a, Ref b);
Ref smaller(Lowering& l, Ref a, Ref b);
// PyTorch's remainder: it has the sign of the divisor.
Ref remainder_of(Lowering& l, Ref a, Ref b);
Ref floor_quotient(Lowering& l, Ref a, Ref b);
Ref truncated(Lowering& l, Ref x);
Ref log1p_of(Lowering& l, Ref x);
Ref atan_of(Lowering& l, Ref x);
Ref softplus_of(Lowering& l, Ref x);
// log(base^x + base^y).
Ref log_sum(Lowering& l, Ref x, Ref y, double base = std::numbers::e);
// A tensor of rank 1 with these numbers.
Ref reals(Lowering& l, const std::vector<double>& values, DType dtype);
// The number of x's entries along these axes, as a number of that type. No axes: all.
Ref count_along(Lowering& l, Ref x, const std::vector<int64_t>& axes, DType dtype);
Dim extent(Lowering& l, Ref x, const std::vector<int64_t>& axes);
// The known value of a tensor of one entry, or of a number.
std::optional<double> known_number(Lowering& l, Ref x);

// Reductions over the axes that the argument "dim" names; none or None: all.
std::vector<int64_t> named_axes(Lowering& l, const Args& a, Ref x, std::string_view name = "dim");
Ref reduced(Lowering& l, std::string_view type, Ref x, const std::vector<int64_t>& axes, bool keepdim);

}  // namespace anyshape::lower
