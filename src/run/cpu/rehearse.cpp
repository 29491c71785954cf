#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>

#include "base/work.h"
#include "ops/custom.h"
#include "run/cpu/executor.h"

namespace anyshape {
namespace {

using Kind = PlanValue::Kind;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

}  // namespace

bool Executor::can_rehearse(const PlanStep& step) const {
  const auto dynamic = [&](uint32_t value) { return value != kNone && plan_->values[value].kind == Kind::dynamic; };
  if (step.kind == PlanStep::Kind::planned) return takes_temporaries(step);
  return step.kind == PlanStep::Kind::reference && !is_custom(*plan_->graph->nodes[step.node].op) &&
         std::none_of(step.in.begin(), step.in.end(), dynamic);
}

void Executor::fill_with_zeros(const PlanStep& step) {
  for (uint32_t value : step.in) {
    while (value != kNone && plan_->values[value].kind == Kind::window) value = plan_->values[value].index;
    if (value == kNone || (plan_->values[value].kind != Kind::slot && plan_->values[value].kind != Kind::output))
      continue;
    if (const int64_t bytes = binding_->bytes(value); bytes > 0)
      std::memset(pointer(value), 0, static_cast<size_t>(bytes));
  }
}

Status Executor::rehearse(std::span<const Datum> inputs) {
  const size_t end = plan_->stages.size() > 1 ? plan_->stages[1].first_step : plan_->steps.size();
  const std::span steps(plan_->steps.data(), end);
  if (std::none_of(steps.begin(), steps.end(), [&](const PlanStep& step) { return can_rehearse(step); })) return {};
  size_t most = 1;
  for (const Datum& input : inputs) most = std::max(most, input.tensor().bytes().size());
  const std::unique_ptr<void, Free> zeros(std::calloc(most, 1));
  if (!zeros) return system_error("tensor.memory", "out of memory: {} bytes are needed", most);
  std::vector<Datum> empty(inputs.size()), outputs(plan_->outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& input = inputs[i].tensor();
    if (!input || input.dtype() == DType::string) continue;
    empty[i].tensor().point_at(input.dtype(), input.dims(), static_cast<const std::byte*>(zeros.get()));
    empty[i].settle();
  }
  Run run;
  run.inputs = empty;
  run.outputs = outputs;
  run_ = &run;
  Status prepared = prepare_outputs(0);
  for (size_t i = 0; prepared && i < end; ++i) {
    if (!can_rehearse(steps[i])) continue;
    fill_with_zeros(steps[i]);
    try {
      // Zeros may be no values for it.
      static_cast<void>(run_step(i).has_value());
    } catch (const std::bad_alloc&) {
    } catch (const std::length_error&) {
    }
    prepared = Work::check();
  }
  run_ = nullptr;
  return prepared;
}

}  // namespace anyshape
