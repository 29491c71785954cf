#pragma once

#include <string>

#include "lower/reroll/form.h"

namespace anyshape::lower::reroll {

// The program of the form at any length of the axis, which is called `axis`: one Scan for each loop. `longer` is the
// capture that the form was found in last, whose symbols it is written in; the sizes of values are read off both.
// Refused: reroll.*, and whatever a rule has against it.
Result<std::shared_ptr<Graph>> write(const Form& form, const CapturedSteps& shorter, const CapturedSteps& longer,
                                     std::string_view axis, const Lowered& captured, const OpTable& ops, Facts& facts);

}  // namespace anyshape::lower::reroll
