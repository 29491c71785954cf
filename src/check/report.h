#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "anyshape/report.h"
#include "check/assumed.h"
#include "check/lint.h"
#include "solve/accepted.h"
#include "solve/solve.h"
#include "solve/walk_shape.h"

namespace anyshape {

// The report without answers to questions: set, reasons, findings.
Report make_report(const Typed& typed, const AcceptedSet& accepted, const Assumed& assumed, const LintOptions& options);

ValueType value_type(std::string_view value_name, const Fact& fact);
// As the file declares it: numbers, names, `?` for nothing.
ValueType declared_type(const Value& value);
// Every required input in the symbols of the accepted set.
std::vector<ValueType> input_types(const Typed& typed);
// Every output as expressions of the input symbols, as simple as they are at accepted shapes.
Facts output_facts(const Typed& typed, const AcceptedSet& accepted);
std::vector<ValueType> output_types(const Typed& typed, const AcceptedSet& accepted);
// The answer with its outputs as texts.
Answer to_answer(const Graph& graph, Walked walked);

}  // namespace anyshape
