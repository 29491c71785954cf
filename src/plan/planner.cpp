#include "plan/planner.h"

#include <algorithm>

#include "base/bug.h"
#include "base/work.h"
#include "ir/call.h"
#include "ir/each_body.h"
#include "passes/body.h"
#include "solve/slice.h"

namespace anyshape {
namespace {

using Kind = PlanValue::Kind;
using Op = Formulas::Op;

// The same tensor, at an address its element type allows.
Result<Tensor> for_kernels(const Tensor& tensor) {
  const auto size = static_cast<uintptr_t>(std::max(1, bits(tensor.dtype()) / 8));
  const bool placed = reinterpret_cast<uintptr_t>(tensor.bytes().data()) % size == 0;
  return placed ? Result<Tensor>(tensor) : tensor.aligned();
}

}  // namespace

Planner::Planner(const Typed& typed, const Program& program, const PlanOptions& options)
    : typed_(typed), graph_(*program.graph), facts_(program.facts), options_(options), plan_(std::make_shared<Plan>()) {
  plan_->graph = program.graph;
  plan_->source = typed.shared_graph();
  plan_->passes = program.passes;
  plan_->values.resize(graph_.values.size());
  plan_->stages.emplace_back();
  plan_->largest_axis = typed.largest_axis();
  value_bytes_.resize(graph_.values.size());
  value_formula_.resize(graph_.values.size());
  value_dims_.resize(graph_.values.size());
  for (const Requirement& r : typed.requirements()) {
    if (asked_at_run_time(r)) demands_[r.site].push_back(requirements_.size());
    requirements_.push_back({&r});
  }
  for (const Requirement& r : options.assumed) requirements_.push_back({&r});
  for (size_t i = 0; i < graph_.outputs.size(); ++i)
    output_index_.try_emplace(graph_.outputs[i], static_cast<uint32_t>(i));
}

Result<std::shared_ptr<const Plan>> Planner::run() {
  for (ValueId id = 0; id < graph_.values.size(); ++id) {
    const Fact& fact = facts_[id];
    Fact type = fact.is_tensor() ? Fact::tensor_of_unknown_rank(fact.dtype) : Fact();
    plan_->types.push_back(fact.constant ? fact : std::move(type));
  }
  add_constants();
  add_inputs();
  compile_guards();
  for (uint32_t i = 0; i < graph_.nodes.size(); ++i) {
    TRY_OK(Work::check());
    auto planned = plan_node(i);
    if (!planned) return at(fmt::format("node {:?}", graph_.label(graph_.nodes[i])), std::move(planned).error());
  }
  for (auto& value : plan_->values) {
    if (value.kind != Kind::constant || !value.constant.is_tensor()) continue;
    TRY(value.constant.tensor(), for_kernels(value.constant.tensor()));
  }
  finish_outputs();
  plan_->stages.back().code_end = plan_->formulas.position();
  account();
  assign_slots();
  plan_->formulas.seal();
  return std::shared_ptr<const Plan>(std::move(plan_));
}

void Planner::add_constants() {
  for (ValueId id = 0; id < graph_.values.size(); ++id) {
    const Value& value = graph_.values[id];
    if (!value.is_initializer || !value.constant->constant) continue;
    PlanValue& planned = plan_->values[id];
    planned.kind = Kind::constant;
    planned.dtype = value.constant->dtype;
    planned.constant = *value.constant->constant;
    set_sizes(id, *value.constant->dims);
  }
}

void Planner::add_inputs() {
  const auto required = graph_.required_inputs();
  for (size_t i = 0; i < required.size(); ++i) {
    const Fact& fact = facts_[required[i]];
    PlanInput input;
    input.name = graph_.values[required[i]].name;
    input.kind = fact.kind;
    input.dtype = fact.kind == Fact::Kind::sequence && fact.item ? fact.item->dtype : fact.dtype;
    input.value = required[i];
    PlanValue& planned = plan_->values[required[i]];
    planned.dtype = fact.dtype;
    planned.index = static_cast<uint32_t>(i);
    // Sequences, strings and inputs of unknown rank come as they are.
    const bool sized = fact.is_tensor() && fact.has_rank();
    planned.kind = sized && fits_view(fact.dtype) && fact.dtype != DType::undefined ? Kind::input : Kind::dynamic;
    input.has_rank = sized;
    for (size_t k = 0; sized && k < fact.rank(); ++k) {
      const Dim d = (*fact.dims)[k];
      const bool reads = d.is_symbol() && !plan_->formulas.knows(d);
      if (reads) plan_->formulas.bind(d, plan_->formulas.variable());
      input.axes.push_back({plan_->formulas.compile(d), reads});
    }
    if (sized) set_sizes(required[i], *fact.dims);
    plan_->inputs.push_back(std::move(input));
  }
}

void Planner::set_sizes(uint32_t value, const Dims& dims) {
  PlanValue& planned = plan_->values[value];
  planned.dims.clear();
  for (Dim d : dims) planned.dims.push_back(plan_->formulas.compile(d));
  planned.has_sizes = true;
  planned.stage = static_cast<uint32_t>(plan_->stages.size() - 1);
  value_bytes_[value] = bytes_of(planned);
  value_formula_[value] = formula_of(dims, planned.dtype);
  value_dims_[value] = dims;
  planned.text = print(dims);
  plan_->stages.back().values.push_back(value);
}

Register Planner::bytes_of(const PlanValue& value) {
  Formulas& f = plan_->formulas;
  Register count = f.constant(1);
  for (Register dim : value.dims) count = f.apply(Op::multiply, count, dim);
  const int width = std::max(1, bits(value.dtype));
  if (width % 8 == 0) return width == 8 ? count : f.apply(Op::multiply, count, f.constant(width / 8));
  const Register all = f.apply(Op::add, f.apply(Op::multiply, count, f.constant(width)), f.constant(7));
  return f.apply(Op::floordiv, all, f.constant(8));
}

Dim Planner::formula_of(const Dims& dims, DType dtype) const {
  const int width = std::max(1, bits(dtype));
  const Dim count = product(dims);
  return width % 8 == 0 ? count * Dim(width / 8) : ceildiv(count * Dim(width), Dim(8));
}

void Planner::settle_sizes() {
  if (pending_reads_.empty()) return;
  plan_->stages.back().code_end = plan_->formulas.position();
  PlanStage stage;
  stage.first_step = static_cast<uint32_t>(plan_->steps.size());
  stage.code_begin = plan_->formulas.position();
  stage.reads = std::move(pending_reads_);
  pending_reads_.clear();
  plan_->stages.push_back(std::move(stage));
  for (uint32_t value : pending_values_) set_sizes(value, *facts_[value].dims);
  pending_values_.clear();
  compile_guards();
}

void Planner::compile_guards() {
  Formulas& f = plan_->formulas;
  for (Pending& pending : requirements_) {
    const Requirement& r = *pending.requirement;
    if (pending.done || r.condition.is_opaque() || r.path.is_opaque()) continue;
    if (!f.knows(r.condition) || !f.knows(r.path)) continue;
    pending.done = true;
    Register holds = f.compile(r.condition);
    if (!r.path.is_always()) holds = f.apply(Op::either, f.apply(Op::negate, f.compile(r.path)), holds);
    plan_->stages.back().guards.push_back({holds, r.code, r.node, r.sentence});
  }
}

bool Planner::asks_its_rule(const Node& node) {
  const auto demands = demands_.find(node.first_output());
  if (demands == demands_.end()) return false;
  settle_sizes();
  return std::any_of(demands->second.begin(), demands->second.end(), [&](size_t i) { return !requirements_[i].done; });
}

// The rule of its node runs whenever the node does, be it in the plan of a body.
bool Planner::is_asked(const Requirement& requirement) const {
  return asked_at_run_time(requirement) && asked_.contains(requirement.site);
}

void Planner::account() {
  std::vector<ValueId> sites;
  PlanEnforced& count = plan_->enforced;
  for (const Pending& pending : requirements_) {
    const Requirement& r = *pending.requirement;
    const bool asked = is_asked(r);
    // What numbers alone can tell is refused before anything runs, even if a guard would tell it in time.
    const bool walked = (!pending.done || r.opaque) && !r.on_data && r.site != kNoValue;
    if (walked) {
      sites.push_back(r.site);
      plan_->walk_decides |= !asked && !pending.done;
    }
    const bool enforced = pending.done || walked || asked;
    ++(walked ? count.walked : pending.done ? count.guards : asked ? count.rules : count.source);
    if (!enforced && plan_->only_source.empty()) plan_->only_source = fmt::format("node {:?}: {}", r.node, r.sentence);
  }
  // A body that no shape suits, where it is never run.
  if (const auto& refusal = typed_.refusal(); refusal && plan_->only_source.empty())
    plan_->only_source = refusal->text();
  if (const Remark* cut = typed_.cut_short(); cut && plan_->only_source.empty())
    plan_->only_source = fmt::format("node {:?}: {}", cut->node, cut->sentence);
  ANYSHAPE_CHECK(count.guards + count.walked + count.rules + count.source ==
                 typed_.requirements().size() + options_.assumed.size());
  if (!sites.empty()) plan_->walked = backward_slice(*plan_->source, sites);
}

Call Planner::call_of(const Node& node, const std::string& label) {
  call_facts_.clear();
  for (ValueId id : node.in) call_facts_.push_back(id == kNoValue ? nullptr : &facts_[id]);
  return Call(node, label, call_facts_);
}

Status Planner::plan_node(uint32_t index) {
  const Node& node = graph_.nodes[index];
  if (!node.op)
    return refuse("run.missing", "there is no rule for operator {}{}{} (version {}), so it cannot run", node.domain,
                  node.domain.empty() ? "" : ".", node.type, node.version);
  if (asks_its_rule(node) && !node.op->kernels.empty()) return dynamic_step(index);
  if (constant_outputs(node)) return {};
  if (options_.optimize) {
    const std::string label = graph_.label(node);
    if (computed_outputs(node)) return {};
    if (window_outputs(node, call_of(node, label))) return {};
    bool taken = false;
    TRY_OK(planned_step(index, call_of(node, label), taken));
    if (taken) return {};
  }
  if (node.op->kernels.empty())
    return refuse("run.missing", "there is no kernel for operator {}{}{} (version {})", node.domain,
                  node.domain.empty() ? "" : ".", node.type, node.version);
  if (options_.optimize && static_outputs(node) && !node.has_graph_attribute()) return reference_step(index);
  return dynamic_step(index);
}

bool Planner::constant_outputs(const Node& node) {
  const auto known = [&](ValueId id) { return id == kNoValue || facts_[id].constant != nullptr; };
  if (!std::all_of(node.out.begin(), node.out.end(), known)) return false;
  for (ValueId id : node.out) {
    if (id == kNoValue) continue;
    PlanValue& value = plan_->values[id];
    value.kind = Kind::constant;
    value.dtype = facts_[id].dtype;
    value.constant = *facts_[id].constant;
    set_sizes(id, *facts_[id].dims);
  }
  return true;
}

bool Planner::computed_outputs(const Node& node) {
  if (!node.op->pure || node.has_graph_attribute()) return false;
  const auto follows = [&](ValueId id) {
    if (id == kNoValue) return true;
    const Fact& fact = facts_[id];
    const bool whole = fact.is_tensor() && fact.elements && fact.denominator == 1 && fact.numeric_dims() &&
                       (is_integer(fact.dtype) || fact.dtype == DType::boolean) && fits_view(fact.dtype);
    return whole &&
           std::all_of(fact.elements->begin(), fact.elements->end(), [&](Dim d) { return plan_->formulas.knows(d); });
  };
  if (!std::all_of(node.out.begin(), node.out.end(), follows)) return false;
  settle_sizes();
  for (ValueId id : node.out) {
    if (id == kNoValue) continue;
    PlanValue& value = plan_->values[id];
    value.kind = Kind::computed;
    value.dtype = facts_[id].dtype;
    for (Dim entry : *facts_[id].elements) value.entries.push_back(plan_->formulas.compile(entry));
    set_sizes(id, *facts_[id].dims);
  }
  return true;
}

bool Planner::static_outputs(const Node& node) const {
  return std::all_of(node.out.begin(), node.out.end(), [&](ValueId id) {
    if (id == kNoValue) return true;
    const Fact& fact = facts_[id];
    return fact.is_tensor() && fact.has_rank() && fact.dtype != DType::string && fact.dtype != DType::undefined &&
           std::all_of(fact.dims->begin(), fact.dims->end(), [&](Dim d) { return plan_->formulas.knows(d); });
  });
}

bool Planner::is_view(uint32_t value) const {
  const PlanValue& planned = plan_->values[value];
  return planned.has_sizes && fits_view(planned.dtype);
}

bool Planner::window_outputs(const Node& node, const Call& call) {
  if (!node.op->view || node.in.empty() || node.in[0] == kNoValue || !static_outputs(node)) return false;
  settle_sizes();
  if (!is_view(node.in[0])) return false;
  Facts out;
  for (ValueId id : node.out) out.push_back(id == kNoValue ? Fact() : facts_[id]);
  const std::vector<ViewRule> rules = node.op->view(call, out);
  if (rules.size() < node.out.size()) return false;
  const auto compiles = [&](const ViewRule& rule) {
    return std::all_of(rule.start.begin(), rule.start.end(), [&](Dim d) { return plan_->formulas.knows(d); });
  };
  if (!std::all_of(rules.begin(), rules.end(), compiles)) return false;
  for (size_t i = 0; i < node.out.size(); ++i) {
    if (node.out[i] == kNoValue) continue;
    const uint32_t base = rules[i].reshape ? dense(node.in[0]) : node.in[0];
    PlanValue& value = plan_->values[node.out[i]];
    value.kind = Kind::window;
    value.dtype = facts_[node.out[i]].dtype;
    value.index = base;
    value.dense = rules[i].reshape;
    for (size_t axis : rules[i].axis)
      value.axis.push_back(axis == ViewRule::kNewAxis ? kNone : static_cast<uint32_t>(axis));
    value.step = rules[i].step;
    for (Dim start : rules[i].start) value.start.push_back(plan_->formulas.compile(start));
    set_sizes(node.out[i], *facts_[node.out[i]].dims);
  }
  return true;
}

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

uint32_t Planner::dense(uint32_t value) {
  if (plan_->values[value].dense) return value;
  if (plan_->values[value].copy != kNone) return plan_->values[value].copy;
  const auto copy = static_cast<uint32_t>(plan_->values.size());
  PlanValue planned;
  planned.kind = Kind::slot;
  planned.dtype = plan_->values[value].dtype;
  plan_->values.push_back(std::move(planned));
  plan_->types.push_back(Fact::tensor_of_unknown_rank(plan_->values[value].dtype));
  value_bytes_.emplace_back();
  value_formula_.emplace_back();
  value_dims_.emplace_back();
  set_sizes(copy, Dims(value_dims_[value]));
  PlanStep step;
  step.kind = PlanStep::Kind::copy;
  step.in = {value};
  step.out = {copy};
  step.label = graph_.values[value].name;
  step.type = "copy";
  step.reason = "the next kernel takes dense tensors";
  plan_->steps.push_back(std::move(step));
  return plan_->values[value].copy = copy;
}

void Planner::make_static_outputs(const Node& node, PlanStep& step) {
  for (ValueId id : node.out) {
    if (id == kNoValue) continue;
    PlanValue& value = plan_->values[id];
    const auto output = output_index_.find(id);
    value.kind = output == output_index_.end() ? Kind::slot : Kind::output;
    if (output != output_index_.end()) value.index = output->second;
    value.dtype = facts_[id].dtype;
    set_sizes(id, *facts_[id].dims);
  }
  claim_sizes(step.node);
  plan_->steps.push_back(std::move(step));
}

Status Planner::planned_step(uint32_t index, const Call& call, bool& taken) {
  const Node& node = graph_.nodes[index];
  if (node.op->planned.empty() || !static_outputs(node)) return {};
  settle_sizes();
  const auto viewable = [&](ValueId id) { return id == kNoValue || is_view(id); };
  const auto view_type = [&](ValueId id) { return id == kNoValue || fits_view(facts_[id].dtype); };
  if (!std::all_of(node.in.begin(), node.in.end(), viewable)) return {};
  if (!std::all_of(node.out.begin(), node.out.end(), view_type)) return {};
  for (const PlannedKernel& kernel : node.op->planned) {
    if (!kernel.accepts(call).empty()) continue;
    PlanStep step = step_for(index);
    step.kind = PlanStep::Kind::planned;
    step.kernel = &kernel;
    step.reason = "best kernel that takes it";
    if (kernel.prepare) {
      TRY(step.prepared, kernel.prepare(call));
    }
    for (size_t i = 0; i < step.in.size(); ++i)
      if (step.in[i] != kNone && (i >= 32 || !(kernel.strided >> i & 1))) step.in[i] = dense(step.in[i]);
    make_static_outputs(node, step);
    taken = true;
    return {};
  }
  return {};
}

Status Planner::reference_step(uint32_t index) {
  settle_sizes();
  const Node& node = graph_.nodes[index];
  PlanStep step = step_for(index);
  step.kind = PlanStep::Kind::reference;
  step.reason = node.op->planned.empty() ? "no faster kernel" : "no faster kernel takes it";
  const std::string label = graph_.label(node);
  if (!node.op->planned.empty()) {
    const std::string_view why = node.op->planned.back().accepts(call_of(node, label));
    if (!why.empty()) step.reason = fmt::format("{}: {}", node.op->planned.back().name, why);
  }
  for (uint32_t& in : step.in)
    if (in != kNone) in = dense(in);
  make_static_outputs(node, step);
  return {};
}

Status Planner::dynamic_step(uint32_t index) {
  const Node& node = graph_.nodes[index];
  PlanStep step = step_for(index);
  step.kind = PlanStep::Kind::dynamic;
  step.reason = node.has_graph_attribute() ? "runs bodies" : "sizes are known only when it runs";
  asked_.insert(node.first_output());
  for (uint32_t& in : step.in)
    if (in != kNone) in = dense(in);
  TRY_OK(plan_bodies(node, step));
  for (ValueId id : node.out) {
    if (id == kNoValue) continue;
    const Fact& fact = facts_[id];
    PlanValue& value = plan_->values[id];
    value.kind = Kind::dynamic;
    value.dtype = fact.dtype;
    if (!options_.optimize || !fact.is_tensor() || !fact.has_rank() || fact.dtype == DType::undefined) continue;
    for (size_t axis = 0; axis < fact.rank(); ++axis) {
      const Dim d = (*fact.dims)[axis];
      if (!d.is_symbol() || plan_->formulas.knows(d)) continue;
      const Register reg = plan_->formulas.variable();
      plan_->formulas.bind(d, reg);
      pending_reads_.push_back({id, axis, reg});
    }
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

Status Planner::plan_bodies(const Node& node, PlanStep& step) {
  Status status;
  for_each_body(node, [&](const Graph& body) {
    for (const auto& capture : body.captures) step.captured.push_back(dense(capture.outer));
    if (!status || plan_->bodies.contains(&body)) return;
    const Typed typed = solve_part(closed_body(body, facts_, typed_.bodies()), {.corners = false});
    PlanOptions options = options_;
    options.assumed.clear();
    auto plan = make_plan(typed, options);
    if (plan) {
      plan_->bodies[&body] = *std::move(plan);
    } else {
      status = tl::unexpected(std::move(plan).error());
    }
  });
  return status;
}

void Planner::finish_outputs() {
  for (ValueId id : graph_.outputs) {
    plan_->output_names.push_back(graph_.values[id].name);
    plan_->outputs.push_back(id);
  }
}

}  // namespace anyshape
