#pragma once

#include <string_view>

#include "anyshape/api.h"

namespace anyshape {

// The version of the library in use at run time, "MAJOR.MINOR.PATCH". The text lives as long as the process.
ANYSHAPE_API std::string_view version();

}  // namespace anyshape
