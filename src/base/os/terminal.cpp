#include "base/os/terminal.h"

#include <unistd.h>

namespace anyshape {

bool stdout_is_terminal() { return isatty(STDOUT_FILENO) == 1; }

bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

}  // namespace anyshape
