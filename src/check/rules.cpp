#include "check/rules.h"

namespace anyshape {

void rules::of_target(const LintContext&, Findings&) {}

const std::vector<LintRule>& lint_rules() {
  static const std::vector<LintRule> table = {
      {{"anonymous-axis", Severity::info, "a dynamic input axis has no name, or a placeholder for one"},
       rules::anonymous_axis},
      {{"assumed-unreadable", Severity::warning, "a condition recorded by the exporter cannot be read"},
       rules::assumed_unreadable},
      {{"baked-initial-state", Severity::warning,
        "the initial state of a recurrent layer is a constant with a fixed batch"},
       rules::baked_initial_state},
      {{"data-dependent-size", Severity::info, "a node makes a size that depends on the data, not on the shapes"},
       rules::data_dependent_size},
      {{"declared-inner-mismatch", Severity::warning, "a value inside the model is declared with another type or size"},
       rules::declared_inner_mismatch},
      {{"declared-output-mismatch", Severity::error, "an output is declared with a type or size it never has"},
       rules::declared_output_mismatch},
      {{"dynamic-output-declared-static", Severity::warning, "an output axis is declared as a number but changes"},
       rules::dynamic_output_declared_static},
      {{"equal-names", Severity::warning, "two axis names always have the same size"}, rules::equal_names},
      {{"one-name-two-sizes", Severity::warning, "one axis name stands for sizes that may differ"},
       rules::one_name_two_sizes},
      {{"pinned-axis", Severity::warning, "an input axis is declared dynamic but only one size is accepted"},
       rules::pinned_axis},
      {{kBatchOnlyRule, Severity::error, "an input axis other than the batch is dynamic (--policy batch-only)"},
       rules::batch_only},
      {{"recurrent-loop", Severity::warning, "a recurrent layer is written as Loop or Scan"}, rules::recurrent_loop},
      {{"recurrent-unrolled", Severity::warning, "a recurrent layer is unrolled step by step"},
       rules::recurrent_unrolled},
      {{"static-output-declared-dynamic", Severity::warning, "an output axis is declared dynamic but never changes"},
       rules::static_output_declared_dynamic},
      {{"target.container", Severity::error, "an input or output is no tensor (--target)"}, rules::of_target},
      {{"target.conversion", Severity::warning, "an input or output has a type the target can only convert (--target)"},
       rules::of_target},
      {{"target.external-data", Severity::error, "weights lie in other files (--target)"}, rules::of_target},
      {{"target.ir", Severity::error, "the format is newer than the target reads (--target)"}, rules::of_target},
      {{"target.operator", Severity::error, "the target's runtime has no kernel for a node (--target)"},
       rules::of_target},
      {{"target.opset", Severity::error, "an operator set, or a node of it, is newer than the target reads (--target)"},
       rules::of_target},
      {{"target.output-size", Severity::error, "the size of an output is not known before the run (--target)"},
       rules::of_target},
      {{"target.size", Severity::warning, "the file is larger than some builds of the target take (--target)"},
       rules::of_target},
      {{"target.too-large", Severity::error, "the file is larger than the target takes (--target)"}, rules::of_target},
      {{"target.type", Severity::error, "a value has a type the target does not have (--target)"}, rules::of_target},
  };
  return table;
}

}  // namespace anyshape
