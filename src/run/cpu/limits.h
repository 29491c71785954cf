#pragma once

#include <atomic>
#include <cstdint>

#include "base/error.h"

namespace anyshape {

struct RunLimits {
  int64_t max_bytes = 0;                      // of intermediate values of one run, bodies included; 0: no limit
  const std::atomic<bool>* cancel = nullptr;  // looked at between steps

  // Error "run.cancelled" once somebody has set the flag.
  Status check_cancelled() const;
  // Error "run.memory" when that many bytes are in use and it is too many.
  Status check_bytes(int64_t used) const;
};

}  // namespace anyshape
