#pragma once

#include <atomic>
#include <cstdint>

#include "base/error.h"

namespace anyshape::os {

// Those of anyshape/process.h.
const std::atomic<bool>& cancel_on_signals();
int caught_signal();
Status limit_memory(int64_t bytes);

}  // namespace anyshape::os
