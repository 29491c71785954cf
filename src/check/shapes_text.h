#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "anyshape/report.h"
#include "base/error.h"

namespace anyshape {

// As parse_shape and read_shapes_file of anyshape/check.h; `text` is the content of the file called `file`.
Result<std::pair<std::string, std::vector<int64_t>>> parse_shape_text(std::string_view text);
Result<std::vector<Shapes>> parse_shape_lines(std::string_view file, std::string_view text);

}  // namespace anyshape
