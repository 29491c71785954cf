#include "base/bug.h"

#include <cstdio>
#include <cstdlib>

namespace anyshape {

void bug(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "anyshape: internal error at %s:%d: %s. This is a bug in anyshape; please report it.\n", file,
               line, condition);
  std::_Exit(1);
}

}  // namespace anyshape
