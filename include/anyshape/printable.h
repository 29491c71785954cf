#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "anyshape/api.h"

// How text that a file controls is printed: names, strings, paths are values until then. What Error::text(), the
// to_text() of a Report and an AxisStory, Session::plan_text() and AnyValue::summary() give is printable; fields are
// not.
namespace anyshape {

// The text on one line of a terminal or a log. What would end the line, command the terminal, turn the direction of
// writing or not be seen, and bytes that are no UTF-8, become escapes: \n, \x1b, \u202e. Doing it twice changes
// nothing.
ANYSHAPE_API std::string printable(std::string_view text);

// A name that stands in a line without quotes: as it is where it is one plain word, else quoted.
ANYSHAPE_API std::string printable_name(std::string_view name);

// The text as one word of a command line, for bash, zsh and POSIX shells of today.
ANYSHAPE_API std::string shell_word(std::string_view text);

// "512 bytes", "12.3 MB" (of a million).
ANYSHAPE_API std::string bytes_text(uint64_t bytes);

}  // namespace anyshape
