#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/temporary.h"

namespace anyshape::kernels {

// Decision trees as one list of nodes.
struct Forest {
  enum class Test : uint8_t { leq, lt, gte, gt, eq, neq, member, leaf };
  enum class Aggregate : uint8_t { average, sum, min, max };
  struct Node {
    Test test = Test::leaf;
    bool missing_is_true = false;
    int64_t feature = 0;
    double split = 0;
    int64_t if_true = 0, if_false = 0;  // nodes
    size_t first = 0, count = 0;        // of `votes` (leaf) or `members` (member)
  };
  struct Vote {
    int64_t target = 0;
    double weight = 0;
  };
  Temporary<Node> nodes;
  Temporary<int64_t> roots;
  Temporary<Vote> votes;
  Temporary<double> members;
  Aggregate aggregate = Aggregate::sum;
  // Sums are rounded to float after each vote: which class a row at the threshold gets hangs on it.
  bool in_float = false;
};

struct ForestScores {
  Temporary<double> score;
  Temporary<uint8_t> voted;  // some leaf voted for this target
};

// Errors: "treeensemble.feature" when a node looks past the row, "treeensemble.cycle". REQUIRES: node, vote and target
// numbers are in range.
Result<ForestScores> evaluate(const Forest& forest, std::span<const double> row, size_t targets);

}  // namespace anyshape::kernels
