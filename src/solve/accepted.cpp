#include "solve/accepted.h"

#include <algorithm>

namespace anyshape {
namespace {

constexpr size_t kMinimiseLimit = 48;
constexpr int kRounds = 4;
constexpr size_t kMaxAlternatives = 8;

struct Candidate {
  Condition condition;
  std::vector<Because> because;
};
using Candidates = std::vector<Candidate>;

Because because_of(const Requirement& r) { return {r.node, r.op, r.code, r.sentence}; }
Because because_of(const Remark& r) { return {r.node, r.op, r.code, r.sentence}; }

Condition whole(const Requirement& r) { return r.path.is_always() ? r.condition : !r.path || r.condition; }

bool on_axes(const Typed& typed, const Condition& condition) {
  const auto symbols = condition.symbols();
  return std::all_of(symbols.begin(), symbols.end(), [&](Dim s) { return typed.kind(s) == SymbolKind::axis; });
}

bool mentions_any(const Condition& condition, const std::vector<Dim>& symbols) {
  return std::any_of(symbols.begin(), symbols.end(), [&](Dim symbol) { return condition.mentions(symbol); });
}

// The condition and what bounds the data-dependent sizes in it by axes.
Condition with_bounds(const Typed& typed, Condition condition) {
  std::vector<Dim> on_data;
  for (Dim symbol : condition.symbols())
    if (typed.kind(symbol) == SymbolKind::data) on_data.push_back(symbol);
  for (const Condition& bound : typed.fresh_bounds())
    if (bound.symbols().size() > 1 && mentions_any(bound, on_data)) condition = condition && bound;
  return condition;
}

// exists values for the data-dependent sizes: the conjunction of what is asked of them, without them.
void project_data(const Typed& typed, const std::vector<const Requirement*>& on_data, AcceptedSet& set,
                  Candidates& candidates) {
  if (on_data.empty()) return;
  const auto ground = typed.ground();
  Projection projection{Condition::always(), true};
  std::vector<Because> because;
  for (const Requirement* r : on_data) {
    projection.condition = projection.condition && whole(*r);
    because.push_back(because_of(*r));
    set.on_data.push_back({whole(*r), {because.back()}});
  }
  if (!projection.condition.is_opaque()) projection.condition = with_bounds(typed, projection.condition);
  if (!projection.condition.is_opaque())
    for (Dim symbol : projection.condition.symbols()) {
      if (typed.kind(symbol) != SymbolKind::data) continue;
      const Projection step = eliminate(projection.condition, symbol, *ground);
      projection = {step.condition, projection.exact && step.exact};
    }
  projection.exact &= !projection.condition.is_opaque();
  // Bounds may be sizes that no expression of the axes can write.
  if (!projection.condition.is_opaque() && !on_axes(typed, projection.condition))
    projection = {Condition::opaque(), false};
  if (!projection.exact) {
    set.exact = false;
    set.not_exact_because.push_back(because.front());
  }
  if (!projection.condition.is_opaque()) candidates.push_back({projection.condition, because});
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
      set.not_exact_because.push_back(because_of(r));
    } else if (r.on_data) {
      on_data.push_back(&r);
    } else {
      candidates.push_back({factored(condition), {because_of(r)}});
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
  return all;
}

// The conditions on one symbol alone as one condition in its shortest form, with the nodes that are needed for it.
// False when the set of values cannot be computed; then nothing changes.
bool combine(Dim symbol, Candidates own, Candidate& out) {
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
  for (const Candidate& c : own) out.because.insert(out.because.end(), c.because.begin(), c.because.end());
  return true;
}

Candidates combine_single_symbols(const Typed& typed, Candidates candidates) {
  Candidates out;
  for (const AxisSymbol& axis : typed.axes()) {
    Candidates own;
    for (const Candidate& c : candidates)
      if (only_symbol(c.condition) == axis.symbol) own.push_back(c);
    Candidate one;
    if (own.empty()) continue;
    if (combine(axis.symbol, own, one)) {
      if (!one.condition.is_always()) out.push_back(std::move(one));
    } else {
      out.insert(out.end(), own.begin(), own.end());
    }
  }
  for (Candidate& c : candidates)
    if (!only_symbol(c.condition)) out.push_back(std::move(c));
  return out;
}

// Each condition simplified by those before it. True when something changed.
bool simplify_in_order(const Typed& typed, Candidates& candidates) {
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
  AcceptedSet set;
  Candidates candidates = collect(typed, set);
  for (const Remark& r : typed.undecided()) {
    set.exact = false;
    set.not_exact_because.push_back(because_of(r));
  }
  if (typed.refusal()) {
    const Error& e = *typed.refusal();
    set.conditions = {{Condition::never(), {{e.place, "", e.code, e.message}}}};
    return set;
  }
  for (int round = 0; round < kRounds; ++round) {
    candidates = combine_single_symbols(typed, std::move(candidates));
    if (!simplify_in_order(typed, candidates)) break;
  }
  candidates = combine_single_symbols(typed, std::move(candidates));
  drop_implied(typed, candidates);
  for (Candidate& c : candidates) {
    const bool never = c.condition.is_never();
    set.conditions.push_back({std::move(c.condition), std::move(c.because)});
    if (never) {
      set.conditions = {set.conditions.back()};
      break;
    }
  }
  return set;
}

}  // namespace anyshape
