#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace anyshape {

// The length of the UTF-8 sequence at the start of `text`, 0 when it is none. REQUIRES: text is not empty.
size_t utf8_length(std::string_view text);

// The first character of a text and its bytes. Where they are no UTF-8: the first byte, and no character.
struct Utf8Character {
  std::optional<char32_t> point;
  std::string_view bytes;
};

// REQUIRES: text is not empty.
Utf8Character utf8_first(std::string_view text);

// The start of a text that may be long, at most so many bytes, cut between characters.
std::string_view shortened(std::string_view text, size_t most = 200);

// The code points, or nullopt when the text is not UTF-8.
std::optional<std::u32string> utf8_decode(std::string_view text);

// False, and nothing is appended, when `point` is no character of Unicode (a surrogate, or beyond the last).
bool utf8_append(std::string& out, char32_t point);

}  // namespace anyshape
