#pragma once

#include <string>
#include <vector>

#include "fix/relabel.h"
#include "solve/accepted.h"

namespace anyshape::fixes {

// Makes operators of the graph take any size of the axes that were freed: all those of which what is known now tells
// what is to be changed. Others may show once these are right, so solve anew and try again. A sentence for each; none:
// nothing stands against the axes. `typed` is the model of `edit`, in which the axes are dynamic by name; they all had
// one size, in the model `before`. Refused: fix.baked, fix.mixed, fix.suspect.
Result<std::vector<std::string>> repair_all_seen(const Typed& typed, const AcceptedSet& accepted,
                                                 const std::vector<Freed>& freed, const Typed& before, Edit& edit);

}  // namespace anyshape::fixes
