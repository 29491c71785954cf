#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "solve/accepted.h"
#include "solve/solve.h"
#include "solve/verdict.h"

namespace anyshape {

// The shapes of all inputs with declared axes when the axis symbols have these values.
Shapes shapes_at(const Typed& typed, const Binding& binding);

// Is every shape of a whole set accepted?
struct SetAnswer {
  enum class Kind {
    proved,
    refuted,       // `shapes` is the smallest counterexample found, `verdict` what the numeric walk says to it
    unproved,      // no counterexample found, no proof either; `why` says what stands in the way
    contradicted,  // proved, but the numeric walk refuses `shapes`: our bug
  };
  Kind kind = Kind::proved;
  Shapes shapes;
  Verdict verdict;
  std::string why;
};

// The refusal of a shape that the walk accepts, for conditions of `accepted` that are not the graph's own.
using AlsoRefused = std::function<std::optional<Verdict>(const Shapes&)>;

// `wanted`: each text is `x=[1..64, 1..512, 80]` (one range or size per axis of input x) or a condition on the model's
// symbols, `batch in 1..64, h % 32 == 0`. All must hold together; a symbol nothing is said of may be any size from 1
// on. Errors (usage): "require.syntax", "require.input", "require.symbol".
Result<SetAnswer> prove_accepts(const Typed& typed, const AcceptedSet& accepted, const std::vector<std::string>& wanted,
                                const AlsoRefused& also = nullptr);

// The smallest shape of the accepted set where the inputs in `given` have these sizes, other symbols from 1 on; where
// none is found, every symbol is 1.
Shapes smallest_accepted(const Typed& typed, const AcceptedSet& accepted, const Shapes& given = {});

// Does `next` accept every shape that `old` accepts? Inputs are matched by name.
Result<SetAnswer> prove_covers(const Typed& next, const AcceptedSet& next_set, const Typed& old,
                               const AcceptedSet& old_set);

}  // namespace anyshape
