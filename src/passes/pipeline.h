#pragma once

#include <memory>
#include <string>
#include <vector>

#include "solve/solve.h"

namespace anyshape {

// A graph rewritten for running, and the fact of every value in it. It gives the values the source graph gives wherever
// that accepts the shape; conditions on shapes stay those of the source.
struct Program {
  std::shared_ptr<const Graph> graph;
  Facts facts;
};

// All passes in order, but those named in `without`.
Result<Program> optimized(const Typed& typed, bool optimize, const std::vector<std::string>& without = {});

}  // namespace anyshape
