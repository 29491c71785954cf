#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/temporary.h"
#include "engine/executable/queue.h"
#include "engine/executable/storage.h"
#include "ir/call.h"

namespace anyshape {

class Executor;

// Runs the steps of a plan: kernels of the engine, reference kernels, bodies.
class Steps {
 public:
  Steps(const RunState& state, Storage& storage, Queue& queue);
  ~Steps();

  void begin_run(uint64_t seed) { seed_ = seed; }
  void expect_tasks() { queue_.expect_tasks(); }
  // Step `index`, or all that are replayed with it. Returns the one after them. Errors have the node as their place.
  Result<size_t> run(size_t index);
  Status run_one(size_t index);
  // A value made by its step has the sizes that formulas give for it. REQUIRES: its stage was entered.
  Status check_made(uint32_t value) const;
  // A planned kernel that has no tasks() runs on the thread of the caller and may make temporaries.
  static bool takes_temporaries(const PlanStep& step) { return !step.kernel->tasks; }
  int64_t bytes() const;

 private:
  class Bodies;

  // The end of the steps from `index` on that the engine replays together; `index` where there are none.
  size_t replayed_until(size_t index) const;
  bool can_replay(const PlanStep& step) const;
  Status record(size_t first, size_t last);
  Status replay(size_t first, size_t last);
  Status run_planned(const PlanStep& step, size_t index);
  void place_views(size_t index) const;
  Status run_reference_step(const PlanStep& step, size_t index);
  Status run_reference_kernel(const PlanStep& step, size_t index);
  Status keep_output(const PlanStep& step, size_t k, const Tensor& made);
  Status run_dynamic(const PlanStep& step, size_t index);
  Status run_transfer(const PlanStep& step);
  Call node_call(size_t index) const;

  const RunState& state_;
  const Plan& plan_;
  Storage& storage_;
  Queue& queue_;
  TemporaryMemory temporaries_;  // of reference kernels and of planned ones without tasks
  // What a planned kernel works on. Some of it is elsewhere in each run, some stays while memory does not grow.
  struct Operand {
    uint32_t place, value;
    bool stays;
  };
  std::vector<std::vector<Operand>> operands_;   // of each step, those that are there
  std::vector<std::vector<const Fact*>> facts_;  // of the inputs of each step
  std::map<const Graph*, std::unique_ptr<Executor>> bodies_;
  uint64_t seed_ = 0;
};

}  // namespace anyshape
