#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lower/reroll/captured_steps.h"

namespace anyshape::lower::reroll {

// Steps by what they are: equal numbers for steps that may be the same step of a loop. Numbers of programs that are
// tokenised together can be compared.
std::vector<std::vector<uint32_t>> tokens_of(const std::vector<const CapturedSteps*>& programs);

// Steps begin..end of the longer program repeat every `unit`.
struct Repeat {
  size_t begin = 0, end = 0, unit = 0;
  size_t copies() const { return (end - begin) / unit; }
};

// The repeats by whose one copy each the second program is longer than the first; nullopt where that is not the
// difference between them.
std::optional<std::vector<Repeat>> find_repeats(const std::vector<uint32_t>& shorter,
                                                const std::vector<uint32_t>& longer);

// Equal for attributes of equal name and value; empty for graphs.
std::string text_of(const Attribute& attribute);
// Type, shape and entries.
std::string content_of(const Tensor& tensor);
bool same_content(const Tensor& a, const Tensor& b);
// The node takes any number of inputs of a kind.
bool is_variadic(const Node& node);

}  // namespace anyshape::lower::reroll
