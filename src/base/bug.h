#pragma once

namespace anyshape {

// Ends the process with exit code 1 and a sentence that asks for a bug report.
[[noreturn]] void bug(const char* condition, const char* file, int line);

}  // namespace anyshape

// For what only a mistake inside anyshape can break. Never reachable from a file, an argument or a tensor.
#define ANYSHAPE_CHECK(condition) ((condition) ? static_cast<void>(0) : ::anyshape::bug(#condition, __FILE__, __LINE__))
