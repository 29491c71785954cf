#include "plan/planner.h"

namespace anyshape {

Result<std::shared_ptr<const Plan>> make_plan(const Typed& typed, const Target& target, const PlanOptions& options) {
  TRY(const RunGraph run_graph, options.plain ? unchanged(typed, options) : rewritten(typed, target, options));
  return Planner(typed, run_graph, target, options).run();
}

}  // namespace anyshape
