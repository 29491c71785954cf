#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "passes/draft.h"
#include "solve/solve.h"

namespace anyshape {

// A graph rewritten for running, and the fact of every value in it. It gives the values the source graph gives wherever
// that accepts the shape; conditions on shapes stay those of the source.
struct RunGraph {
  // What one pass did.
  struct Ran {
    std::string pass;
    size_t nodes_before, nodes_after;
    int64_t nanoseconds;
    std::string note;  // Draft::note
  };
  std::shared_ptr<const Graph> graph;
  Facts facts;
  std::vector<Ran> passes;
  std::unordered_map<const Graph*, const Graph*> sources;  // Draft::sources
};

struct PassOptions {
  std::vector<std::string> without;  // passes to leave out
  // Gets the graph as text (print_graph) before the first pass, as "source", and after each.
  std::function<void(std::string_view pass, std::string_view graph)> dump;
  // The graph is looked over after each pass: a wrong one is a bug of ours. So it is wherever there is a dump.
#ifdef NDEBUG
  bool verify = false;
#else
  bool verify = true;
#endif
};

std::span<const Pass> all_passes();

// All passes in order, but those left out. Usage error "pass.unknown".
Result<RunGraph> rewritten(const Typed& typed, const Target& target, const PassOptions& options);
// No pass at all: the graph as it is. Usage error "pass.unknown", as above.
Result<RunGraph> unchanged(const Typed& typed, const PassOptions& options);

}  // namespace anyshape
