#include "run/cpu/limits.h"

namespace anyshape {

Status RunLimits::check_cancelled(const WorkScope* scope) const {
  if (cancel && cancel->load(std::memory_order_relaxed)) return refuse("run.cancelled", "the run was cancelled");
  return Work::check(scope);
}

Status RunLimits::check_bytes(int64_t used) const {
  if (max_bytes > 0 && used > max_bytes)
    return system_error("run.memory", "{} bytes are needed for intermediate values, the limit is {}", used, max_bytes);
  return {};
}

}  // namespace anyshape
