#pragma once

#include <string>
#include <vector>

#include "fix/edit.h"

namespace anyshape::target {

// Outputs that ZipMap makes a sequence of maps of are the tensor it reads, a column for each class; a sentence for
// each. One that another node reads stays.
std::vector<std::string> without_zipmaps(fixes::Edit& edit);

}  // namespace anyshape::target
