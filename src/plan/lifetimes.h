#pragma once

#include "plan/plan.h"

namespace anyshape {

// Sets PlanValue::last_step and PlanStep::ends of a plan whose steps, stages and outputs are there.
void set_lifetimes(Plan& plan);

}  // namespace anyshape
