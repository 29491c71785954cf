#pragma once

namespace anyshape {

// Standard output is a terminal.
bool stdout_is_terminal();
// Standard error is a terminal.
bool stderr_is_terminal();

}  // namespace anyshape
