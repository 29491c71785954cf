#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fix/relabel.h"
#include "solve/accepted.h"

namespace anyshape::fixes {

// Makes one operator of the graph take any size of the axes that were freed, and says what it changed: solve anew and
// try again. nullopt: nothing stands against it. `typed` is the model of `edit`, in which the axes are dynamic by name;
// they all had one size, in the model `before`. Refused: fix.baked, fix.mixed, fix.suspect.
Result<std::optional<std::string>> repair(const Typed& typed, const AcceptedSet& accepted,
                                          const std::vector<Freed>& freed, const Typed& before, Edit& edit);

}  // namespace anyshape::fixes
