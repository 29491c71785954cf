#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "solve/contract.h"

namespace anyshape {

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
  // The shapes at a point, and what the numeric walk says to them.
  std::function<std::pair<Shapes, Verdict>(const Binding&)> judge;
};

// Proof first, and the numeric walk asked at points of the domain before it is believed; then a search for the smallest
// counterexample (by the sum of the sizes, then in order of the variables).
SetAnswer settle(const SetClaim& claim);

}  // namespace anyshape
