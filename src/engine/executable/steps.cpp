#include "engine/executable/steps.h"

#include <algorithm>
#include <cstring>

#include "base/bug.h"
#include "engine/executable/executor.h"
#include "engine/executable/reference.h"
#include "ir/infer.h"
#include "kernels/dense_copy.h"
#include "ops/custom.h"
#include "tensor/own.h"

namespace anyshape {
namespace {

using Kind = PlanValue::Kind;

// It is at the same place in each run until memory of the first stage moves.
bool stays(const Plan& plan, uint32_t value) {
  if (plan.values[value].stage != 0) return false;
  const PlanValue& holder = plan.values[holder_of(plan, value)];
  if (holder.kind == Kind::slot || holder.kind == Kind::computed) return plan.slots[holder.index].stage == 0;
  return holder.kind == Kind::constant;
}

}  // namespace

// Runs the bodies of the step at hand by their own plans.
class Steps::Bodies final : public BodyRunner {
 public:
  explicit Bodies(Steps& outer) : outer_(outer) {}

  Result<std::vector<Datum>> run(const Graph& body, std::vector<Datum> inputs) override {
    add_captures(body, inputs);
    auto& executor = outer_.bodies_[&body];
    if (!executor) executor = Executor::of_body(plan_of(body), outer_.queue_);
    std::vector<Datum> outputs(body.outputs.size());
    Run run;
    run.inputs = inputs;
    run.outputs = outputs;
    run.limits = outer_.state_.run->limits;
    run.seed = outer_.seed_++;
    TRY_OK(executor->run(run));
    return outputs;
  }

  Result<std::vector<Datum>> run_whole(const Graph& body, std::vector<Datum> inputs) override {
    add_captures(body, inputs);
    return run_reference(*plan_of(body)->source, std::move(inputs), outer_.seed_++, outer_.state_.run->limits);
  }

 private:
  void add_captures(const Graph& body, std::vector<Datum>& inputs) const {
    for (const auto& capture : body.captures) inputs.push_back(outer_.storage_.datum(capture.outer));
  }
  const std::shared_ptr<const Plan>& plan_of(const Graph& body) const {
    const auto plan = outer_.plan_.bodies.find(&body);
    ANYSHAPE_CHECK(plan != outer_.plan_.bodies.end());
    return plan->second;
  }

  Steps& outer_;
};

Steps::Steps(const RunState& state, Storage& storage, Queue& queue)
    : state_(state), plan_(*state.plan), storage_(storage), queue_(queue) {
  for (const PlanStep& step : plan_.steps) {
    facts_.emplace_back();
    for (uint32_t value : step.in) facts_.back().push_back(value == kNone ? nullptr : &plan_.types[value]);
    operands_.emplace_back();
    if (step.kind != PlanStep::Kind::planned) continue;
    uint32_t place = 0;
    for (const auto* values : {&step.in, &step.out})
      for (uint32_t value : *values) {
        if (value != kNone) operands_.back().push_back({place, value, stays(plan_, value)});
        ++place;
      }
  }
}

Steps::~Steps() = default;

int64_t Steps::bytes() const {
  int64_t total = temporaries_.bytes();
  for (const auto& [body, executor] : bodies_) total += executor->arena_bytes();
  return total;
}

Call Steps::node_call(size_t index) const {
  const PlanStep& step = plan_.steps[index];
  return Call(plan_.graph->nodes[step.node], step.label, facts_[index]);
}

// Host memory that it reads is another one in each run, but for constants.
bool Steps::can_replay(const PlanStep& step) const {
  if (step.kind != PlanStep::Kind::planned && step.kind != PlanStep::Kind::copy) return false;
  const auto stays = [&](uint32_t value) {
    return value == kNone || plan_.values[value].space == Space::engine || plan_.values[value].kind == Kind::constant;
  };
  return std::all_of(step.in.begin(), step.in.end(), stays) && std::all_of(step.out.begin(), step.out.end(), stays);
}

// The first stage only: in others places depend on data.
size_t Steps::replayed_until(size_t index) const {
  const size_t end = steps_of(plan_, 0).second;
  while (index < end && can_replay(plan_.steps[index])) ++index;
  return index;
}

Status Steps::record(size_t first, size_t last) {
  queue_.begin_recording();
  Status status;
  for (size_t i = first; status && i < last; ++i) status = run_one(i);
  auto recorded = queue_.end_recording();
  if (!status) return status;
  BoundPlan::Step& step = state_.binding->step(first);
  TRY(step.recording, std::move(recorded));
  step.recorded_at = storage_.generation();
  return {};
}

Status Steps::replay(size_t first, size_t last) {
  const BoundPlan::Step& step = state_.binding->step(first);
  if (!step.recording || step.recorded_at != storage_.generation()) TRY_OK(record(first, last));
  return queue_.replay(step.recording.get());
}

Result<size_t> Steps::run(size_t index) {
  const size_t last = queue_.records() && !state_.run->observer ? replayed_until(index) : index;
  Status ran = last > index ? replay(index, last) : run_one(index);
  if (ran) return std::max(last, index + 1);
  // Of those that are replayed together nobody tells which one failed.
  const std::string &first = plan_.steps[index].label, &other = plan_.steps[std::max(last, index + 1) - 1].label;
  return at(first == other ? fmt::format("node {:?}", first) : fmt::format("nodes {:?} to {:?}", first, other),
            std::move(ran).error());
}

Status Steps::run_one(size_t index) {
  const PlanStep& step = plan_.steps[index];
  switch (step.kind) {
    case PlanStep::Kind::planned:
      return run_planned(step, index);
    case PlanStep::Kind::reference:
      return run_reference_step(step, index);
    case PlanStep::Kind::dynamic:
      return run_dynamic(step, index);
    case PlanStep::Kind::copy: {
      const View from = storage_.view(step.in[0]), to = storage_.view(step.out[0]);
      if (plan_.values[step.out[0]].space == Space::engine) return queue_.copy(from, to);
      kernels::dense_copy(from, to);
      return {};
    }
    case PlanStep::Kind::transfer:
      return run_transfer(step);
  }
  return {};
}

Status Steps::run_transfer(const PlanStep& step) {
  const auto bytes = static_cast<size_t>(state_.binding->bytes(step.out[0]));
  std::byte *from = storage_.pointer(step.in[0]), *to = storage_.pointer(step.out[0]);
  const EngineMemory& memory = *plan_.target.memory;
  if (plan_.values[step.out[0]].space == Space::engine) return memory.write(to, {from, bytes});
  return memory.read({to, bytes}, from);
}

void Steps::place_views(size_t index) const {
  BoundPlan::Step& bound = state_.binding->step(index);
  const bool placed = bound.placed_at == storage_.places();
  for (const Operand& operand : operands_[index])
    if (!placed || !operand.stays) bound.views[operand.place].data = storage_.pointer(operand.value);
  bound.placed_at = storage_.places();
}

Status Steps::run_planned(const PlanStep& step, size_t index) {
  place_views(index);
  const BoundPlan::Step& bound = state_.binding->step(index);
  const ViewArgs args = BoundPlan::args_of(step, bound, storage_.scratch());
  const int64_t tasks = bound.tasks;
  if (!takes_temporaries(step)) return queue_.run(*step.kernel, args, tasks, state_.run->limits);
  const TemporaryMemory::Scope scope(temporaries_);
  return queue_.run(*step.kernel, args, tasks, state_.run->limits);
}

Status Steps::run_reference_step(const PlanStep& step, size_t index) {
  // Before the scope: a binding keeps the room for their sizes, which must not be taken from steps that come later.
  for (size_t k = 0; k < step.in.size(); ++k)
    if (step.in[k] != kNone && plan_.values[step.in[k]].kind == Kind::dynamic)
      storage_.set_datum(state_.binding->step(index).in[k], step.in[k]);
  // Kernels of others may keep what they make.
  if (is_custom(*plan_.graph->nodes[step.node].op)) return run_reference_kernel(step, index);
  const TemporaryMemory::Scope scope(temporaries_);
  return run_reference_kernel(step, index);
}

Status Steps::run_reference_kernel(const PlanStep& step, size_t index) {
  auto& operands = state_.binding->step(index);
  // What a kernel put in the place of an output ends with the step, whichever way it ends.
  const struct Restore {
    const Storage& storage;
    const PlanStep& step;
    std::span<Datum> out;
    ~Restore() {
      for (size_t k = 0; k < step.out.size(); ++k)
        if (step.out[k] != kNone) storage.set_datum(out[k], step.out[k]);
    }
  } restore{storage_, step, operands.out};
  for (size_t k = 0; k < step.in.size(); ++k)
    if (step.in[k] != kNone && plan_.values[step.in[k]].kind != Kind::dynamic)
      storage_.set_datum(operands.in[k], step.in[k]);
  for (size_t k = 0; k < step.out.size(); ++k) {
    if (step.out[k] == kNone) continue;
    storage_.set_datum(operands.out[k], step.out[k]);
    if (const int64_t bytes = state_.binding->bytes(step.out[k]); bytes > 0)
      std::memset(storage_.pointer(step.out[k]), 0, static_cast<size_t>(bytes));
  }
  KernelArgs args{operands.in, operands.out, nullptr, seed_++};
  TRY_OK(plan_.graph->nodes[step.node].op->kernels.back().run(node_call(index), args));
  for (size_t k = 0; k < step.out.size(); ++k)
    if (step.out[k] != kNone) TRY_OK(keep_output(step, k, operands.out[k].tensor()));
  // What a binding keeps must not keep values of this run.
  for (size_t k = 0; k < step.in.size(); ++k)
    if (step.in[k] != kNone && plan_.values[step.in[k]].kind == Kind::dynamic) forget(operands.in[k]);
  return {};
}

Status Steps::keep_output(const PlanStep& step, size_t k, const Tensor& made) {
  std::byte* to = storage_.pointer(step.out[k]);
  if (made.bytes().data() == to) return {};
  const View& planned = state_.binding->view(step.out[k]);
  if (made.dtype() != planned.dtype || !std::ranges::equal(made.dims(), planned.dims))
    return refuse("run.shape", "output {} got the shape [{}], its rule says [{}]", k, fmt::join(made.dims(), ", "),
                  fmt::join(planned.dims, ", "));
  if (!made.bytes().empty()) std::memcpy(to, made.bytes().data(), made.bytes().size());
  return {};
}

Status Steps::check_made(uint32_t value) const {
  const PlanValue& planned = plan_.values[value];
  const Datum& made = storage_.own_memory(value);
  if (!planned.has_sizes || !made.is_tensor()) return {};
  const auto& dims = made.tensor().dims();
  if (std::ranges::equal(dims, state_.binding->view(value).dims)) return {};
  return system_error(kWrongSize, "a tensor of sizes [{}] was made where [{}] was planned: a fault of anyshape",
                      fmt::join(dims, ", "), fmt::join(state_.binding->view(value).dims, ", "));
}

Status Steps::run_dynamic(const PlanStep& step, size_t index) {
  const Node& node = plan_.graph->nodes[step.node];
  std::vector<Datum> in(step.in.size());
  for (size_t k = 0; k < in.size(); ++k)
    if (step.in[k] != kNone) storage_.set_datum(in[k], step.in[k]);
  Facts facts;
  for (const Datum& datum : in) facts.push_back(Fact::of(datum));
  std::vector<const Fact*> pointers;
  for (size_t k = 0; k < in.size(); ++k) pointers.push_back(in[k] ? &facts[k] : nullptr);
  Facts out_facts;
  if (!node.has_graph_attribute()) {
    TRY(out_facts, infer_node(*plan_.graph, node, pointers));
  }
  Bodies bodies(*this);
  TRY(std::vector<Datum> out, run_reference(Call(node, step.label, pointers), in, out_facts, &bodies, seed_++));
  for (size_t k = 0; k < step.out.size() && k < out.size(); ++k) {
    if (step.out[k] == kNone) continue;
    TRY(storage_.own_memory(step.out[k]), own(out[k]));
    if (plan_.stages[plan_.values[step.out[k]].stage].first_step <= index) TRY_OK(check_made(step.out[k]));
  }
  return {};
}

}  // namespace anyshape
