#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

// The words behind the name of the program `anyshape`, before there are other threads: what errors advise is a whole
// command then, not the argument alone.
ANYSHAPE_API void tell_command(std::vector<std::string> words);
// The command with these words of a shell behind it, and with `wanted` for `given` in a value of the option, which is
// named without its dashes (in any word where it is empty). Where none was told: the words, `wanted`.
ANYSHAPE_API std::string told_command_with(std::string_view words);
ANYSHAPE_API std::string told_command_with(std::string_view option, std::string_view given, std::string_view wanted);

}  // namespace anyshape
