#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace anyshape {

struct Token {
  enum class Kind { end, number, name, quoted, mark };
  Kind kind = Kind::end;
  std::string text;     // of a name: without quotes and escapes
  uint64_t number = 0;  // at most 2^63
  size_t column = 1;
};

// The tokens of an expression or condition, an `end` last. nullopt with a sentence in `error`.
std::optional<std::vector<Token>> tokenize(std::string_view text, std::string& error);

}  // namespace anyshape
