#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "anyshape/report.h"
#include "solve/accepted.h"
#include "solve/solve.h"

namespace anyshape {

// The shapes of all inputs with declared axes when the axis symbols have these values.
Shapes shapes_at(const Typed& typed, const Binding& binding);

// The refusal of a shape that the walk accepts, for conditions of `accepted` that are not the graph's own.
using AlsoRefused = std::function<std::optional<Answer>(const Shapes&)>;

// `wanted`: each text is `x=[1..64, 1..512, 80]` (one range or size per axis of input x) or a condition on the model's
// symbols, `batch in 1..64, h % 32 == 0`. All must hold together; a symbol may be any size from 1 on,
// and 0 where a text names it: `batch in 0..64`, `h >= 0`. Usage errors: "require.syntax", "require.input",
// "require.symbol"; "check.contradiction" as of settle().
Result<Proof> prove_accepts(const Typed& typed, const AcceptedSet& accepted, const std::vector<std::string>& wanted,
                            const AlsoRefused& also = nullptr);

// What they say of the model's symbols.
Result<std::vector<Condition>> wanted_conditions(const Typed& typed, const std::vector<std::string>& wanted);

// The input such a text is about; empty: it is a condition.
std::string_view wanted_input(std::string_view text);

// The smallest shape of the accepted set where the inputs in `given` have these sizes, other symbols from 1 on; where
// none is found, every symbol is 1.
Shapes smallest_accepted(const Typed& typed, const AcceptedSet& accepted, const Shapes& given = {});

// The same where every symbol has at least this size.
Shapes smallest_accepted_from(const Typed& typed, const AcceptedSet& accepted,
                              const std::unordered_map<Dim, int64_t>& least);

// The same for any conditions on the symbols.
Shapes smallest_accepted_where(const Typed& typed, const AcceptedSet& accepted,
                               const std::vector<Condition>& conditions);

// Does `next` accept every shape that `old` accepts? Inputs are matched by name.
Result<Proof> prove_covers(const Typed& next, const AcceptedSet& next_set, const Typed& old,
                           const AcceptedSet& old_set);

}  // namespace anyshape
