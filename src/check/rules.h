#pragma once

#include "check/lint.h"

// The functions of the table in rules.cpp.
namespace anyshape::rules {

void anonymous_axis(const LintContext& context, Findings& out);
void assumed_unreadable(const LintContext& context, Findings& out);
void baked_initial_state(const LintContext& context, Findings& out);
void batch_only(const LintContext& context, Findings& out);
void data_dependent_size(const LintContext& context, Findings& out);
void declared_inner_mismatch(const LintContext& context, Findings& out);
void declared_output_mismatch(const LintContext& context, Findings& out);
void declared_output_type(const LintContext& context, Findings& out);
void dynamic_output_declared_static(const LintContext& context, Findings& out);
void equal_names(const LintContext& context, Findings& out);
// The rules lenient.*: each reports the leniencies of its own code.
void lenient(const LintContext& context, Findings& out);
void narrowed_axis(const LintContext& context, Findings& out);
void one_name_two_sizes(const LintContext& context, Findings& out);
void pinned_axis(const LintContext& context, Findings& out);
void recurrent_loop(const LintContext& context, Findings& out);
void recurrent_unrolled(const LintContext& context, Findings& out);
// Says nothing: src/target finds it, and lint() is given it.
void of_target(const LintContext& context, Findings& out);
void static_output_declared_dynamic(const LintContext& context, Findings& out);

}  // namespace anyshape::rules
