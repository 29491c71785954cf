#pragma once

#include <memory>
#include <string>
#include <vector>

#include "solve/solve.h"

namespace anyshape {

struct AcceptedCondition {
  Condition condition;
  std::vector<Reason> because;  // at least one; the first is the node met first
};

// The input shapes a model takes: declared dims match and every condition holds.
struct AcceptedSet {
  std::vector<AcceptedCondition> conditions;  // minimal: none follows from the others; over axis symbols only
  bool minimal = true;                        // false: the work budget was spent before; the set is the same
  bool exact = true;                          // false: the true set may be smaller, for the reasons below
  std::vector<Reason> not_exact_because;
  // Conditions on sizes or entries that depend on data: no refusal of a shape.
  std::vector<AcceptedCondition> on_data;
};

AcceptedSet accepted_set(const Typed& typed);

// The model at accepted shapes without empty axes.
std::unique_ptr<Assumptions> accepted_world(const Typed& typed, const AcceptedSet& accepted);

}  // namespace anyshape
