#include "plan/lifetimes.h"

#include <algorithm>

namespace anyshape {
namespace {

using Kind = PlanValue::Kind;

void use(Plan& plan, uint32_t value, uint32_t step) {
  if (value == kNone) return;
  uint32_t& last = plan.values[holder_of(plan, value)].last_step;
  last = last == kNone ? step : std::max(last, step);
}

}  // namespace

void set_lifetimes(Plan& plan) {
  const auto end = static_cast<uint32_t>(plan.steps.size());
  for (uint32_t i = 0; i < end; ++i)
    for (const auto* list : {&plan.steps[i].in, &plan.steps[i].out, &plan.steps[i].captured})
      for (uint32_t value : *list) use(plan, value, i);
  // A size is read off a value when the stage begins, before its first step.
  for (const PlanStage& stage : plan.stages)
    for (const auto& read : stage.reads) use(plan, read.value, stage.first_step);
  for (uint32_t value : plan.outputs) use(plan, value, end);
  for (uint32_t id = 0; id < plan.values.size(); ++id) {
    const PlanValue& value = plan.values[id];
    if ((value.kind == Kind::slot || value.kind == Kind::dynamic) && value.last_step < end)
      plan.steps[value.last_step].ends.push_back(id);
  }
}

}  // namespace anyshape
