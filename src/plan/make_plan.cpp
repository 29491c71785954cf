#include "plan/planner.h"

namespace anyshape {

Result<std::shared_ptr<const Plan>> make_plan(const Typed& typed, const PlanOptions& options) {
  TRY(const Program program, optimized(typed, options));
  return Planner(typed, program, options).run();
}

}  // namespace anyshape
