#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ops/custom.h"
#include "sym/condition.h"

// The text of a rule (see register_custom_op) as the record of an operator.
namespace anyshape {

// What a symbol of a rule stands for.
struct RuleUse {
  Dim symbol;
  size_t input = 0, axis = 0;
};

// A size or a condition over sizes of inputs, in the rule's own symbols: all of them are replaced when the rule is
// used.
template <class Expression>
struct RuleText {
  Expression expression;
  std::string written;  // as the user did
  std::vector<RuleUse> uses;
};

struct RuleOutput {
  std::string name;
  DType dtype = DType::undefined;  // undefined: of the first input
  size_t copies = ~size_t{0};      // the input whose type it has
  std::vector<RuleText<Dim>> dims;
};

// Points into itself: made and kept in one place.
struct CustomOp : OpDef {
  std::string domain_text, name_text, doc_text;
  Symbols symbols;
  std::vector<std::string> input_names;
  std::vector<RuleOutput> outputs;
  std::vector<RuleText<Condition>> conditions;
  std::vector<Port> in_ports, out_ports;
  CustomKernel kernel;
  Kernel kernels_of_op[1];
};

// Usage errors: "custom.rule"; "custom.name" for an operator of all_ops().
Result<std::unique_ptr<CustomOp>> make_custom_op(const CustomRule& rule, CustomKernel kernel);

}  // namespace anyshape
