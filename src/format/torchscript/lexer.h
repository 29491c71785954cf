#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace anyshape::torchscript {

struct Token {
  enum class Kind : uint8_t { name, integer, real, imaginary, text, punctuation, newline, indent, dedent, end };
  Kind kind = Kind::end;
  int line = 0;
  std::string_view spelling;  // into the source
  std::string text;           // of a string, its escapes resolved

  bool is(std::string_view what) const { return (kind == Kind::punctuation || kind == Kind::name) && spelling == what; }
};

// Ends with a newline, dedents to column 0 and `end`. Newlines in brackets, blank lines and comments give no tokens.
// Code: script.syntax.
Result<std::vector<Token>> tokenize(std::string_view source, std::string_view file);

}  // namespace anyshape::torchscript
