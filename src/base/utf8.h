#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace anyshape {

// The length of the UTF-8 sequence at the start of `text`, 0 when it is none. REQUIRES: text is not empty.
size_t utf8_length(std::string_view text);

// The code points, or nullopt when the text is not UTF-8.
std::optional<std::u32string> utf8_decode(std::string_view text);

// False, and nothing is appended, when `point` is no character of Unicode (a surrogate, or beyond the last).
bool utf8_append(std::string& out, char32_t point);

}  // namespace anyshape
