#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace anyshape::kernels {

// The code points of UTF-8 text; a byte that belongs to no character counts as U+FFFD.
std::vector<char32_t> code_points(std::string_view text);

// The other case of Latin, Greek, Cyrillic and Armenian letters that have exactly one; others are themselves.
char32_t to_lower(char32_t code);
char32_t to_upper(char32_t code);
std::string to_lower(std::string_view text);
std::string to_upper(std::string_view text);

}  // namespace anyshape::kernels
