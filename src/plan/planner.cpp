#include "plan/planner.h"

#include <algorithm>

#include "base/bug.h"
#include "base/work.h"
#include "ir/call.h"
#include "passes/body.h"
#include "plan/lifetimes.h"
#include "solve/slice.h"
#include "tensor/alignment.h"

namespace anyshape {
namespace {

using Kind = PlanValue::Kind;
using Op = Formulas::Op;

// The same tensor, at an address its element type allows.
Result<Tensor> for_kernels(const Tensor& tensor) {
  return is_aligned(tensor) ? Result<Tensor>(tensor) : tensor.aligned();
}

}  // namespace

Planner::Planner(const Typed& typed, const RunGraph& run_graph, const Target& target, const PlanOptions& options)
    : typed_(typed),
      graph_(*run_graph.graph),
      facts_(run_graph.facts),
      sources_(run_graph.sources),
      target_(target),
      options_(options),
      plan_(std::make_shared<Plan>()) {
  plan_->target = target;
  plan_->graph = run_graph.graph;
  plan_->source = typed.shared_graph();
  plan_->passes = run_graph.passes;
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
  TRY_OK(finish_outputs());
  TRY_OK(align_constants());
  plan_->stages.back().code_end = plan_->formulas.position();
  account();
  set_lifetimes(*plan_);
  assign_slots();
  plan_->formulas.seal();
  return std::shared_ptr<const Plan>(std::move(plan_));
}

Status Planner::align_constants() {
  const std::vector<bool> read = read_at_run_time();
  for (size_t i = 0; i < plan_->values.size(); ++i) {
    PlanValue& value = plan_->values[i];
    if (value.kind != Kind::constant || !value.constant.is_tensor() || !read[i]) continue;
    TRY(value.constant.tensor(), for_kernels(value.constant.tensor()));
  }
  return {};
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

void Planner::settle_sizes() {
  if (pending_reads_.empty()) return;
  plan_->stages.back().code_end = plan_->formulas.position();
  PlanStage stage;
  stage.first_step = static_cast<uint32_t>(plan_->steps.size());
  stage.code_begin = plan_->formulas.position();
  stage.reads = std::move(pending_reads_);
  pending_reads_.clear();
  plan_->stages.push_back(std::move(stage));
  Formulas& f = plan_->formulas;
  for (const Told& told : pending_symbols_) {
    const Register less = f.apply(Op::multiply, f.compile(told.rest), f.constant(-1));
    const Register sum = f.apply(Op::add, told.read, less);
    f.bind(told.symbol, told.factor == 1 ? sum : f.apply(Op::multiply, sum, f.constant(-1)));
  }
  pending_symbols_.clear();
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
    plan_->stages.back().guards.push_back({holds, r.code, r.node, r.sentence, r.recorded});
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
    const bool walked = (r.opaque || (!pending.done && !r.on_data)) && r.site != kNoValue;
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
  if (const Reason* cut = typed_.cut_short(); cut && plan_->only_source.empty())
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
  std::string why_not;
  if (!options_.plain) {
    const std::string label = graph_.label(node);
    if (computed_outputs(node)) return {};
    if (window_outputs(node, call_of(node, label))) return {};
    TRY(const bool taken, planned_step(index, call_of(node, label), why_not));
    if (taken) return {};
  }
  if (node.op->kernels.empty())
    return refuse("run.missing", "there is no kernel for operator {}{}{} (version {})", node.domain,
                  node.domain.empty() ? "" : ".", node.type, node.version);
  if (!options_.plain && static_outputs(node) && !node.has_graph_attribute())
    return reference_step(index, std::move(why_not));
  return dynamic_step(index);
}

}  // namespace anyshape
