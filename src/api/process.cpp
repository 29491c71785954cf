#include "anyshape/process.h"

#include "base/os/process.h"

namespace anyshape {

const std::atomic<bool>& cancel_on_signals() { return os::cancel_on_signals(); }
int caught_signal() { return os::caught_signal(); }
Status limit_memory(int64_t bytes) { return os::limit_memory(bytes); }

}  // namespace anyshape
