#pragma once

#include "fix/edit.h"

namespace anyshape::fixes {

// What is known before the model runs becomes a constant, reshapes get constant targets where there are such, nodes
// that hand their input on, compute what another computes, or are read by nobody go. Bodies and local functions stay as
// they are. `typed` is the model of `edit`.
Status simplify(const Typed& typed, Edit& edit);

// Drops initializers nobody reads, and types of values nobody makes.
void drop_unused(Edit& edit);

}  // namespace anyshape::fixes
