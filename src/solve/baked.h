#pragma once

#include <optional>

#include "sym/condition.h"

namespace anyshape {

// A size the symbol must have, if need be as one of several: `seq == 120`, `seq == 1 or seq == 120`. An equation that
// large sizes solve as well (`min(seq, 1) == 1`) is none.
std::optional<int64_t> baked_size(const Condition& condition, Dim symbol);

}  // namespace anyshape
