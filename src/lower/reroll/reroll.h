#pragma once

#include <string_view>
#include <vector>

#include "lower/request.h"

namespace anyshape::lower::reroll {

struct Capture {
  int64_t length = 0;  // of the axis, which is a number in it
  Lowered lowered;
};

// What the captures of one program at lengths n, n + 1 and more have in common: the program at any length, in which
// every loop over the axis, of which a capture has as many copies as it is long, is one Scan. It is found in the first
// two; the others are predicted from it and must be as predicted, node by node. It is evidence, not proof: at other
// lengths the program that was captured may do something else.
//
// `axis`: the name of the axis. Refused: reroll.none, where the captures do not differ by copies of steps;
// reroll.differs, where steps follow no rule or a prediction fails; other reroll.* codes, where a rule was found that
// cannot be written.
Result<Lowered> reroll(const std::vector<Capture>& captures, std::string_view axis, const Request& request,
                       const OpTable& ops);

}  // namespace anyshape::lower::reroll
