#include "engine/executable/limits.h"

namespace anyshape {

Status RunLimits::check_cancelled(const WorkScope* scope) const {
  if (cancel && cancel->load(std::memory_order_relaxed)) return refuse("run.cancelled", "the run was cancelled");
  return Work::check(scope);
}

}  // namespace anyshape
