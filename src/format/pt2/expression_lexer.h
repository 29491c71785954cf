#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace anyshape::pt2 {

struct Token {
  enum class Kind { end, name, integer, real, text, sign };
  Kind kind = Kind::end;
  std::string text;  // of a quoted text what it stands for
  size_t column = 0;
};

// Python's tokens as far as expressions need them, closed by one of kind end. Code: pt2.expression.
Result<std::vector<Token>> lex_expression(std::string_view text);

}  // namespace anyshape::pt2
