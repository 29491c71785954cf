#include "anyshape/version.h"

namespace anyshape {

std::string_view version() { return ANYSHAPE_VERSION; }

}  // namespace anyshape
