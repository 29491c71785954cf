#include "engine/executable/executor.h"

#include <chrono>
#include <new>
#include <stdexcept>

#include "engine/executable/reference.h"
#include "tensor/own.h"

namespace anyshape {
namespace {

using Kind = PlanValue::Kind;

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Executor::Executor(std::shared_ptr<const Plan> plan, Queue& queue, Judge judge)
    : state_{std::move(plan)},
      bindings_(*state_.plan),
      storage_(state_),
      outputs_(state_, storage_),
      steps_(state_, storage_, queue),
      judge_(std::move(judge)) {}

std::unique_ptr<Executor> Executor::of_body(std::shared_ptr<const Plan> plan, Queue& queue) {
  auto executor = std::make_unique<Executor>(std::move(plan), queue);
  executor->state_.is_body = true;
  return executor;
}

Result<BoundPlan*> Executor::bind(std::span<const Datum> inputs) {
  TRY_OK(bindings_.check(inputs));
  TRY(state_.binding, bindings_.bind(inputs, judge_));
  return state_.binding;
}

Status Executor::run(const Run& run) {
  TRY_OK(bindings_.check(run.inputs));
  state_.run = &run;
  steps_.begin_run(run.seed);
  std::shared_ptr<MemoryMeter> meter;
  if (!state_.is_body && run.limits.max_bytes > 0) meter = std::make_shared<MemoryMeter>(run.limits.max_bytes);
  std::optional<MemoryMeter::Scope> scope;
  if (meter) scope.emplace(meter.get());
  storage_.begin_run();
  outputs_.begin_run();
  Status status = run_bound();
  storage_.end_run();
  state_.run = nullptr;
  return status;
}

Status Executor::run_plan() {
  TRY(state_.binding, bindings_.bind(state_.run->inputs, judge_));
  if (!state_.binding) return run_source();
  needs_source_ = false;
  Status status = run_steps();
  return needs_source_ ? run_source() : status;
}

// What is claimed of a size may rest on a condition that only a later node asks about data. Then the source, node by
// node, refuses; if it does not, the claim is wrong.
Status Executor::run_bound() {
  try {
    Status status = run_plan();
    if (status || status.error().code != kWrongSize || outputs_.write_inputs()) return status;
    const Status source = run_source();
    return source ? status : source;
  } catch (const std::bad_alloc&) {
    return MemoryMeter::out_of_memory();
  } catch (const std::length_error&) {
    return system_error("tensor.memory", "out of memory: a list is needed that is larger than any memory");
  }
}

Status Executor::run_steps() {
  const Plan& plan = *state_.plan;
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    if (plan.values[plan.inputs[i].value].kind == Kind::dynamic)
      storage_.own_memory(plan.inputs[i].value) = state_.run->inputs[i];
  // A body may have no step at all and still run forever.
  const bool can_end = state_.run->limits.can_end();
  if (can_end) TRY_OK(state_.run->limits.check_cancelled());
  TRY_OK(enter_stage(0));
  if (state_.binding->has_tasks()) steps_.expect_tasks();
  size_t stage = 0;
  for (size_t i = 0; i < plan.steps.size();) {
    while (stage + 1 < plan.stages.size() && plan.stages[stage + 1].first_step == i) TRY_OK(enter_stage(++stage));
    if (can_end) TRY_OK(state_.run->limits.check_cancelled());
    TRY_OK(run_step(i));
  }
  while (stage + 1 < plan.stages.size()) TRY_OK(enter_stage(++stage));
  return outputs_.hand_over();
}

// Moves on to the next step that is not done.
Status Executor::run_step(size_t& index) {
  const PlanStep& step = state_.plan->steps[index];
  const StepObserver* observer = state_.run->observer;
  const int64_t begin = observer ? now_ns() : 0;
  TRY(const size_t next, steps_.run(index));
  if (observer) (*observer)({index, step.label, step.type, kernel_name(step), begin, now_ns()});
  for (; index < next; ++index)
    for (uint32_t value : state_.plan->steps[index].ends)
      if (state_.plan->values[value].kind == Kind::dynamic) forget(storage_.own_memory(value));
  return {};
}

Status Executor::settle(size_t stage) {
  const PlanStage& planned = state_.plan->stages[stage];
  BoundPlan& binding = *state_.binding;
  for (const auto& read : planned.reads) {
    const Tensor& tensor = storage_.own_memory(read.value).tensor();
    if (read.axis >= tensor.rank()) return refuse("run.rank", "a value got another rank than its rule says");
    binding.at(read.to) = tensor.dims()[read.axis];
  }
  if (const auto* guard = binding.evaluate(stage))
    return at(fmt::format("node {:?}", guard->node), refuse(guard->code, "{}", guard->sentence).value());
  needs_source_ = !binding.has_sizes(stage) && !outputs_.write_inputs();
  TRY_OK(binding.lay_out(stage));
  for (uint32_t value : planned.values)
    if (state_.plan->values[value].kind == Kind::dynamic) TRY_OK(steps_.check_made(value));
  return {};
}

Status Executor::enter_stage(size_t stage) {
  if (stage > 0) TRY_OK(settle(stage));
  TRY_OK(storage_.enter(stage));
  return outputs_.prepare(stage);
}

Status Executor::run_source() {
  const Run& run = *state_.run;
  TRY(std::vector<Datum> outputs,
      run_reference(*state_.plan->source, {run.inputs.begin(), run.inputs.end()}, run.seed, run.limits));
  return outputs_.set(std::move(outputs));
}

Result<OutputSizes> Executor::output_sizes(std::span<const Datum> inputs) {
  TRY(const BoundPlan* binding, bind(inputs));
  const Plan& plan = *state_.plan;
  OutputSizes out(plan.outputs.size());
  for (size_t i = 0; binding && i < out.size(); ++i) {
    const PlanValue& value = plan.values[plan.outputs[i]];
    if (!value.has_sizes || value.stage != 0) continue;
    const auto dims = binding->view(plan.outputs[i]).dims;
    out[i].emplace(dims.begin(), dims.end());
  }
  return out;
}

namespace {

// Which way the kernel of a step takes at the sizes of the binding.
std::string_view way_of(const PlanStep& step, const BoundPlan& binding) {
  if (step.kind != PlanStep::Kind::planned || !step.kernel->way) return {};
  std::vector<View> in, out;
  for (uint32_t value : step.in) in.push_back(value == kNone ? View() : binding.view(value));
  for (uint32_t value : step.out) out.push_back(value == kNone ? View() : binding.view(value));
  return step.kernel->way({in, out, step.prepared.get()});
}

}  // namespace

Result<std::optional<PlanNumbers>> Executor::plan_numbers(std::span<const Datum> inputs) {
  TRY(const BoundPlan* binding, bind(inputs));
  if (!binding) return std::nullopt;
  const Plan& plan = *state_.plan;
  PlanNumbers numbers;
  numbers.dims.resize(plan.values.size());
  numbers.slots.resize(plan.slots.size());
  for (uint32_t value = 0; value < plan.values.size(); ++value) {
    if (!plan.values[value].has_sizes || plan.values[value].stage != 0) continue;
    const auto dims = binding->view(value).dims;
    numbers.dims[value].emplace(dims.begin(), dims.end());
  }
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    if (plan.slots[i].stage != 0) continue;
    int64_t bytes = 0;
    for (Register reg : plan.slots[i].bytes) bytes = std::max(bytes, binding->at(reg));
    numbers.slots[i] = bytes;
  }
  numbers.ways.resize(plan.steps.size());
  for (size_t i = 0; i < steps_of(plan, 0).second; ++i) numbers.ways[i] = way_of(plan.steps[i], *binding);
  numbers.peak = binding->stage_bytes(0, Space::host) + binding->stage_bytes(0, Space::engine);
  // As blocks of memory are taken.
  numbers.scratch = (binding->scratch(0) + 63) / 64 * 64;
  return numbers;
}

Status Executor::reserve(std::span<const Datum> inputs) {
  TRY_OK(bind(inputs));
  bindings_.make_all();
  // Room for the sizes of inputs that are held by handles.
  for (size_t i = 0; i < inputs.size(); ++i) {
    const uint32_t value = state_.plan->inputs[i].value;
    if (state_.plan->values[value].kind != Kind::dynamic) continue;
    storage_.own_memory(value) = inputs[i];
    forget(storage_.own_memory(value));
  }
  if (!state_.binding) return {};
  TRY_OK(storage_.enter(0));
  TRY_OK(outputs_.reserve());
  return rehearse(inputs);
}

}  // namespace anyshape
