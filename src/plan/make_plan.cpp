#include "plan/planner.h"

namespace anyshape {

Result<std::shared_ptr<const Plan>> make_plan(const Typed& typed, const PlanOptions& options) {
  TRY(const Program program, optimized(typed, options.optimize, options.without));
  return Planner(typed, program, options).run();
}

}  // namespace anyshape
