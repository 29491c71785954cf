#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/memory_meter.h"
#include "base/temporary.h"
#include "base/workers.h"
#include "ir/call.h"
#include "plan/plan.h"
#include "plan/print.h"
#include "run/cpu/binding.h"
#include "run/cpu/limits.h"

namespace anyshape {

// What happened in one step, for profiles.
struct StepTime {
  const PlanStep* step;
  int64_t begin_ns, end_ns;
  const BoundPlan* binding;
};
using StepObserver = std::function<void(const StepTime&)>;

// All that changes while a plan runs: memory, bindings of recent shapes. One thread at a time.
//
//   run -> check_inputs -> bind (the sizes: found again, or formulas evaluated) -> run_steps      executor.cpp,
//   bind.cpp run_steps: for each stage  enter_stage (formulas, memory, computed integers), prepare_outputs   bind.cpp,
//   outputs.cpp
//              for each step   run_step (kernel over views, reference kernel, body)                 steps.cpp
//              hand_over (outputs that were not written in place)                                   outputs.cpp
//   run_whole_by_reference: where bind finds the sizes outside of what the plan is for              reference.cpp
class Executor {
 public:
  Executor(std::shared_ptr<const Plan> plan, Workers& workers);

  // The error for inputs that the plan is not for; none when the model takes them after all. `guard`: the condition
  // that does not hold; null: ranks or declared sizes differ.
  using Refusal = std::function<Status(std::span<const Datum> inputs, const PlanStage::Guard* guard)>;

  struct Run {
    std::span<const Datum> inputs;  // in order of plan.inputs
    std::span<Datum> outputs;
    // True: outputs are set to memory of the executor, which lives as long as somebody holds it. False: those that are
    // tensors are written to where they are.
    bool own_outputs = true;
    RunLimits limits;
    uint64_t seed = 0;
    const StepObserver* observer = nullptr;
    const Refusal* refusal = nullptr;
  };
  Status run(const Run& run);

  // The sizes of the outputs at these input sizes, where they follow from them.
  Result<std::vector<std::optional<std::vector<int64_t>>>> output_sizes(std::span<const Datum> inputs,
                                                                        const Refusal* refusal);
  // Memory for these input sizes is there when run() needs it. Steps with a reference kernel, and planned ones that are
  // never split into tasks, run once on zeros, for what they take beside their outputs.
  Status reserve(std::span<const Datum> inputs, const Refusal* refusal);

  // The plan at these input sizes; nothing where they are outside of what it is for, but not refused.
  Result<std::optional<PlanNumbers>> plan_numbers(std::span<const Datum> inputs, const Refusal* refusal);

  const Plan& plan() const { return *plan_; }
  int64_t arena_bytes() const;

 private:
  static constexpr size_t kBindings = 4;
  class Bodies;
  Executor(std::shared_ptr<const Plan> plan, const Executor& outer);
  // Memory for one output that is used again. Two blocks go around when an output is the next run's input.
  struct OutputMemory {
    static constexpr size_t kKept = 4, kReserved = 2;
    std::vector<Block> blocks;
  };

  // Null: these sizes are outside of what the plan is for, but not refused.
  Result<BoundPlan*> bind(std::span<const Datum> inputs, const Refusal* refusal);
  // What a binding depends on: the sizes of all inputs with a rank, and of the others where the walk reads them.
  void read_key(std::span<const Datum> inputs);
  // The numeric walk accepts what formulas could not tell, or need not be asked.
  bool walk_accepts(std::span<const Datum> inputs) const;
  Status check_inputs(std::span<const Datum> inputs) const;
  Result<bool> read_sizes(std::span<const Datum> inputs, BoundPlan& binding) const;
  BoundPlan& next_binding();
  Status enter_stage(size_t stage);
  Status size_steps(size_t stage);
  // A value made by its step has the sizes that formulas give for it. REQUIRES: its stage was entered.
  Status check_made(uint32_t value) const;
  void write_computed(size_t stage);
  Status prepare_outputs(size_t stage);
  Status run_bound();
  Status run_steps();
  Status run_step(size_t index);
  Status run_planned(const PlanStep& step, size_t index);
  Status run_reference_step(const PlanStep& step, size_t index);
  Status run_reference_kernel(const PlanStep& step, size_t index);
  // A planned kernel that has no tasks() runs on the thread of the caller and may make temporaries.
  static bool takes_temporaries(const PlanStep& step) { return !step.kernel->tasks; }
  Status rehearse(std::span<const Datum> inputs);
  bool can_rehearse(const PlanStep& step) const;
  void fill_with_zeros(const PlanStep& step);
  Status run_dynamic(const PlanStep& step, size_t index);
  Status hand_over();
  Status hand_over_dynamic(size_t output);
  Status hand_over_view(size_t output);
  bool written_last(size_t output) const;
  bool writes_inputs() const;
  // Error "output.shape" where the caller's memory is for another type or shape.
  Status check_given(size_t output, const View& made) const;
  Status reserve_outputs();
  Status run_whole_by_reference(const Run& run);

  std::byte* pointer(uint32_t value) const;
  View view(uint32_t value) const;
  void fill_operands(const PlanStep& step);
  Datum datum(uint32_t value);
  void set_datum(Datum& datum, uint32_t value);
  Call node_call(size_t index) const;
  Result<std::byte*> own_output(size_t output, int64_t bytes);
  // Counts bytes until the end of the run; error "run.memory" past its limit.
  Status charge(int64_t bytes);

  std::shared_ptr<const Plan> plan_;
  Workers& workers_;
  std::vector<std::unique_ptr<BoundPlan>> bindings_;
  BoundPlan* binding_ = nullptr;
  const BoundPlan* written_ = nullptr;  // whose computed values are in the arena
  uint64_t clock_ = 0;
  std::vector<Block> blocks_;  // one per stage
  Block scratch_;
  TemporaryMemory temporaries_;  // of reference kernels and of planned ones without tasks
  std::vector<int64_t> key_;
  std::vector<View> in_views_, out_views_;
  std::vector<Datum> data_;  // dynamic values
  std::vector<uint32_t> dynamic_values_;
  std::vector<std::vector<uint32_t>> release_after_;
  std::vector<std::vector<const Fact*>> step_facts_;
  std::vector<std::byte*> output_data_;
  std::vector<OutputMemory> output_memory_;
  std::map<const Graph*, std::unique_ptr<Executor>> bodies_;
  const Run* run_ = nullptr;
  bool is_body_ = false;
  // A later stage has sizes without a value: some rule refuses the run, and the source graph tells which.
  bool needs_source_ = false;
  MemoryMeter::Share charged_;
  int64_t charged_scratch_ = 0;
  uint64_t seed_ = 0;
};

}  // namespace anyshape
