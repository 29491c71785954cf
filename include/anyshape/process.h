#pragma once

#include <atomic>
#include <cstdint>

#include "anyshape/api.h"
#include "anyshape/error.h"

// For programs that are made of this library: what concerns their whole process.
namespace anyshape {

// From now on the first SIGINT (Ctrl-C) or SIGTERM only sets the flag that is given back, for WorkLimits::cancel; the
// next one ends the process. A signal that the process ignores stays ignored.
ANYSHAPE_API const std::atomic<bool>& cancel_on_signals();
// The number of the signal that has set the flag; 0: none yet.
ANYSHAPE_API int caught_signal();

// From now on the process gets that many bytes more than it has, then allocations fail. Mapped files do not count.
// System error "system.limit".
ANYSHAPE_API Status limit_memory(int64_t bytes);

}  // namespace anyshape
