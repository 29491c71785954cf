#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace anyshape::mqh {

// A text with every `$NAME` of a row replaced by its value. Values are not looked at again.
std::string fill(std::string_view text, const std::vector<std::pair<std::string_view, std::string>>& values);

}  // namespace anyshape::mqh
