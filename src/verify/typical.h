#pragma once

#include <functional>
#include <vector>

#include "anyshape/report.h"
#include "check/checked_model.h"

namespace anyshape {

// The accepted set without the sizes that are taken only because they broadcast or nothing is left of them: of
// `h == 1 or h % 32 == 0` the multiples. The conditions of the set otherwise.
std::vector<Condition> meant_conditions(const AcceptedSet& accepted);
// With the recorded ones that bind.
std::vector<Condition> meant_conditions(const CheckedModel& model);

// Do the conditions hold at these shapes? False also where that cannot be said.
bool all_hold(const Typed& typed, const std::vector<Condition>& conditions, const Shapes& shapes);

// Shapes people use, of those the model takes: the sizes the file itself speaks of; images of 224, 256 and 512;
// sequences of 16, 128 and 512; the next larger size that is taken where these are not; the ways in which two sizes go
// together where they are few. The batch is as in `smallest`.
std::vector<Shapes> typical_shapes(const CheckedModel& model, const Shapes& smallest,
                                   const std::function<bool(const Shapes&)>& taken);

}  // namespace anyshape
