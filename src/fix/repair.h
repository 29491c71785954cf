#pragma once

#include <string>
#include <vector>

#include "fix/relabel.h"
#include "solve/accepted.h"

namespace anyshape::fixes {

// One attempt to make the graph take any size of the axes that were freed.
struct Repair {
  enum class Kind {
    done,     // nothing stands against it
    changed,  // one operator was changed: solve anew and try again
  };
  Kind kind = Kind::done;
  std::string change;  // a sentence
};

// `typed` is the model of `edit`, in which the axes are dynamic by name; they all had one size. Refused: fix.baked,
// fix.mixed, fix.suspect.
Result<Repair> repair(const Typed& typed, const AcceptedSet& accepted, const std::vector<Freed>& freed, Edit& edit);

}  // namespace anyshape::fixes
