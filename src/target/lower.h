#pragma once

#include <string>
#include <vector>

#include "anyshape/report.h"
#include "fix/edit.h"
#include "solve/solve.h"
#include "target/profile.h"

namespace anyshape::target {

struct Lowering {
  std::vector<std::string> changes;  // a sentence each
  std::vector<Finding> refused;  // nodes that nothing of the older versions is equal to; the model is of no use then
};

// Brings the operator sets and the format of the model down to what the target reads, node by node, bodies and local
// functions included: kept where both versions agree, else changed by a row of the table in lower_steps.cpp. `typed` is
// the model of `edit`.
Lowering lower(const Profile& profile, const Typed& typed, fixes::Edit& edit);

}  // namespace anyshape::target
