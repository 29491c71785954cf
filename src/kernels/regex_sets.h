#pragma once

#include <optional>
#include <string_view>

#include "kernels/regex_parse.h"

// Sets of characters in regular expressions.
namespace anyshape::kernels {

inline constexpr char32_t kLastCode = 0x10ffff;

Regex::Set normalized(Regex::Set set);
Regex::Set complement(const Regex::Set& set);
Regex::Set any_case(Regex::Set set);
// `\d` and the like, by their letter.
std::optional<Regex::Set> perl_class(char32_t letter);
// `[:alpha:]` and the like, by their name.
std::optional<Regex::Set> posix_class(std::string_view name);

}  // namespace anyshape::kernels
