#pragma once

#include <memory>

#include "plan/plan.h"
#include "run/cpu/executor.h"

namespace anyshape {

// A graph made ready to run on the CPU. Immutable, shared by threads.
struct CpuModel {
  std::shared_ptr<const Graph> source;
  std::shared_ptr<const Plan> plan;

  // `options.assumed` is over the symbols of `typed`, which is that of the graph with functions inlined.
  static Result<CpuModel> make(std::shared_ptr<const Graph> source, const Typed& typed, const PlanOptions& options);

  // Why these inputs are refused, by the numeric walk over the source; nothing when they are not.
  Status refusal(std::span<const Datum> inputs, const PlanStage::Guard* guard) const;
};

}  // namespace anyshape
