#pragma once

#include <memory>
#include <optional>
#include <span>

#include "engine/executable/bindings.h"
#include "engine/executable/outputs.h"
#include "engine/executable/steps.h"
#include "plan/print.h"

namespace anyshape {

// All that changes while a plan runs. One thread at a time.
//
//   run -> Bindings: which numbers the plan has at these sizes, found again or evaluated
//       -> for each stage: its formulas, Storage: memory and integers that follow from sizes, Outputs: their places
//          for each step: Steps
//       -> Outputs: what was not written straight
//   Where the sizes are outside of what the plan is for, the source graph runs node by node (reference.h).
class Executor {
 public:
  // The queue outlives it. `judge` is asked about inputs that the plan is not for; without one all of them run.
  Executor(std::shared_ptr<const Plan> plan, Queue& queue, Judge judge = {});
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  // What its outputs take counts for as long as somebody holds them.
  static std::unique_ptr<Executor> of_body(std::shared_ptr<const Plan> plan, Queue& queue);

  Status run(const Run& run);
  // The sizes of the outputs at these input sizes, where they follow from them.
  Result<OutputSizes> output_sizes(std::span<const Datum> inputs);
  // Memory for these input sizes is there when run() needs it. Steps with a reference kernel, and planned ones that are
  // never split into tasks, run once on zeros, for what they take beside their outputs.
  Status reserve(std::span<const Datum> inputs);
  // The plan at these input sizes; nothing where they are outside of what it is for, but not refused.
  Result<std::optional<PlanNumbers>> plan_numbers(std::span<const Datum> inputs);

  const Plan& plan() const { return *state_.plan; }
  int64_t arena_bytes() const { return storage_.bytes() + steps_.bytes(); }

 private:
  Result<BoundPlan*> bind(std::span<const Datum> inputs);
  Status run_bound();
  Status run_plan();
  Status run_steps();
  Status run_step(size_t& index);
  Status enter_stage(size_t stage);
  // Formulas of a stage whose sizes depend on data.
  Status settle(size_t stage);
  Status run_source();
  Status rehearse(std::span<const Datum> inputs);
  bool can_rehearse(const PlanStep& step) const;
  void fill_with_zeros(const PlanStep& step);

  RunState state_;
  Bindings bindings_;
  Storage storage_;
  Outputs outputs_;
  Steps steps_;
  Judge judge_;
  // A later stage has sizes without a value: some rule refuses the run, and the source graph tells which.
  bool needs_source_ = false;
};

}  // namespace anyshape
