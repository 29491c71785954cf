#pragma once

#include <string>
#include <vector>

#include "check/checked_model.h"
#include "target/profile.h"

namespace anyshape::target {

struct Brought {
  CheckedModel model;
  std::vector<std::string> changes;  // a sentence each
};

// The model in one file, in operators and a format that the target reads. Refused with what is left in the way, by the
// rules target.*.
Result<Brought> bring(const Profile& profile, const CheckedModel& model);

}  // namespace anyshape::target
