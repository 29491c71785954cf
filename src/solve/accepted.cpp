#include "solve/accepted.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "base/among.h"
#include "base/effort.h"
#include "solve/budget.h"
#include "solve/fresh_sizes.h"

namespace anyshape {
namespace {

constexpr size_t kMinimiseLimit = 48;
constexpr int kRounds = 4;
constexpr size_t kMaxAlternatives = 8;

struct Candidate {
  Condition condition;
  std::vector<Reason> because;
};
using Candidates = std::vector<Candidate>;

Reason accepted_reason(const Requirement& r) { return {r.node, r.op, r.code, r.sentence}; }

bool mentions_any(const Condition& condition, const std::vector<Dim>& symbols) {
  return std::any_of(symbols.begin(), symbols.end(), [&](Dim symbol) { return condition.mentions(symbol); });
}

// Does `b` follow from `a`, alternative by alternative?
bool implies(const Typed& typed, const Condition& a, const Condition& b) {
  if (a.is_opaque() || b.is_opaque()) return false;
  return std::all_of(a.any_of().begin(), a.any_of().end(), [&](const Condition::Conjunction& all) {
    const auto known = typed.ground();
    for (const Relation& relation : all) known->assume(Condition::of(relation));
    return known->proves(b);
  });
}

// Of conditions on data those that say more than others; which nodes ask for the others is not lost.
void merge_implied(const Typed& typed, std::vector<AcceptedCondition>& all) {
  if (all.size() > kMinimiseLimit) return;
  for (size_t i = all.size(); i-- > 0;)
    for (size_t k = 0; k < all.size(); ++k) {
      if (k == i || !implies(typed, all[k].condition, all[i].condition)) continue;
      all[k].because.insert(all[k].because.begin(), all[i].because.begin(), all[i].because.end());
      all.erase(all.begin() + static_cast<ptrdiff_t>(i));
      break;
    }
}

// Conditions that hold together where this one does: what all of its alternatives have in common, and the rest.
std::vector<Condition> parts_of(const Condition& condition) {
  std::vector<Condition> parts;
  if (condition.is_always() || condition.is_never()) return {condition};
  const auto& any_of = condition.any_of();
  for (const Relation& relation : any_of.front())
    if (std::all_of(any_of.begin(), any_of.end(), [&](const auto& all) { return among(relation, all); }))
      parts.push_back(Condition::of(relation));
  if (any_of.size() > 1) parts.push_back(condition);
  return parts;
}

// What conditions on data still say of accepted shapes.
void leave_out_accepted(const Typed& typed, AcceptedSet& set) {
  const auto known = typed.ground();
  for (const AcceptedCondition& one : set.conditions) known->assume(one.condition);
  for (AcceptedCondition& one : set.on_data) one.condition = known->simplify(one.condition);
  std::erase_if(set.on_data, [](const AcceptedCondition& one) { return one.condition.is_always(); });
}

// What is asked of data-dependent sizes, all of it together, as a condition on axes.
void project_data(const Typed& typed, const std::vector<const Requirement*>& on_data, AcceptedSet& set,
                  Candidates& candidates) {
  if (on_data.empty()) return;
  const auto ground = typed.ground();
  const FreshSizes sizes{typed.kinds(), typed.fresh_bounds()};
  Condition all = Condition::always();
  std::vector<Reason> because;
  for (const Requirement* r : on_data) {
    all = all && whole(*r);
    because.push_back(accepted_reason(*r));
    set.on_data.push_back({whole(*r), {because.back()}});
  }
  Projection projection = without_data(sizes, *ground, all.is_opaque() ? all : with_bounds(sizes, all));
  // Without the bounds it is necessary still.
  if (projection.condition.is_opaque()) projection = {without_data(sizes, *ground, all).condition, false};
  if (!projection.exact) {
    set.exact = false;
    set.not_exact_because.push_back(because.front());
  }
  if (projection.condition.is_opaque()) return;
  for (const Condition& part : parts_of(projection.condition)) {
    // Those of the same axes say more than those of sizes in between.
    std::vector<Reason> direct;
    for (const Requirement* r : on_data)
      if (mentions_any(r->condition, part.symbols())) direct.push_back(accepted_reason(*r));
    candidates.push_back({part, direct.empty() ? because : direct});
  }
}

// s*q == 0 as `q == 0 or s == 0`, s*q >= 1 as `q >= 1 and s >= 1`: sizes are never negative.
Condition factored(const Relation& relation) {
  const Condition whole = Condition::of(relation);
  const bool product_is_one = relation.kind == Relation::Kind::ge;
  if (relation.kind != Relation::Kind::eq && !product_is_one) return whole;
  const Dim expr = product_is_one ? relation.expr + 1 : relation.expr;
  if (expr.is_constant() || expr.is_unknown() || expr.is_symbol()) return whole;
  for (Dim symbol : expr.symbols()) {
    const auto rest = exact_div(expr, symbol);
    if (!rest || rest->is_constant()) continue;
    if (product_is_one) {
      return factored({relation.kind, *rest - 1, 1}) && Condition::ge(symbol, 1);
    }
    return factored({relation.kind, *rest, 1}) || Condition::eq(symbol, 0);
  }
  return whole;
}

// The condition with products of sizes taken apart, where that keeps it small.
Condition factored(const Condition& condition) {
  Condition all = Condition::never();
  for (const auto& conjunction : condition.any_of()) {
    Condition one = Condition::always();
    for (const Relation& relation : conjunction) one = one && factored(relation);
    all = all || one;
  }
  return all.is_opaque() || all.any_of().size() > kMaxAlternatives ? condition : all;
}

Candidates collect(const Typed& typed, AcceptedSet& set) {
  Candidates candidates;
  std::vector<const Requirement*> on_data;
  for (const Requirement& r : typed.requirements()) {
    const Condition condition = whole(r);
    if (r.opaque || condition.is_opaque()) {
      set.exact = false;
      set.not_exact_because.push_back(accepted_reason(r));
    } else if (r.on_data) {
      on_data.push_back(&r);
    } else {
      candidates.push_back({factored(condition), {accepted_reason(r)}});
    }
  }
  project_data(typed, on_data, set, candidates);
  return candidates;
}

std::optional<Dim> only_symbol(const Condition& condition) {
  const auto symbols = condition.symbols();
  return symbols.size() == 1 ? std::optional(symbols[0]) : std::nullopt;
}

std::optional<Condition> shortest(Dim symbol, const Candidates& own) {
  Condition all = Condition::always();
  for (const Candidate& c : own) {
    all = all && c.condition;
    if (all.is_opaque()) return std::nullopt;
    const auto values = PeriodicSet::solve(all, symbol, 0, std::nullopt);
    if (!values) return std::nullopt;
    all = values->empty() ? Condition::never() : values->to_condition(symbol);
  }
  return all.is_opaque() ? std::nullopt : std::optional(all);
}

// The conditions on one symbol alone as one condition in its shortest form, with the nodes that are needed for it.
// False when the set of values cannot be computed; then nothing changes.
bool combine(Dim symbol, Candidates& own, Candidate& out) {
  const auto all = shortest(symbol, own);
  if (!all) return false;
  for (size_t i = 0; i < own.size() && own.size() <= kMinimiseLimit;) {
    Candidates others = own;
    others.erase(others.begin() + static_cast<ptrdiff_t>(i));
    if (shortest(symbol, others) == all) {
      own = std::move(others);
    } else {
      ++i;
    }
  }
  out.condition = *all;
  for (Candidate& c : own) std::move(c.because.begin(), c.because.end(), std::back_inserter(out.because));
  return true;
}

Candidates combine_single_symbols(const Typed& typed, Candidates candidates) {
  std::unordered_map<Dim, Candidates> alone;
  Candidates others, out;
  for (Candidate& c : candidates) {
    const auto symbol = only_symbol(c.condition);
    (symbol ? alone[*symbol] : others).push_back(std::move(c));
  }
  for (const AxisSymbol& axis : typed.axes()) {
    const auto own = alone.find(axis.symbol);
    if (own == alone.end()) continue;
    Candidate one;
    if (combine(axis.symbol, own->second, one)) {
      if (!one.condition.is_always()) out.push_back(std::move(one));
    } else {
      std::move(own->second.begin(), own->second.end(), std::back_inserter(out));
    }
  }
  std::move(others.begin(), others.end(), std::back_inserter(out));
  return out;
}

// Each condition simplified by those before it. True when something changed.
bool simplify_in_order(const Typed& typed, Candidates& candidates) {
  if (candidates.empty()) return false;
  const auto known = typed.ground();
  bool changed = false;
  for (Candidate& c : candidates) {
    const Condition simpler = known->simplify(c.condition);
    changed |= !(simpler == c.condition);
    c.condition = simpler;
    known->assume(simpler);
  }
  std::erase_if(candidates, [](const Candidate& c) { return c.condition.is_always(); });
  return changed;
}

void drop_implied(const Typed& typed, Candidates& candidates) {
  if (candidates.size() > kMinimiseLimit) return;
  for (size_t i = candidates.size(); i-- > 0;) {
    const auto others = typed.ground();
    for (size_t k = 0; k < candidates.size(); ++k)
      if (k != i) others->assume(candidates[k].condition);
    if (others->proves(candidates[i].condition)) candidates.erase(candidates.begin() + static_cast<ptrdiff_t>(i));
  }
}

}  // namespace

AcceptedSet accepted_set(const Typed& typed) {
  const Effort effort(budget::with_nodes(budget::kAccepted, typed.graph().nodes.size()));
  AcceptedSet set;
  Candidates candidates = collect(typed, set);
  set.exact &= typed.undecided().empty();
  set.not_exact_because.insert(set.not_exact_because.end(), typed.undecided().begin(), typed.undecided().end());
  if (typed.refusal()) {
    set.conditions = {{Condition::never(), {typed.refused_by()}}};
    return set;
  }
  for (int round = 0; round < kRounds; ++round) {
    candidates = combine_single_symbols(typed, std::move(candidates));
    if (!simplify_in_order(typed, candidates)) break;
  }
  candidates = combine_single_symbols(typed, std::move(candidates));
  drop_implied(typed, candidates);
  merge_implied(typed, set.on_data);
  set.minimal = !Effort::tired();
  for (Candidate& c : candidates) {
    const bool never = c.condition.is_never();
    set.conditions.push_back({std::move(c.condition), std::move(c.because)});
    if (never) {
      set.conditions = {set.conditions.back()};
      return set;
    }
  }
  leave_out_accepted(typed, set);
  return set;
}

std::unique_ptr<Assumptions> accepted_world(const Typed& typed, const AcceptedSet& accepted) {
  auto world = typed.ground();
  for (const AxisSymbol& axis : typed.axes()) world->assume(Condition::ge(axis.symbol, 1));
  for (const AcceptedCondition& c : accepted.conditions) world->assume(c.condition);
  return world;
}

}  // namespace anyshape
