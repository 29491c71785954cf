#pragma once

#include <string>
#include <vector>

#include "anyshape/report.h"
#include "check/checked_model.h"
#include "solve/budget.h"

namespace anyshape {

// As shape_box() of anyshape/verify.h. visits: of nodes, inputs and axes in all walks together; past them it is refused
// with the code work.budget.
Result<ShapeBox> shape_box(const CheckedModel& model, const std::vector<std::string>& wanted,
                           int64_t visits = budget::kMaxBoxVisits);

}  // namespace anyshape
