#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/executable/bound_plan.h"

namespace anyshape {

// Whether the model takes inputs that the plan is not for: the error that refuses them, or none. `guard`: the condition
// that does not hold; null: ranks or declared sizes differ.
using Judge = std::function<Status(std::span<const Datum> inputs, const PlanStage::Guard* guard)>;

// The numbers of a plan at the few most recent shapes.
class Bindings {
 public:
  explicit Bindings(const Plan& plan);

  // Error "run.inputs", "input.kind", "input.dtype".
  Status check(std::span<const Datum> inputs) const;
  // Null: these sizes are outside of what the plan is for, but not refused. Without a judge none are.
  Result<BoundPlan*> bind(std::span<const Datum> inputs, const Judge& judge);
  // Later ones make none.
  void make_all();

 private:
  static constexpr size_t kKept = 4;

  // What a binding depends on: the sizes of all inputs with a rank, and of the others where the walk reads them.
  void read_key(std::span<const Datum> inputs);
  // False: the sizes do not match what the plan is for.
  bool read_sizes(std::span<const Datum> inputs, BoundPlan& binding) const;
  // The numeric walk accepts what formulas could not tell, or need not be asked.
  bool walk_accepts(std::span<const Datum> inputs) const;
  BoundPlan& next();

  const Plan& plan_;
  std::vector<std::unique_ptr<BoundPlan>> bindings_;
  std::vector<int64_t> key_;
  uint64_t clock_ = 0;
};

}  // namespace anyshape
