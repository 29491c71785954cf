#pragma once

namespace anyshape {

// Standard output is a terminal.
bool stdout_is_terminal();

}  // namespace anyshape
