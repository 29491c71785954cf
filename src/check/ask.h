#pragma once

#include <string>
#include <vector>

#include "anyshape/report.h"
#include "check/checked_model.h"

// Which shapes a model file takes: by the rules of its graph, and by what its maker recorded.
namespace anyshape {

enum class Recorded { binds, ignored };

// Of one shape. Inputs with a default may be among the shapes; nothing is proved from it then. Unknown with the code
// "work.*" when work is to end.
Answer ask(const CheckedModel& model, const Shapes& shapes, Recorded recorded = Recorded::binds);

// Of a whole set, as prove_accepts().
Result<Proof> ask_all(const CheckedModel& model, const std::vector<std::string>& wanted,
                      Recorded recorded = Recorded::binds);

// The smallest shape it takes, as smallest_accepted().
Shapes smallest_shapes(const CheckedModel& model, const Shapes& given = {});

// Refused with `code` where an axis other than the batch is dynamic and not allowed ("NAME:AXIS"). Usage error
// check.allow.
Status check_batch_only(const CheckedModel& model, const std::vector<std::string>& allow, std::string_view code);

}  // namespace anyshape
