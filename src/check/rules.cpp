#include "check/rules.h"

namespace anyshape {

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
      {{"policy.batch-only", Severity::error, "an input axis other than the batch is dynamic (--policy batch-only)"},
       rules::batch_only},
      {{"recurrent-loop", Severity::warning, "a recurrent layer is written as Loop or Scan"}, rules::recurrent_loop},
      {{"recurrent-unrolled", Severity::warning, "a recurrent layer is unrolled step by step"},
       rules::recurrent_unrolled},
      {{"static-output-declared-dynamic", Severity::warning, "an output axis is declared dynamic but never changes"},
       rules::static_output_declared_dynamic},
  };
  return table;
}

}  // namespace anyshape
