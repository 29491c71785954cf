#pragma once

#include <string>

#include "ir/op.h"

namespace anyshape {

// docs/operators.md for the records of one table, without those below it.
std::string operator_table(const OpTable& table);

}  // namespace anyshape
