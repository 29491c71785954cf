#include <algorithm>

#include "base/os/file.h"
#include "engine/target/prepared.h"
#include "ir/call.h"
#include "ir/graph.h"
#include "passes/body.h"
#include "plan/planner.h"

// The steps of a plan: which kernel runs a node, in which memory.
namespace anyshape {

using Kind = PlanValue::Kind;

PlanStep Planner::step_for(uint32_t index) const {
  const Node& node = graph_.nodes[index];
  PlanStep step;
  step.node = index;
  step.label = graph_.label(node);
  step.type = node.type;
  for (ValueId id : node.in) step.in.push_back(id == kNoValue ? kNone : id);
  for (ValueId id : node.out) step.out.push_back(id == kNoValue ? kNone : id);
  return step;
}

void Planner::make_static_outputs(const Node& node, PlanStep& step, Space space) {
  for (ValueId id : node.out) {
    if (id == kNoValue) continue;
    set_place(plan_->values[id], id, space);
    plan_->values[id].dtype = facts_[id].dtype;
    set_sizes(id, *facts_[id].dims);
  }
  claim_sizes(step.node);
  plan_->steps.push_back(std::move(step));
}

Status Planner::place_operands(PlanStep& step) {
  const EngineKernel& kernel = *step.kernel;
  for (size_t i = 0; i < step.in.size(); ++i) {
    if (step.in[i] == kNone) continue;
    const bool strided = i < 32 && (kernel.strided >> i & 1), host = i < 32 && (kernel.on_host >> i & 1);
    TRY(const uint32_t there, in_space(step.in[i], host ? Space::host : target_.space()));
    step.in[i] = strided ? there : dense(there);
  }
  return {};
}

namespace {

bool is_packed(const EngineKernel& kernel, size_t input) { return input < 32 && (kernel.packed >> input & 1); }

// Pages of a file: they come back should somebody read them again.
void let_go_of_packed(const EngineKernel& kernel, const Call& call) {
  constexpr size_t kWorthIt = 64 << 10;
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (!is_packed(kernel, i) || !call.has(i) || !call.in(i).constant) continue;
    if (const auto bytes = call.in(i).constant->bytes(); bytes.size() >= kWorthIt) give_back(bytes);
  }
}

}  // namespace

std::vector<bool> Planner::read_at_run_time() const {
  std::vector<bool> out(plan_->values.size());
  const auto read = [&](uint32_t value) {
    if (value != kNone) out[holder_of(*plan_, value)] = true;
  };
  const auto packed = [&](const PlanStep& step, size_t i) {
    const uint32_t value = step.in[i];
    return step.kind == PlanStep::Kind::planned && is_packed(*step.kernel, i) && value < facts_.size() &&
           facts_[value].constant && plan_->values[value].kind == Kind::constant;
  };
  for (const PlanStep& step : plan_->steps) {
    for (size_t i = 0; i < step.in.size(); ++i)
      if (!packed(step, i)) read(step.in[i]);
    for (uint32_t value : step.captured) read(value);
  }
  for (uint32_t value : plan_->outputs) read(value);
  return out;
}

Result<bool> Planner::planned_step(uint32_t index, const Call& call, std::string& why_not) {
  const Node& node = graph_.nodes[index];
  if (!target_.has_kernel(*node.op) || !static_outputs(node)) return false;
  settle_sizes();
  const auto viewable = [&](ValueId id) { return id == kNoValue || is_view(id); };
  const auto view_type = [&](ValueId id) { return id == kNoValue || fits_view(facts_[id].dtype); };
  if (!std::all_of(node.in.begin(), node.in.end(), viewable)) return false;
  if (!std::all_of(node.out.begin(), node.out.end(), view_type)) return false;
  TRY(PreparedKernel choice, prepare_kernel(target_, call));
  if (!choice.kernel) {
    why_not = std::move(choice.reason);
    return false;
  }
  PlanStep step = step_for(index);
  step.kind = PlanStep::Kind::planned;
  step.kernel = choice.kernel;
  step.reason = std::move(choice.reason);
  step.prepared = std::move(choice.prepared);
  if (choice.kernel->prepare) let_go_of_packed(*choice.kernel, call);
  TRY_OK(place_operands(step));
  make_static_outputs(node, step, target_.space());
  return true;
}

Status Planner::reference_step(uint32_t index, std::string why_not) {
  settle_sizes();
  const Node& node = graph_.nodes[index];
  PlanStep step = step_for(index);
  step.kind = PlanStep::Kind::reference;
  if (why_not.empty()) {
    const std::string label = graph_.label(node);
    Target::Choice choice = target_.choose(call_of(node, label));
    // It would take the node, but something in it is no view.
    why_not = choice.kernel ? "no faster kernel takes it" : std::move(choice.reason);
  }
  step.reason = std::move(why_not);
  TRY_OK(on_host(step.in));
  make_static_outputs(node, step, Space::host);
  return {};
}

void Planner::read_size(uint32_t value, size_t axis, Dim size) {
  Formulas& f = plan_->formulas;
  if (size.is_unknown() || f.knows(size)) return;
  const Register reg = f.variable();
  if (size.is_symbol()) {
    f.bind(size, reg);
    pending_reads_.push_back({value, axis, reg});
    return;
  }
  // A sum of sizes of which one is not known, once.
  std::vector<Dim> open;
  for (Dim symbol : size.symbols())
    if (!f.knows(symbol)) open.push_back(symbol);
  if (open.size() != 1) return;
  for (const int64_t factor : {1, -1}) {
    const Dim rest = size - open[0] * Dim(factor);
    if (rest.is_unknown() || !f.knows(rest)) continue;
    pending_reads_.push_back({value, axis, reg});
    pending_symbols_.push_back({open[0], rest, factor, reg});
    f.bind(open[0], f.variable());
    return;
  }
}

Status Planner::dynamic_step(uint32_t index) {
  const Node& node = graph_.nodes[index];
  PlanStep step = step_for(index);
  step.kind = PlanStep::Kind::dynamic;
  step.runs_bodies = node.has_graph_attribute();
  step.reason = step.runs_bodies ? "planned on their own" : "sizes are known only when it runs";
  asked_.insert(node.first_output());
  TRY_OK(on_host(step.in));
  TRY_OK(plan_bodies(node, step));
  for (ValueId id : node.out) {
    if (id == kNoValue) continue;
    const Fact& fact = facts_[id];
    PlanValue& value = plan_->values[id];
    value.kind = Kind::dynamic;
    value.dtype = fact.dtype;
    if (options_.plain || !fact.is_tensor() || !fact.has_rank() || fact.dtype == DType::undefined) continue;
    for (size_t axis = 0; axis < fact.rank(); ++axis) read_size(id, axis, (*fact.dims)[axis]);
    const bool all = std::all_of(fact.dims->begin(), fact.dims->end(), [&](Dim d) { return plan_->formulas.knows(d); });
    if (!all) continue;
    if (pending_reads_.empty()) {
      set_sizes(id, *fact.dims);
    } else {
      pending_values_.push_back(id);
    }
  }
  plan_->steps.push_back(std::move(step));
  return {};
}

// What the walk found of the values of a body; null: it never came there.
const Facts* Planner::walked(const Graph& body) const {
  const auto source = sources_.find(&body);
  const auto found = typed_.bodies().find(source == sources_.end() ? &body : source->second);
  return found == typed_.bodies().end() ? nullptr : &found->second;
}

Status Planner::plan_bodies(const Node& node, PlanStep& step) {
  Status status;
  for_each_body(node, [&](const Graph& body) {
    for (const auto& capture : body.captures) step.captured.push_back(capture.outer);
    if (!status || plan_->bodies.contains(&body)) return;
    const Typed typed = solve_part(closed_body(body, facts_, walked(body)), {.corners = false});
    PlanOptions options = options_;
    options.assumed.clear();
    auto plan = make_plan(typed, target_, options);
    if (plan) {
      plan_->bodies[&body] = *std::move(plan);
    } else {
      status = tl::unexpected(std::move(plan).error());
    }
  });
  if (!status) return status;
  return on_host(step.captured);
}

}  // namespace anyshape
