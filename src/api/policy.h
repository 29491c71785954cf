#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "anyshape/model.h"

namespace anyshape {

// Refused with `code` where an axis other than the batch is dynamic and not allowed ("NAME:AXIS").
Status check_batch_only(const Model& model, const std::vector<std::string>& allow, std::string_view code);

}  // namespace anyshape
