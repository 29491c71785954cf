#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "anyshape/report.h"
#include "base/error.h"

namespace anyshape {

// As read_baseline() of anyshape/check.h; `text` is the content of the file called `file`.
Result<std::vector<KnownFinding>> parse_baseline(std::string_view file, std::string_view text);

}  // namespace anyshape
