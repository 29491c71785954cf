#pragma once

#include <atomic>
#include <cstdint>

#include "base/work.h"

namespace anyshape {

struct RunLimits {
  int64_t max_bytes = 0;                      // of all that one run makes, bodies included; 0: no limit
  const std::atomic<bool>* cancel = nullptr;  // looked at between steps and tasks

  // There is something that could end the run before its last step.
  bool can_end() const { return cancel || Work::scope(); }
  // Errors "run.cancelled" once somebody has set the flag, "work.*" where all work of this thread is to end.
  Status check_cancelled() const { return check_cancelled(Work::scope()); }
  // The same, asked by another thread than that of the run.
  Status check_cancelled(const WorkScope* scope) const;
};

}  // namespace anyshape
