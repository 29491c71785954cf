#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "anyshape/api.h"
#include "anyshape/axes.h"
#include "anyshape/error.h"
#include "anyshape/model.h"

namespace anyshape {

struct FixOptions {
  std::vector<std::pair<std::string, int64_t>> freeze;      // symbol, size
  std::vector<DynamicAxis> dynamic;                         // axes of inputs
  std::vector<std::pair<std::string, std::string>> rename;  // a symbol, an input or an output, and its new name
  // Constants where sizes were computed, and nothing that does nothing.
  bool simplify = false;
  bool batch_only = false;         // refuse a result with dynamic axes other than the batch
  std::vector<std::string> allow;  // waivers of that, "NAME:AXIS"
  DimText dims = DimText::names;
  // "mql5": the result is one file, in operators, types and a format that target takes, and the policy is batch_only.
  std::string target = {};
};

struct Fixed {
  Model model;
  std::vector<std::string> changes;  // one sentence each
};

// The model with its axes changed, in this order: frozen, made dynamic, renamed; then simplified, then brought to the
// target. It gives the values
// the model gives wherever both take the shape, and takes every shape the model takes but those that were frozen away.
// What cannot be changed so is refused, and nothing is made: "fix.baked" (an operator needs the size an axis had),
// "fix.mixed" (an operator would tie the axis to another one, or cut through it), "fix.suspect" (a constant may or may
// not stand for the size), "fix.narrowed" (a literal leaves a named axis some of its sizes only), "fix.narrower",
// "fix.policy", "assumed.condition", "target.*", and whatever refuses the model at every shape. Usage errors: freeze.*,
// dynamic.*, rename.*, target.unknown.
ANYSHAPE_API Result<Fixed> fix(const Model& model, const FixOptions& options);

}  // namespace anyshape
