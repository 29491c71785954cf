#pragma once

#include <string_view>
#include <vector>

#include "anyshape/report.h"
#include "format/onnx/file.h"
#include "solve/solve.h"
#include "target/profile.h"

namespace anyshape::target {

// What of the file the target does not take, by rules of the table in check/rules.cpp. The policy on axes is not part
// of it. `typed` is the model of `file`; `fix_command` brings it to the target.
std::vector<Finding> findings(const Profile& profile, const Typed& typed, const onnx::ModelFile& file,
                              std::string_view fix_command);

}  // namespace anyshape::target
