#pragma once

#include <vector>

#include "anyshape/report.h"
#include "format/onnx/file.h"
#include "solve/solve.h"
#include "target/profile.h"

namespace anyshape::target {

// What of the file the target does not take, by rules of the table in check/rules.cpp. The policy on axes is not part
// of it. `typed` is the model of `file`.
std::vector<Finding> findings(const Profile& profile, const Typed& typed, const onnx::ModelFile& file);

}  // namespace anyshape::target
