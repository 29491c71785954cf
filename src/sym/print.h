#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sym/dim.h"

// How expressions are written; private to sym/.
namespace anyshape {

// One summand: coefficient * text. An empty text is the constant 1.
struct Summand {
  int64_t coefficient = 0;
  std::string text;
  bool simple = true;  // may stand as a factor without parentheses
};

// The sum written out, remainders recognised; the constant last.
std::vector<Summand> summands(Dim dim);
// "2*a - b + 3"; a positive summand comes first where there is one. "0" for none.
std::string join(const std::vector<Summand>& sum);
std::string parens(std::string_view text);  // "(text)"
bool is_identifier(std::string_view name);

}  // namespace anyshape
