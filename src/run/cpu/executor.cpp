#include "run/cpu/executor.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <stdexcept>
#include <utility>

#include "run/cpu/own.h"
#include "run/cpu/reference.h"

namespace anyshape {
namespace {

using Kind = PlanValue::Kind;

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Executor::Executor(std::shared_ptr<const Plan> plan, Workers& workers)
    : plan_(std::move(plan)),
      workers_(workers),
      blocks_(plan_->stages.size()),
      data_(plan_->values.size()),
      release_after_(plan_->steps.size()),
      output_data_(plan_->outputs.size()),
      output_memory_(plan_->outputs.size()) {
  size_t most = 0;
  std::vector<size_t> last(plan_->values.size(), plan_->steps.size());
  for (size_t i = 0; i < plan_->steps.size(); ++i) {
    const PlanStep& step = plan_->steps[i];
    most = std::max({most, step.in.size(), step.out.size()});
    step_facts_.emplace_back();
    for (uint32_t value : step.in) step_facts_.back().push_back(value == kNone ? nullptr : &plan_->types[value]);
    const auto use = [&](uint32_t value) {
      while (value != kNone && plan_->values[value].kind == Kind::window) value = plan_->values[value].index;
      if (value != kNone && plan_->values[value].kind == Kind::dynamic) last[value] = i;
    };
    std::for_each(step.in.begin(), step.in.end(), use);
    std::for_each(step.out.begin(), step.out.end(), use);
    std::for_each(step.captured.begin(), step.captured.end(), use);
  }
  // A size is read off a value when the stage begins, before its first step.
  for (const PlanStage& stage : plan_->stages)
    for (const auto& read : stage.reads)
      if (last[read.value] != plan_->steps.size())
        last[read.value] = std::max<size_t>(last[read.value], stage.first_step);
  for (uint32_t value : plan_->outputs) {
    while (plan_->values[value].kind == Kind::window) value = plan_->values[value].index;
    last[value] = plan_->steps.size();
  }
  for (uint32_t value = 0; value < last.size(); ++value)
    if (last[value] < plan_->steps.size()) release_after_[last[value]].push_back(value);
  for (uint32_t value = 0; value < plan_->values.size(); ++value)
    if (plan_->values[value].kind == Kind::dynamic) dynamic_values_.push_back(value);
  in_views_.resize(most);
  out_views_.resize(most);
  for (OutputMemory& memory : output_memory_) memory.blocks.reserve(OutputMemory::kKept);
  size_t axes = 0;
  for (const PlanInput& input : plan_->inputs) axes += input.axes.size();
  key_.reserve(axes);
  bindings_.reserve(kBindings);
}

Executor::Executor(std::shared_ptr<const Plan> plan, const Executor& outer)
    : Executor(std::move(plan), outer.workers_) {
  is_body_ = true;
}

int64_t Executor::arena_bytes() const {
  int64_t total = scratch_.size() + temporaries_.bytes();
  for (const Block& block : blocks_) total += block.size();
  for (const auto& [body, executor] : bodies_) total += executor->arena_bytes();
  return total;
}

Status Executor::run(const Run& run) {
  TRY_OK(check_inputs(run.inputs));
  run_ = &run;
  seed_ = run.seed;
  std::shared_ptr<MemoryMeter> meter;
  if (!is_body_ && run.limits.max_bytes > 0) meter = std::make_shared<MemoryMeter>(run.limits.max_bytes);
  std::optional<MemoryMeter::Scope> scope;
  if (meter) scope.emplace(meter.get());
  charged_ = MemoryMeter::share();
  charged_scratch_ = 0;
  Status status = run_bound();
  for (uint32_t value : dynamic_values_) forget(data_[value]);
  charged_.reset();
  run_ = nullptr;
  return status;
}

Status Executor::run_bound() {
  try {
    TRY(binding_, bind(run_->inputs, run_->refusal));
    if (!binding_) return run_whole_by_reference(*run_);
    needs_source_ = false;
    Status status = run_steps();
    return needs_source_ ? run_whole_by_reference(*run_) : status;
  } catch (const std::bad_alloc&) {
    return MemoryMeter::out_of_memory();
  } catch (const std::length_error&) {
    return system_error("tensor.memory", "out of memory: a list is needed that is larger than any memory");
  }
}

Status Executor::run_steps() {
  for (size_t i = 0; i < plan_->inputs.size(); ++i)
    if (plan_->values[plan_->inputs[i].value].kind == Kind::dynamic) data_[plan_->inputs[i].value] = run_->inputs[i];
  // A body may have no step at all and still run forever.
  TRY_OK(run_->limits.check_cancelled());
  TRY_OK(enter_stage(0));
  TRY_OK(prepare_outputs(0));
  size_t stage = 0;
  for (size_t i = 0; i < plan_->steps.size(); ++i) {
    while (stage + 1 < plan_->stages.size() && plan_->stages[stage + 1].first_step == i) {
      TRY_OK(enter_stage(++stage));
      TRY_OK(prepare_outputs(stage));
    }
    TRY_OK(run_->limits.check_cancelled());
    const int64_t begin = run_->observer ? now_ns() : 0;
    auto ran = run_step(i);
    if (!ran) return at(fmt::format("node {:?}", plan_->steps[i].label), std::move(ran).error());
    if (run_->observer) (*run_->observer)({&plan_->steps[i], begin, now_ns(), binding_});
    for (uint32_t value : release_after_[i]) forget(data_[value]);
  }
  while (stage + 1 < plan_->stages.size()) {
    TRY_OK(enter_stage(++stage));
    TRY_OK(prepare_outputs(stage));
  }
  return hand_over();
}

Status Executor::run_whole_by_reference(const Run& run) {
  TRY(std::vector<Datum> outputs,
      run_reference(*plan_->source, {run.inputs.begin(), run.inputs.end()}, run.seed, run.limits));
  // All before the first is written: memory of an output may be that of an input which is an output itself.
  for (Datum& output : outputs) {
    TRY(output, own(output, true));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (run.own_outputs || !run.outputs[i].is_tensor()) {
      run.outputs[i] = std::move(outputs[i]);
    } else {
      TRY_OK(copy_into(run.outputs[i], outputs[i], plan_->output_names[i]));
    }
  }
  return {};
}

Status Executor::charge(int64_t bytes) {
  if (!charged_.take(bytes)) return MemoryMeter::out_of_memory();
  return {};
}

}  // namespace anyshape
