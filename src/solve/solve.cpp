#include "solve/solve.h"

#include "solve/axes.h"

namespace anyshape {

SymbolKind Typed::kind(Dim symbol) const {
  const auto it = kinds_.find(symbol);
  return it == kinds_.end() ? SymbolKind::axis : it->second;
}

std::unique_ptr<Assumptions> Typed::ground() const {
  auto assumptions = std::make_unique<Assumptions>(*symbols_);
  for (const AxisSymbol& axis : axes_) assumptions->assume(Condition::ge(axis.symbol, 0));
  for (const Condition& bound : fresh_bounds_) assumptions->assume(bound);
  return assumptions;
}

Typed solve(std::shared_ptr<const Graph> graph) {
  Typed typed;
  typed.graph_ = std::move(graph);
  typed.symbols_ = std::make_shared<Symbols>();
  InputAxes axes = input_axes(*typed.graph_, *typed.symbols_);
  typed.axes_ = std::move(axes.symbols);
  typed.input_facts_ = std::move(axes.facts);

  const auto assumptions = typed.ground();
  Walk walk(*assumptions);
  auto facts = walk.run(*typed.graph_, typed.input_facts_);
  if (facts) {
    typed.facts_ = *std::move(facts);
  } else {
    typed.facts_ = walk.partial();
    typed.facts_.resize(typed.graph_->values.size());
    typed.refusal_ = std::move(facts).error();
  }
  typed.bodies_ = walk.bodies();
  typed.requirements_ = walk.requirements();
  typed.data_conditions_ = walk.data_conditions();
  typed.undecided_ = walk.undecided();
  typed.fresh_bounds_ = walk.fresh_bounds();
  typed.kinds_ = walk.kinds();
  typed.size_claim_used_ = walk.size_claim_used();
  return typed;
}

}  // namespace anyshape
