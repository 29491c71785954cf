#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sym/condition.h"
#include "sym/dim.h"

namespace anyshape::mqh {

// What each symbol is called in the MQL5 source.
using Spelling = std::unordered_map<Dim, std::string>;

// An expression of type long, in brackets where it is no number and no name. Divisions, minima and the like call the
// functions of kSizeFunctions. nullopt: a symbol has no spelling, or the size is unknown.
std::optional<std::string> mql5_expression(Dim dim, const Spelling& spelling);
// An expression of type bool. nullopt also where the condition is opaque.
std::optional<std::string> mql5_condition(const Condition& condition, const Spelling& spelling);

// Members of a class that expressions call.
extern const std::string_view kSizeFunctions;

}  // namespace anyshape::mqh
