#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace anyshape::kernels {

// A regular expression in the syntax of RE2, matched in time proportional to pattern times text: no backtracking.
// Not known (error kind unknown): \C and Unicode classes (\pL).
class Regex {
 public:
  // Errors: "regex.syntax"; "regex.size" for a pattern nested or repeated beyond the limits of RE2.
  static Result<Regex> compile(std::string_view pattern);

  // The whole text matches.
  bool full_match(std::string_view text) const;

  // The first place at or after `from` where the text matches, and there the longest match.
  struct Match {
    size_t start, end;
  };
  std::optional<Match> find(const std::vector<char32_t>& text, size_t from) const;

  struct Range {
    char32_t first, last;
  };
  using Set = std::vector<Range>;

  enum class Kind : uint8_t { set, split, jump, assert_at, match };
  enum class Place : uint8_t { text_start, text_end, line_start, line_end, word_border, no_word_border };
  struct Instruction {
    Kind kind = Kind::match;
    Place place = Place::text_start;  // assert_at
    uint32_t next = 0, other = 0;     // other: second way of a split, number of a set
  };

 private:
  std::vector<Instruction> program_;  // starts at 0
  std::vector<Set> sets_;
};

}  // namespace anyshape::kernels
