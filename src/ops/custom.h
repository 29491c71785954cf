#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ir/call.h"
#include "ir/op.h"

namespace anyshape {

using CustomKernel = std::function<Status(const Call&, KernelArgs&)>;

// Makes an operator known from now on to every model that is loaded in this process; a second registration of the same
// name replaces the first for models loaded later. Safe to call from several threads.
//
// `rule` says what comes out: outputs separated by ';', each `NAME = DTYPE[DIMS]`. A dim is an expression of input
// sizes: `x0` is axis 0 of the input called x. DTYPE may be left out: that of the first input. `NAME = x` copies the
// type of an input. The inputs are listed in front, `(x, w) -> y = [x0, w1]`; without a list there is one, called x.
// After `where` stand conditions that must hold: `(x, w) -> y = [x0, w1] where x1 == w0`.
// Without a kernel the operator can be checked but not run. Usage errors: "custom.rule", "custom.name".
Status register_custom_op(std::string_view domain, std::string_view name, std::string_view rule, CustomKernel kernel);

// True: its kernel is not ours.
bool is_custom(const OpDef& op);

struct CustomRule {
  std::string_view domain, name, rule;
};
// "ns::op: rule" in its parts. Usage error: "custom.rule".
Result<CustomRule> split_custom_rule(std::string_view text);

inline constexpr size_t kLongestRule = 4096;

// All operators: those of all_ops() and those registered so far.
std::shared_ptr<const OpTable> current_ops();

// The same and these, which go before registered ones. Usage errors: "custom.rule", "custom.name".
Result<std::shared_ptr<const OpTable>> ops_with(std::span<const CustomRule> rules);

// The metadata entry of a model that holds rules of its operators, a line "ns::op: rule" for each.
inline constexpr std::string_view kCustomRulesKey = "anyshape.custom";
// Those of current_ops() and, for operators it does not know, those of the rules in such entries of one model: nobody
// else sees them. The first rule of an operator holds; lines that are no rules are passed over. Refused:
// "custom.limit" for more than 1,000 lines, or a line longer than kLongestRule.
// `kernels`: what runs them, by "domain::Name".
struct NamedKernel {
  std::string name;
  CustomKernel kernel;
};
Result<std::shared_ptr<const OpTable>> ops_of_model(std::span<const std::string_view> entries,
                                                    std::span<const NamedKernel> kernels = {});

}  // namespace anyshape
