#pragma once

#include <functional>
#include <string>
#include <vector>

#include "solve/contract.h"

namespace anyshape {

// The shapes at a point, and what is said to them.
struct Judged {
  Shapes shapes;
  Answer answer;
  int64_t visits = 0;  // nodes inferred for it
};

// "At every point of the domain every condition holds."
struct SetClaim {
  struct FixedAxis {
    std::string input;
    size_t axis;
    Dim variable;
  };

  Symbols* symbols = nullptr;
  std::vector<Dim> variables;
  std::vector<FixedAxis> fixed_axes;
  std::vector<Condition> domain, conditions;
  // False: holding conditions do not mean acceptance; only the judge can tell.
  bool exact = true;
  std::string why_not_exact;
  // Beyond this size of an axis holding conditions do not mean acceptance either; 0: they do.
  int64_t largest_axis = 0;
  // A proof is tried by the numeric walk before it is believed.
  bool tried = true;
  // By the numeric walk.
  std::function<Judged(const Binding&)> judge;
};

// Proof first, and the numeric walk asked at points of the domain before it is believed; then a search for the smallest
// counterexample (by the sum of the sizes, then in order of the variables). System error check.contradiction, our bug:
// it is proved, but the walk refuses a point.
Result<Proof> settle(const SetClaim& claim);

}  // namespace anyshape
