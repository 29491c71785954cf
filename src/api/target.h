#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "anyshape/model.h"

namespace anyshape {

// Usage error target.unknown; no name at all is no error.
Status check_target(std::string_view target);

// The model in one file, in operators and a format that the target reads, and what was changed. Refused with what is
// left in the way, by the rules target.*. Usage error target.unknown. The model is not part of an error's place.
Result<std::pair<Model, std::vector<std::string>>> for_target(const Model& model, std::string_view target);

}  // namespace anyshape
