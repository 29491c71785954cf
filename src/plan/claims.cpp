#include "plan/planner.h"

// What a step writes and reads is decided by its views, and these by facts about the whole graph. Here the rule of each
// step is asked again, about nothing but the sizes of its own inputs, and the answers are claims that a binding checks.
namespace anyshape {

using Kind = PlanValue::Kind;
using Op = Formulas::Op;

Dim Planner::local(Dim size, Register reg) {
  if (size.is_constant()) return size;
  const auto [it, first] = local_sizes_.try_emplace(reg);
  if (first) {
    it->second = local_symbols_.fresh("r");
    plan_->formulas.bind(it->second, reg);
  }
  return it->second;
}

Fact Planner::local_fact(uint32_t value) {
  const PlanValue& planned = plan_->values[value];
  if (planned.kind == Kind::constant || !planned.has_sizes) return plan_->types[value];
  Dims dims;
  for (size_t i = 0; i < planned.dims.size(); ++i) {
    dims.push_back(local(value_dims_[value][i], planned.dims[i]));
    if (!dims.back().is_constant()) local_.assume(Condition::ge(dims.back(), 0));
  }
  if (planned.kind != Kind::computed) return Fact::tensor(planned.dtype, std::move(dims));
  Dims entries;
  for (size_t i = 0; i < planned.entries.size(); ++i)
    entries.push_back(local((*facts_[value].elements)[i], planned.entries[i]));
  return Fact::of_elements(planned.dtype, std::move(dims), std::move(entries));
}

void Planner::claim_sizes(uint32_t index) {
  const Node& node = graph_.nodes[index];
  local_facts_.resize(graph_.values.size());
  const Assumptions::Scope scope(local_);
  for (ValueId id : node.in)
    if (id != kNoValue) local_facts_[id] = local_fact(id);
  Walk::Options options;
  options.fold_total_bytes = 0;
  Walk walk(local_, options);
  auto& claims = plan_->stages.back().claims;
  if (const Status asked = walk.add(graph_, node, local_facts_); !asked) {
    if (asked.error().kind == Error::Kind::refused) claims.push_back({plan_->formulas.constant(0), index});
    return;
  }
  for (const Requirement& r : walk.requirements())
    if (!r.condition.is_opaque() && plan_->formulas.knows(r.condition))
      claims.push_back({plan_->formulas.compile(r.condition), index});
  // Without an answer of the rule a fact is what the file declares.
  if (!walk.undecided().empty()) return;
  for (ValueId id : node.out)
    if (id != kNoValue) claim_equal(local_facts_[id], id, index);
}

void Planner::claim_equal(const Fact& made, uint32_t value, uint32_t node) {
  Formulas& f = plan_->formulas;
  const PlanValue& planned = plan_->values[value];
  auto& claims = plan_->stages.back().claims;
  if (!made.dims) return;
  if (made.rank() != planned.dims.size()) {
    claims.push_back({f.constant(0), node});
    return;
  }
  for (size_t i = 0; i < planned.dims.size(); ++i) {
    if (!f.knows((*made.dims)[i])) continue;
    const Register size = f.compile((*made.dims)[i]);
    if (size != planned.dims[i]) claims.push_back({f.apply(Op::equal, size, planned.dims[i]), node});
  }
}

}  // namespace anyshape
