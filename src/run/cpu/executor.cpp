#include "run/cpu/executor.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/bug.h"
#include "ir/infer.h"
#include "kernels/dense_copy.h"
#include "run/cpu/own.h"
#include "run/cpu/reference.h"

namespace anyshape {
namespace {

using Kind = PlanValue::Kind;

constexpr size_t kBindings = 4;
int64_t bytes_in(const Datum& datum) {
  int64_t total = static_cast<int64_t>(datum.tensor().bytes().size());
  for (const Datum& item : datum.items()) total += bytes_in(item);
  return total;
}

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string kind_text(Fact::Kind kind) {
  switch (kind) {
    case Fact::Kind::sequence:
      return "a sequence";
    case Fact::Kind::optional:
      return "an optional";
    case Fact::Kind::map:
      return "a map";
    default:
      return "a tensor";
  }
}

bool same_kind(Datum::Kind given, Fact::Kind wanted) {
  switch (wanted) {
    case Fact::Kind::tensor:
      return given == Datum::Kind::tensor;
    case Fact::Kind::sequence:
      return given == Datum::Kind::sequence;
    case Fact::Kind::map:
      return given == Datum::Kind::map;
    default:
      return true;
  }
}

}  // namespace

// Runs the bodies of the step at hand by their own plans.
class Executor::Bodies final : public BodyRunner {
 public:
  explicit Bodies(Executor& outer) : outer_(outer) {}

  Result<std::vector<Datum>> run(const Graph& body, std::vector<Datum> inputs) override {
    for (const auto& capture : body.captures) inputs.push_back(outer_.datum(capture.outer));
    auto& executor = outer_.bodies_[&body];
    if (!executor) {
      const auto plan = outer_.plan_->bodies.find(&body);
      ANYSHAPE_CHECK(plan != outer_.plan_->bodies.end());
      executor = std::unique_ptr<Executor>(new Executor(plan->second, outer_));
    }
    std::vector<Datum> outputs(body.outputs.size());
    Run run;
    run.inputs = inputs;
    run.outputs = outputs;
    run.limits = outer_.run_->limits;
    executor->meter_start_ = outer_.meter_start_;
    run.seed = outer_.seed_++;
    TRY_OK(executor->run(run));
    return outputs;
  }

 private:
  Executor& outer_;
};

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
  meter_ = outer.meter_;
  is_body_ = true;
}

int64_t Executor::arena_bytes() const {
  int64_t total = scratch_.size();
  for (const Block& block : blocks_) total += block.size();
  for (const auto& [body, executor] : bodies_) total += executor->arena_bytes();
  return total;
}

Status Executor::check_inputs(std::span<const Datum> inputs) const {
  if (inputs.size() != plan_->inputs.size())
    return refuse("run.inputs", "{} inputs are needed, {} are given", plan_->inputs.size(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PlanInput& wanted = plan_->inputs[i];
    const auto place = [&] { return fmt::format("input \"{}\"", wanted.name); };
    if (!same_kind(inputs[i].kind(), wanted.kind))
      return at(place(), refuse("input.kind", "the model takes {} here", kind_text(wanted.kind)).value());
    // An empty sequence read from a file has no element type.
    const bool typed = wanted.kind == Fact::Kind::tensor ||
                       (wanted.kind == Fact::Kind::sequence && inputs[i].dtype() != DType::undefined);
    if (typed && wanted.dtype != DType::undefined && inputs[i].dtype() != wanted.dtype)
      return at(place(), refuse("input.dtype", "the model takes elements of type {}, not {}", name(wanted.dtype),
                                name(inputs[i].dtype()))
                             .value());
  }
  return {};
}

// False: the sizes do not match what the plan is for.
Result<bool> Executor::read_sizes(std::span<const Datum> inputs, BoundPlan& binding) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PlanInput& wanted = plan_->inputs[i];
    if (!wanted.has_rank) continue;
    const auto& dims = inputs[i].tensor().dims();
    if (dims.size() != wanted.axes.size()) return false;
    for (size_t k = 0; k < dims.size(); ++k) {
      if (wanted.axes[k].reads)
        binding.at(wanted.axes[k].size) = dims[k];
      else if (binding.at(wanted.axes[k].size) != dims[k])
        return false;
      if (plan_->largest_axis != 0 && dims[k] > plan_->largest_axis) return false;
    }
  }
  return true;
}

Result<std::vector<std::optional<std::vector<int64_t>>>> Executor::output_sizes(std::span<const Datum> inputs,
                                                                                const Refusal* refusal) {
  TRY_OK(check_inputs(inputs));
  TRY(const BoundPlan* binding, bind(inputs, refusal));
  std::vector<std::optional<std::vector<int64_t>>> out(plan_->outputs.size());
  for (size_t i = 0; binding && i < out.size(); ++i) {
    const PlanValue& value = plan_->values[plan_->outputs[i]];
    if (!value.has_sizes || value.stage != 0) continue;
    const auto dims = binding->view(plan_->outputs[i]).dims;
    out[i].emplace(dims.begin(), dims.end());
  }
  return out;
}

Result<std::optional<PlanNumbers>> Executor::plan_numbers(std::span<const Datum> inputs, const Refusal* refusal) {
  TRY_OK(check_inputs(inputs));
  TRY(const BoundPlan* binding, bind(inputs, refusal));
  if (!binding) return std::nullopt;
  PlanNumbers numbers;
  numbers.dims.resize(plan_->values.size());
  numbers.slots.resize(plan_->slots.size());
  for (uint32_t value = 0; value < plan_->values.size(); ++value) {
    if (!plan_->values[value].has_sizes || plan_->values[value].stage != 0) continue;
    const auto dims = binding->view(value).dims;
    numbers.dims[value].emplace(dims.begin(), dims.end());
  }
  for (size_t i = 0; i < plan_->slots.size(); ++i) {
    if (plan_->slots[i].stage != 0) continue;
    int64_t bytes = 0;
    for (Register reg : plan_->slots[i].bytes) bytes = std::max(bytes, binding->at(reg));
    numbers.slots[i] = bytes;
  }
  numbers.peak = binding->stage_bytes(0);
  return numbers;
}

Status Executor::reserve(std::span<const Datum> inputs, const Refusal* refusal) {
  TRY_OK(check_inputs(inputs));
  TRY(binding_, bind(inputs, refusal));
  while (bindings_.size() < kBindings) bindings_.push_back(std::make_unique<BoundPlan>(*plan_));
  if (!binding_) return {};
  TRY_OK(enter_stage(0));
  return reserve_outputs();
}

BoundPlan& Executor::next_binding() {
  if (bindings_.size() < kBindings) {
    bindings_.push_back(std::make_unique<BoundPlan>(*plan_));
    return *bindings_.back();
  }
  return **std::min_element(bindings_.begin(), bindings_.end(),
                            [](const auto& a, const auto& b) { return a->last_used < b->last_used; });
}

Result<BoundPlan*> Executor::bind(std::span<const Datum> inputs, const Refusal* refusal) {
  key_.clear();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (plan_->inputs[i].has_rank)
      key_.insert(key_.end(), inputs[i].tensor().dims().begin(), inputs[i].tensor().dims().end());
  for (const auto& binding : bindings_)
    if (binding->matches(key_)) {
      binding->last_used = ++clock_;
      return binding.get();
    }
  BoundPlan& binding = next_binding();
  if (written_ == &binding) written_ = nullptr;
  binding.begin(key_);
  TRY(const bool fits, read_sizes(inputs, binding));
  const PlanStage::Guard* failed = fits ? binding.evaluate(0) : nullptr;
  if (!fits || failed) {
    if (refusal) TRY_OK((*refusal)(inputs, failed));
    return nullptr;
  }
  TRY_OK(binding.lay_out(0));
  binding_ = &binding;
  TRY_OK(size_steps(0));
  binding.accept();
  binding.last_used = ++clock_;
  return &binding;
}

Status Executor::size_steps(size_t stage) {
  const size_t end = stage + 1 < plan_->stages.size() ? plan_->stages[stage + 1].first_step : plan_->steps.size();
  for (size_t i = plan_->stages[stage].first_step; i < end; ++i) {
    const PlanStep& step = plan_->steps[i];
    if (step.kind != PlanStep::Kind::planned) continue;
    for (size_t k = 0; k < step.in.size(); ++k)
      in_views_[k] = step.in[k] == kNone ? View() : binding_->view(step.in[k]);
    for (size_t k = 0; k < step.out.size(); ++k)
      out_views_[k] = step.out[k] == kNone ? View() : binding_->view(step.out[k]);
    const ViewArgs args{{in_views_.data(), step.in.size()}, {out_views_.data(), step.out.size()}, step.prepared.get()};
    binding_->step(i).tasks = step.kernel->tasks ? step.kernel->tasks(args) : 1;
    binding_->step(i).scratch = step.kernel->scratch ? step.kernel->scratch(args) : 0;
  }
  return {};
}

Status Executor::enter_stage(size_t stage) {
  if (stage > 0) {
    for (const auto& read : plan_->stages[stage].reads) {
      const Tensor& tensor = data_[read.value].tensor();
      if (read.axis >= tensor.rank()) return refuse("run.rank", "a value got another rank than its rule says");
      binding_->at(read.to) = tensor.dims()[read.axis];
    }
    if (const auto* guard = binding_->evaluate(stage))
      return at(fmt::format("node \"{}\"", guard->node), refuse(guard->code, "{}", guard->sentence).value());
    TRY_OK(binding_->lay_out(stage));
    TRY_OK(size_steps(stage));
  }
  const int64_t bytes = binding_->stage_bytes(stage);
  if (run_) TRY_OK(charge(bytes));
  if (bytes > blocks_[stage].size()) written_ = nullptr;
  TRY_OK(blocks_[stage].reserve(bytes));
  const size_t end = stage + 1 < plan_->stages.size() ? plan_->stages[stage + 1].first_step : plan_->steps.size();
  int64_t scratch = 0;
  for (size_t i = plan_->stages[stage].first_step; i < end; ++i) scratch = std::max(scratch, binding_->step(i).scratch);
  TRY_OK(scratch_.reserve(scratch));
  if (stage > 0 || written_ != binding_) write_computed(stage);
  if (stage == 0) written_ = binding_;
  return {};
}

void Executor::write_computed(size_t stage) {
  Tensor tensor;
  for (uint32_t value : plan_->stages[stage].values) {
    const PlanValue& planned = plan_->values[value];
    if (planned.kind != Kind::computed) continue;
    std::byte* to = pointer(value);
    for (size_t i = 0; i < planned.entries.size(); ++i) {
      const int64_t entry = binding_->at(planned.entries[i]);
      const auto size = static_cast<size_t>(bits(planned.dtype) / 8);
      std::memcpy(to + i * size, &entry, size);
    }
  }
}

Status Executor::run(const Run& run) {
  TRY_OK(check_inputs(run.inputs));
  run_ = &run;
  seed_ = run.seed;
  if (!is_body_) meter_start_ = *meter_;
  Status status = run_bound();
  for (uint32_t value : dynamic_values_) forget(data_[value]);
  *meter_ -= std::exchange(charged_, 0);
  run_ = nullptr;
  return status;
}

Status Executor::run_bound() {
  try {
    TRY(binding_, bind(run_->inputs, run_->refusal));
    return binding_ ? run_steps() : run_whole_by_reference(*run_);
  } catch (const std::bad_alloc&) {
    return system_error("tensor.memory", "out of memory");
  } catch (const std::length_error&) {
    return system_error("tensor.memory", "out of memory: a list is needed that is larger than any memory");
  }
}

Status Executor::charge(int64_t bytes) {
  charged_ += bytes;
  const int64_t used = (*meter_ += bytes) - meter_start_, limit = run_->limits.max_bytes;
  if (limit > 0 && used > limit)
    return system_error("run.memory", "{} bytes are needed for intermediate values, the limit is {}", used, limit);
  return {};
}

void Executor::release(uint32_t value) {
  // Inputs were never counted.
  const int64_t bytes = plan_->values[value].index == kNone ? bytes_in(data_[value]) : 0;
  charged_ -= bytes;
  *meter_ -= bytes;
  forget(data_[value]);
}

Status Executor::run_whole_by_reference(const Run& run) {
  TRY(std::vector<Datum> outputs, run_reference(*plan_->graph, {run.inputs.begin(), run.inputs.end()}, run.seed));
  for (size_t i = 0; i < outputs.size(); ++i) {
    TRY(Datum owned, own(outputs[i]));
    if (run.own_outputs || !run.outputs[i].is_tensor()) {
      run.outputs[i] = std::move(owned);
      continue;
    }
    TRY_OK(copy_into(run.outputs[i], owned, plan_->output_names[i]));
  }
  return {};
}

Status Executor::run_steps() {
  for (size_t i = 0; i < plan_->inputs.size(); ++i)
    if (plan_->values[plan_->inputs[i].value].kind == Kind::dynamic) data_[plan_->inputs[i].value] = run_->inputs[i];
  TRY_OK(enter_stage(0));
  TRY_OK(prepare_outputs(0));
  size_t stage = 0;
  for (size_t i = 0; i < plan_->steps.size(); ++i) {
    while (stage + 1 < plan_->stages.size() && plan_->stages[stage + 1].first_step == i) {
      TRY_OK(enter_stage(++stage));
      TRY_OK(prepare_outputs(stage));
    }
    if (run_->limits.cancel && run_->limits.cancel->load(std::memory_order_relaxed))
      return refuse("run.cancelled", "the run was cancelled");
    const int64_t begin = run_->observer ? now_ns() : 0;
    auto ran = run_step(i);
    if (!ran) return at(fmt::format("node \"{}\"", plan_->steps[i].label), std::move(ran).error());
    if (run_->observer) (*run_->observer)({&plan_->steps[i], begin, now_ns(), binding_});
    for (uint32_t value : release_after_[i]) release(value);
  }
  while (stage + 1 < plan_->stages.size()) {
    TRY_OK(enter_stage(++stage));
    TRY_OK(prepare_outputs(stage));
  }
  return hand_over();
}

std::byte* Executor::pointer(uint32_t value) const {
  const PlanValue& planned = plan_->values[value];
  switch (planned.kind) {
    case Kind::constant:
      return const_cast<std::byte*>(planned.constant.tensor().bytes().data());
    case Kind::input:
      return const_cast<std::byte*>(run_->inputs[planned.index].tensor().bytes().data());
    case Kind::output:
      return output_data_[planned.index];
    case Kind::slot:
    case Kind::computed:
      return blocks_[plan_->slots[planned.index].stage].data() + binding_->slot_offset(planned.index);
    case Kind::window:
      return pointer(planned.index) + binding_->offset(value);
    case Kind::dynamic:
      return const_cast<std::byte*>(data_[value].tensor().bytes().data());
    case Kind::unused:
      break;
  }
  return nullptr;
}

View Executor::view(uint32_t value) const {
  View out = binding_->view(value);
  out.data = pointer(value);
  return out;
}

void Executor::fill_operands(const PlanStep& step) {
  for (size_t k = 0; k < step.in.size(); ++k) in_views_[k] = step.in[k] == kNone ? View() : view(step.in[k]);
  for (size_t k = 0; k < step.out.size(); ++k) out_views_[k] = step.out[k] == kNone ? View() : view(step.out[k]);
}

void Executor::set_datum(Datum& datum, uint32_t value) {
  const PlanValue& planned = plan_->values[value];
  if (planned.kind == Kind::constant || planned.kind == Kind::dynamic) {
    datum = planned.kind == Kind::constant ? planned.constant : data_[value];
    return;
  }
  if (!datum.is_tensor()) forget(datum);
  datum.tensor().point_at(planned.dtype, binding_->view(value).dims, pointer(value));
  datum.settle();
}

Datum Executor::datum(uint32_t value) {
  if (!plan_->values[value].dense) value = plan_->values[value].copy;
  Datum out;
  set_datum(out, value);
  return out;
}

Call Executor::node_call(size_t index) const {
  const PlanStep& step = plan_->steps[index];
  return Call(plan_->graph->nodes[step.node], step.label, step_facts_[index]);
}

Status Executor::run_step(size_t index) {
  const PlanStep& step = plan_->steps[index];
  switch (step.kind) {
    case PlanStep::Kind::planned:
      return run_planned(step, index);
    case PlanStep::Kind::reference:
      return run_reference_step(step, index);
    case PlanStep::Kind::dynamic:
      return run_dynamic(step, index);
    case PlanStep::Kind::copy:
      kernels::dense_copy(view(step.in[0]), view(step.out[0]));
      return {};
  }
  return {};
}

Status Executor::run_planned(const PlanStep& step, size_t index) {
  fill_operands(step);
  const ViewArgs args{
      {in_views_.data(), step.in.size()}, {out_views_.data(), step.out.size()}, step.prepared.get(), scratch_.data()};
  const int64_t tasks = binding_->step(index).tasks;
  if (tasks <= 1) return step.kernel->run(args, 0, tasks);
  struct Shared {
    const ViewArgs& args;
    const PlannedKernel& kernel;
    std::mutex mutex;
    Status status;
  } shared{args, *step.kernel, {}, {}};
  workers_.run(
      tasks,
      [](void* state, int64_t first, int64_t last) {
        auto& s = *static_cast<Shared*>(state);
        if (Status ran = s.kernel.run(s.args, first, last); !ran) {
          std::lock_guard lock(s.mutex);
          s.status = std::move(ran);
        }
      },
      &shared);
  return std::move(shared.status);
}

Status Executor::run_reference_step(const PlanStep& step, size_t index) {
  auto& operands = binding_->step(index);
  for (size_t k = 0; k < step.in.size(); ++k)
    if (step.in[k] != kNone) set_datum(operands.in[k], step.in[k]);
  for (size_t k = 0; k < step.out.size(); ++k) {
    if (step.out[k] == kNone) continue;
    set_datum(operands.out[k], step.out[k]);
    if (const int64_t bytes = binding_->bytes(step.out[k]); bytes > 0)
      std::memset(pointer(step.out[k]), 0, static_cast<size_t>(bytes));
  }
  KernelArgs args{operands.in, operands.out, nullptr, seed_++};
  TRY_OK(plan_->graph->nodes[step.node].op->kernels.back().run(node_call(index), args));
  for (size_t k = 0; k < step.out.size(); ++k) {
    if (step.out[k] == kNone) continue;
    const Tensor& made = operands.out[k].tensor();
    std::byte* to = pointer(step.out[k]);
    if (made.bytes().data() == to) continue;
    if (made.dtype() != plan_->values[step.out[k]].dtype ||
        !std::ranges::equal(made.dims(), binding_->view(step.out[k]).dims))
      return refuse("run.shape", "output {} got the shape [{}], its rule says [{}]", k, fmt::join(made.dims(), ", "),
                    fmt::join(binding_->view(step.out[k]).dims, ", "));
    if (!made.bytes().empty()) std::memcpy(to, made.bytes().data(), made.bytes().size());
    set_datum(operands.out[k], step.out[k]);
  }
  // What a binding keeps must not keep values of this run.
  for (size_t k = 0; k < step.in.size(); ++k)
    if (step.in[k] != kNone && plan_->values[step.in[k]].kind == Kind::dynamic) forget(operands.in[k]);
  return {};
}

Status Executor::run_dynamic(const PlanStep& step, size_t) {
  const Node& node = plan_->graph->nodes[step.node];
  std::vector<Datum> in(step.in.size());
  for (size_t k = 0; k < in.size(); ++k)
    if (step.in[k] != kNone) set_datum(in[k], step.in[k]);
  Facts facts;
  for (const Datum& datum : in) facts.push_back(Fact::of(datum));
  std::vector<const Fact*> pointers;
  for (size_t k = 0; k < in.size(); ++k) pointers.push_back(in[k] ? &facts[k] : nullptr);
  Facts out_facts;
  if (!node.has_graph_attribute()) {
    auto inferred = infer_node(*plan_->graph, node, pointers);
    if (!inferred) {
      inferred.error().place.clear();
      return tl::unexpected(std::move(inferred).error());
    }
    out_facts = *std::move(inferred);
  }
  Bodies bodies(*this);
  TRY(std::vector<Datum> out, run_reference(Call(node, step.label, pointers), in, out_facts, &bodies, seed_++));
  for (size_t k = 0; k < step.out.size() && k < out.size(); ++k) {
    if (step.out[k] == kNone) continue;
    TRY(data_[step.out[k]], own(out[k]));
    TRY_OK(charge(bytes_in(data_[step.out[k]])));
  }
  return {};
}

}  // namespace anyshape
