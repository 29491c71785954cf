#pragma once

#include <memory>

#include "engine/executable/executor.h"

namespace anyshape {

// An engine that runs plans: its kernels and memory, and how they are run.
struct PlanEngine {
  std::string_view name;
  const Target& target;
  std::unique_ptr<Queue> (*make_queue)(const Threads& threads);
};

// A graph planned for an engine. Immutable, shared by threads.
class PlannedModel {
 public:
  // Errors: those of make_plan, and the refusal of a model that takes no shape at all.
  static Result<PlannedModel> make(const Target& target, const EngineModel& model, const PlanOptions& options);

  const std::shared_ptr<const Plan>& plan() const { return plan_; }
  // Whether the model takes these inputs, which the plan is not for: the numeric walk over the source tells.
  Status judge(std::span<const Datum> inputs, const PlanStage::Guard* guard) const;

 private:
  std::shared_ptr<const Graph> source_;
  std::shared_ptr<const Plan> plan_;
};

Result<std::unique_ptr<Executable>> load_planned(const PlanEngine& engine, const EngineModel& model,
                                                 const EngineOptions& options);

}  // namespace anyshape
