#pragma once

#include <string_view>
#include <vector>

#include "format/pt2/expression.h"

namespace anyshape::pt2 {

Expression integer_of(int64_t value);
Expression call_of(std::string_view name, std::vector<Expression> args);

// The call `head(args)` in the words of Expression: sympy's and PyTorch's heads, Python's functions. A head that is not
// known, or known with another number of arguments, stays a call under its own name.
Expression apply_head(std::string_view head, std::vector<Expression> args);

}  // namespace anyshape::pt2
