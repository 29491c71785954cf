#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "solve/solve.h"

namespace anyshape {

// What is known of the values where no axis is empty and the conditions hold: what else operators mean there is left
// out of the sizes.
class FullSizes {
 public:
  FullSizes(const Typed& typed, const std::vector<Condition>& conditions) : known_(typed.ground()) {
    for (const AxisSymbol& axis : typed.axes()) known_->assume(Condition::ge(axis.symbol, 1));
    for (const Condition& one : conditions) known_->assume(one);
    main_ = plain(typed.facts());
    for (const auto& [graph, facts] : typed.bodies()) bodies_.emplace(graph, plain(facts));
  }
  const Facts& main() const { return main_; }
  bool follows(const Condition& from, const Condition& to) const {
    const Assumptions::Scope scope(*known_);
    known_->assume(from);
    return known_->proves(to);
  }
  // Null: the body was not walked.
  const Facts* body(const Graph& graph) const {
    const auto it = bodies_.find(&graph);
    return it == bodies_.end() || it->second.size() < graph.values.size() ? nullptr : &it->second;
  }

 private:
  Facts plain(Facts facts) {
    for (Fact& fact : facts) {
      if (fact.dims)
        for (Dim& dim : *fact.dims) dim = plain(dim);
      if (!fact.elements || fact.constant) continue;
      Dims elements = *fact.elements;
      for (Dim& entry : elements) entry = plain(entry);
      if (elements != *fact.elements) fact.elements = std::make_shared<const Dims>(std::move(elements));
    }
    return facts;
  }
  Dim plain(Dim dim) {
    if (dim.is_constant()) return dim;
    const auto [it, first] = known_as_.try_emplace(dim, dim);
    if (first) it->second = known_->simplify(dim);
    return it->second;
  }

  std::unique_ptr<Assumptions> known_;
  std::unordered_map<Dim, Dim> known_as_;
  Facts main_;
  std::unordered_map<const Graph*, Facts> bodies_;
};

}  // namespace anyshape
