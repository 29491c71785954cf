#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "sym/assumptions.h"

namespace anyshape::fixes {

// A Reshape whose zeros do not mean "as the input at this place".
bool zero_is_a_size(const Node& reshape);

// A constant target (0: as the input at this place, -1: the rest) by which Reshape, without allowzero, turns sizes
// `from` into `to` wherever the two have as many elements. nullopt: there is none. With `known`, one for empty tensors,
// too.
std::optional<std::vector<int64_t>> constant_target(const Dims& from, const Dims& to, const Assumptions* known);

// The target that a reshape to `old_to`, made for the sizes `old_from`, was meant to have for `from`: where `from` has
// another size, the one entry of `old_to` it went into has it now. nullopt: there is none, or more than one.
std::optional<Dims> meant_target(const Dims& old_from, const Dims& old_to, const Dims& from);

}  // namespace anyshape::fixes
