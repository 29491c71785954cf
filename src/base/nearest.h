#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace anyshape {

// The name among `names` a person who wrote `text` most likely meant; empty when none is near.
std::string nearest(std::string_view text, const std::vector<std::string>& names);

}  // namespace anyshape
