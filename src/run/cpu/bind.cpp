#include <algorithm>
#include <cstring>
#include <utility>

#include "run/cpu/executor.h"
#include "run/cpu/own.h"
#include "solve/verdict.h"

namespace anyshape {
namespace {

using Kind = PlanValue::Kind;

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

Status Executor::check_inputs(std::span<const Datum> inputs) const {
  if (inputs.size() != plan_->inputs.size())
    return refuse("run.inputs", "{} inputs are needed, {} are given", plan_->inputs.size(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PlanInput& wanted = plan_->inputs[i];
    const auto place = [&] { return fmt::format("input {:?}", wanted.name); };
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
      if (!wanted.axes[k].reads) {
        if (binding.at(wanted.axes[k].size) != dims[k]) return false;
        continue;
      }
      if (plan_->largest_axis != 0 && dims[k] > plan_->largest_axis) return false;
      binding.at(wanted.axes[k].size) = dims[k];
    }
  }
  return true;
}

BoundPlan& Executor::next_binding() {
  if (bindings_.size() < kBindings) {
    bindings_.push_back(std::make_unique<BoundPlan>(*plan_));
    return *bindings_.back();
  }
  return **std::min_element(bindings_.begin(), bindings_.end(),
                            [](const auto& a, const auto& b) { return a->last_used < b->last_used; });
}

void Executor::read_key(std::span<const Datum> inputs) {
  key_.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool walked = plan_->walked && inputs[i].is_tensor();
    if (!plan_->inputs[i].has_rank && !walked) continue;
    const auto& dims = inputs[i].tensor().dims();
    if (!plan_->inputs[i].has_rank) key_.push_back(static_cast<int64_t>(dims.size()));
    key_.insert(key_.end(), dims.begin(), dims.end());
  }
}

bool Executor::walk_accepts(std::span<const Datum> inputs) const {
  if (!plan_->walked) return true;
  Shapes shapes;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].is_tensor()) shapes[plan_->inputs[i].name] = inputs[i].tensor().dims();
  const Verdict answer = verdict(*plan_->walked, shapes);
  if (answer.kind == Verdict::Kind::refuse) return false;
  return !plan_->walk_decides || (answer.kind == Verdict::Kind::accept && answer.on_data == 0);
}

Result<BoundPlan*> Executor::bind(std::span<const Datum> inputs, const Refusal* refusal) {
  read_key(inputs);
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
  const bool sized = fits && !failed && binding.has_sizes(0);
  if (!sized || !plan_->only_source.empty() || !walk_accepts(inputs)) {
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
      return at(fmt::format("node {:?}", guard->node), refuse(guard->code, "{}", guard->sentence).value());
    needs_source_ = !binding_->has_sizes(stage) && !writes_inputs();
    TRY_OK(binding_->lay_out(stage));
    for (uint32_t value : plan_->stages[stage].values)
      if (plan_->values[value].kind == Kind::dynamic) TRY_OK(check_made(value));
    TRY_OK(size_steps(stage));
  }
  const int64_t bytes = binding_->stage_bytes(stage);
  TRY_OK(charge(bytes));
  if (bytes > blocks_[stage].size()) written_ = nullptr;
  TRY_OK(blocks_[stage].reserve(bytes));
  const size_t end = stage + 1 < plan_->stages.size() ? plan_->stages[stage + 1].first_step : plan_->steps.size();
  int64_t scratch = 0;
  for (size_t i = plan_->stages[stage].first_step; i < end; ++i) scratch = std::max(scratch, binding_->step(i).scratch);
  if (scratch > charged_scratch_) TRY_OK(charge(scratch - std::exchange(charged_scratch_, scratch)));
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
  // Room for the sizes of inputs that are held by handles.
  for (size_t i = 0; i < inputs.size(); ++i) {
    const uint32_t value = plan_->inputs[i].value;
    if (plan_->values[value].kind != Kind::dynamic) continue;
    data_[value] = inputs[i];
    forget(data_[value]);
  }
  if (!binding_) return {};
  TRY_OK(enter_stage(0));
  TRY_OK(reserve_outputs());
  return rehearse(inputs);
}

}  // namespace anyshape
