#pragma once

#include <functional>
#include <vector>

#include "anyshape/report.h"
#include "check/checked_model.h"

namespace anyshape {

// `smallest`, and of the shapes around it those that are taken: each symbol by itself, and all of them, a little and
// much larger; of a symbol that has a limit, also the largest size.
std::vector<Shapes> shapes_around(const Typed& typed, const Shapes& smallest,
                                  const std::function<bool(const Shapes&)>& taken);

// Around the smallest shape the model takes that is no accident (meant_conditions), and typical ones.
std::vector<Shapes> boundary_shapes(const CheckedModel& model);

// The shapes with those of inputs left out whose sizes are all numbers.
Shapes completed(const Typed& typed, Shapes shapes);

}  // namespace anyshape
