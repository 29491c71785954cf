#pragma once

#include "ir/op.h"

namespace anyshape {

// The table of all operators anyshape has a rule for.
const OpTable& all_ops();

}  // namespace anyshape
