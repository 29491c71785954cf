#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/bug.h"
#include "ir/infer.h"
#include "kernels/dense_copy.h"
#include "ops/custom.h"
#include "run/cpu/executor.h"
#include "run/cpu/own.h"

namespace anyshape {
namespace {

using Kind = PlanValue::Kind;

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
    run.seed = outer_.seed_++;
    TRY_OK(executor->run(run));
    return outputs;
  }

 private:
  Executor& outer_;
};

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
  if (takes_temporaries(step)) {
    const TemporaryMemory::Scope scope(temporaries_);
    return step.kernel->run(args, 0, tasks);
  }
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
  // Before the scope: a binding keeps the room for their sizes, which must not be taken from steps that come later.
  for (size_t k = 0; k < step.in.size(); ++k)
    if (step.in[k] != kNone && plan_->values[step.in[k]].kind == Kind::dynamic)
      set_datum(binding_->step(index).in[k], step.in[k]);
  // Kernels of others may keep what they make.
  if (is_custom(*plan_->graph->nodes[step.node].op)) return run_reference_kernel(step, index);
  const TemporaryMemory::Scope scope(temporaries_);
  return run_reference_kernel(step, index);
}

Status Executor::run_reference_kernel(const PlanStep& step, size_t index) {
  auto& operands = binding_->step(index);
  // What a kernel put in the place of an output ends with the step, whichever way it ends.
  const struct Restore {
    Executor& executor;
    const PlanStep& step;
    std::span<Datum> out;
    ~Restore() {
      for (size_t k = 0; k < step.out.size(); ++k)
        if (step.out[k] != kNone) executor.set_datum(out[k], step.out[k]);
    }
  } restore{*this, step, operands.out};
  for (size_t k = 0; k < step.in.size(); ++k)
    if (step.in[k] != kNone && plan_->values[step.in[k]].kind != Kind::dynamic) set_datum(operands.in[k], step.in[k]);
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
  }
  // What a binding keeps must not keep values of this run.
  for (size_t k = 0; k < step.in.size(); ++k)
    if (step.in[k] != kNone && plan_->values[step.in[k]].kind == Kind::dynamic) forget(operands.in[k]);
  return {};
}

Status Executor::check_made(uint32_t value) const {
  const PlanValue& planned = plan_->values[value];
  if (!planned.has_sizes || !data_[value].is_tensor()) return {};
  const auto& dims = data_[value].tensor().dims();
  if (std::ranges::equal(dims, binding_->view(value).dims)) return {};
  return system_error("run.size", "a tensor of sizes [{}] was made where [{}] was planned: a fault of anyshape",
                      fmt::join(dims, ", "), fmt::join(binding_->view(value).dims, ", "));
}

Status Executor::run_dynamic(const PlanStep& step, size_t index) {
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
    TRY(out_facts, infer_node(*plan_->graph, node, pointers));
  }
  Bodies bodies(*this);
  TRY(std::vector<Datum> out, run_reference(Call(node, step.label, pointers), in, out_facts, &bodies, seed_++));
  for (size_t k = 0; k < step.out.size() && k < out.size(); ++k) {
    if (step.out[k] == kNone) continue;
    TRY(data_[step.out[k]], own(out[k]));
    if (plan_->stages[plan_->values[step.out[k]].stage].first_step <= index) TRY_OK(check_made(step.out[k]));
  }
  return {};
}

}  // namespace anyshape
