#pragma once

#include <fmt/format.h>

#include "anyshape/printable.h"

namespace anyshape {

// A character that ends a line, commands a terminal, turns the direction of writing or is not seen.
bool is_hidden(char32_t point);

// A line of text for people, with its end.
template <class... Args>
std::string line(fmt::format_string<Args...> text, Args&&... args) {
  return printable(fmt::vformat(fmt::string_view(text), fmt::make_format_args(args...))) + '\n';
}

}  // namespace anyshape
