#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "passes/draft.h"
#include "solve/solve.h"

namespace anyshape {

// A graph rewritten for running, and the fact of every value in it. It gives the values the source graph gives wherever
// that accepts the shape; conditions on shapes stay those of the source.
struct Program {
  // What one pass did.
  struct Ran {
    std::string pass;
    size_t nodes_before, nodes_after;
    int64_t nanoseconds;
  };
  std::shared_ptr<const Graph> graph;
  Facts facts;
  std::vector<Ran> passes;
};

std::span<const Pass> all_passes();

// All passes in order, but those named in `without`.
Result<Program> optimized(const Typed& typed, bool optimize, const std::vector<std::string>& without = {});

}  // namespace anyshape
