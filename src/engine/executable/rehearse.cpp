#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>

#include "base/work.h"
#include "engine/executable/executor.h"
#include "ops/custom.h"

namespace anyshape {
namespace {

using Kind = PlanValue::Kind;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

}  // namespace

bool Executor::can_rehearse(const PlanStep& step) const {
  const Plan& plan = *state_.plan;
  const auto dynamic = [&](uint32_t value) { return value != kNone && plan.values[value].kind == Kind::dynamic; };
  if (step.kind == PlanStep::Kind::planned) return Steps::takes_temporaries(step) && !plan.target.memory;
  return step.kind == PlanStep::Kind::reference && !is_custom(*plan.graph->nodes[step.node].op) &&
         std::none_of(step.in.begin(), step.in.end(), dynamic);
}

void Executor::fill_with_zeros(const PlanStep& step) {
  for (uint32_t value : step.in) {
    if (value == kNone) continue;
    value = holder_of(*state_.plan, value);
    const Kind kind = state_.plan->values[value].kind;
    if (kind != Kind::slot && kind != Kind::output) continue;
    if (const int64_t bytes = state_.binding->bytes(value); bytes > 0)
      std::memset(storage_.pointer(value), 0, static_cast<size_t>(bytes));
  }
}

Status Executor::rehearse(std::span<const Datum> inputs) {
  const std::span steps(state_.plan->steps.data(), steps_of(*state_.plan, 0).second);
  if (std::none_of(steps.begin(), steps.end(), [&](const PlanStep& step) { return can_rehearse(step); })) return {};
  size_t most = 1;
  for (const Datum& input : inputs) most = std::max(most, input.tensor().bytes().size());
  const std::unique_ptr<void, Free> zeros(std::calloc(most, 1));
  if (!zeros) return system_error("tensor.memory", "out of memory: {} bytes are needed", most);
  std::vector<Datum> empty(inputs.size()), outputs(state_.plan->outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& input = inputs[i].tensor();
    if (!input || input.dtype() == DType::string) continue;
    empty[i].tensor().point_at(input.dtype(), input.dims(), static_cast<const std::byte*>(zeros.get()));
    empty[i].settle();
  }
  Run run;
  run.inputs = empty;
  run.outputs = outputs;
  state_.run = &run;
  outputs_.begin_run();
  Status prepared = outputs_.prepare(0);
  for (size_t i = 0; prepared && i < steps.size(); ++i) {
    if (!can_rehearse(steps[i])) continue;
    fill_with_zeros(steps[i]);
    try {
      // Zeros may be no values for it.
      static_cast<void>(steps_.run_one(i).has_value());
    } catch (const std::bad_alloc&) {
    } catch (const std::length_error&) {
    }
    prepared = Work::check();
  }
  state_.run = nullptr;
  return prepared;
}

}  // namespace anyshape
