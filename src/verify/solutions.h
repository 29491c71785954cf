#pragma once

#include <unordered_map>
#include <vector>

#include "sym/condition.h"

namespace anyshape {

using SymbolSizes = std::unordered_map<Dim, int64_t>;

// Where an equation leaves two sizes few ways to go together (`h*w == 12`): the ways, by the first of the two, each
// with the smallest other one that is in no way before. The sizes of further symbols are those of `others`. None where
// there are more than a few dozen, as for `h == w`.
std::vector<SymbolSizes> few_solutions(const Condition& condition, const SymbolSizes& others);

}  // namespace anyshape
