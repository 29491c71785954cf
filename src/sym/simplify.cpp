#include <algorithm>

#include "base/effort.h"
#include "sym/limits.h"
#include "sym/prover.h"

namespace anyshape {
namespace {

using Kind = Relation::Kind;

Condition as_condition(const Condition::Conjunction& conjunction) {
  Condition out;
  for (const Relation& r : conjunction) out = out && Condition::of(r);
  return out;
}

// The atoms of an expression, those inside others first.
void atoms_of(Dim dim, std::vector<const Atom*>& out) {
  for (const Term& term : terms_of(dim))
    for (const Atom* atom : term.monomial->atoms) {
      if (atom->kind == AtomKind::symbol) continue;
      for (Dim arg : atom->args) atoms_of(arg, out);
      if (std::find(out.begin(), out.end(), atom) == out.end()) out.push_back(atom);
    }
}

std::optional<Dim> resolved_extremum(const Assumptions& known, const Atom& atom) {
  Dims kept = atom.args;
  for (size_t i = 0; i < kept.size() && kept.size() > 1;) {
    bool loses = std::any_of(kept.begin(), kept.end(), [&](Dim other) {
      if (other == kept[i]) return false;
      return known.proves(atom.kind == AtomKind::min ? Condition::ge(kept[i], other) : Condition::le(kept[i], other));
    });
    if (loses)
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
  if (kept.size() == atom.args.size()) return std::nullopt;
  Dim result = kept[0];
  for (size_t i = 1; i < kept.size(); ++i)
    result = atom.kind == AtomKind::min ? min(result, kept[i]) : max(result, kept[i]);
  return result;
}

std::optional<Dim> resolved_broadcast(const Assumptions& known, const Atom& atom) {
  Dims kept;
  for (Dim arg : atom.args) {
    if (known.proves(Condition::eq(arg, 1))) continue;
    // An extent that is not 1 is the result, by the contract of broadcast.
    if (known.proves(Condition::ne(arg, 1))) return arg;
    bool same = std::any_of(kept.begin(), kept.end(), [&](Dim k) { return known.proves(Condition::eq(k, arg)); });
    if (!same) kept.push_back(arg);
  }
  if (kept.size() == atom.args.size()) return std::nullopt;
  Dim result = 1;
  for (Dim arg : kept) result = broadcast(result, arg);
  return result;
}

std::optional<Dim> resolved_quotient(const Assumptions& known, const Atom& atom) {
  Dim n = atom.args[0], d = atom.args[1];
  if (!d.is_constant() && !known.proves(Condition::ge(d, 1))) return std::nullopt;
  if (known.proves(Condition::ge(n, 0)) && known.proves(Condition::lt(n, d))) return Dim(0);
  Interval range = known.range(dim_of(&atom));
  if (range.lo && range.lo == range.hi) return Dim(*range.lo);
  // A common factor that is provably >= 1 cancels.
  const Term lead = terms_of(d).empty() ? Term{} : terms_of(d)[0];
  for (size_t i = 0; lead.monomial && i < lead.monomial->atoms.size(); ++i) {
    Dim factor = dim_of(lead.monomial->atoms[i]);
    auto x = exact_div(n, factor), y = exact_div(d, factor);
    if (x && y && known.proves(Condition::ge(factor, 1))) return floordiv(*x, *y);
  }
  return std::nullopt;
}

std::optional<Dim> resolved(const Assumptions& known, const Atom& atom) {
  switch (atom.kind) {
    case AtomKind::symbol:
      return std::nullopt;
    case AtomKind::floordiv:
      return resolved_quotient(known, atom);
    case AtomKind::broadcast:
      return resolved_broadcast(known, atom);
    case AtomKind::min:
    case AtomKind::max:
      return resolved_extremum(known, atom);
    case AtomKind::select:
      break;
  }
  Tri holds = known.prove(*atom.condition);
  if (holds == Tri::unknown) return std::nullopt;
  return atom.args[holds == Tri::yes ? 0 : 1];
}

// Factors common to all terms say nothing in `expr REL 0` when they are provably >= 1; in an equation, not 0.
Dim without_factors(const Assumptions& known, Kind kind, Dim expr) {
  if (constant_of(expr) != 0 || terms_of(expr).size() < 2) return expr;
  const std::vector<const Atom*> atoms = terms_of(expr)[0].monomial->atoms;
  for (const Atom* atom : atoms) {
    auto quotient = exact_div(expr, dim_of(atom));
    if (!quotient) continue;
    Dim factor = dim_of(atom);
    if (known.proves(kind == Kind::ge ? Condition::ge(factor, 1) : Condition::ne(factor, 0))) expr = *quotient;
  }
  return expr;
}

Condition simplify_relation(const Assumptions& known, const Relation& r) {
  Tri decided = known.prove(Condition::of(r));
  if (decided != Tri::unknown) return decided == Tri::yes ? Condition::always() : Condition::never();
  Relation out{r.kind, known.simplify(r.expr), known.simplify(r.divisor)};
  if (out.expr.is_unknown() || out.divisor.is_unknown()) return Condition::of(r);
  if (r.kind != Kind::divisible) out.expr = without_factors(known, r.kind, out.expr);
  Condition made = Condition::of(out);
  return made.is_opaque() ? Condition::of(r) : made;
}

size_t size_of(const Condition& condition) {
  size_t n = 0;
  for (const auto& all : condition.any_of()) n += 1 + all.size();
  return n;
}

// Leaves out relations that follow from the others of the conjunction.
Condition thinned(Assumptions& known, const Condition& condition) {
  if (condition.any_of().size() != 1) return condition;
  Condition::Conjunction kept = condition.any_of()[0];
  for (size_t i = kept.size(); i-- > 0 && kept.size() > 1;) {
    Assumptions::Scope scope(known);
    for (size_t j = 0; j < kept.size(); ++j)
      if (j != i) known.assume(Condition::of(kept[j]));
    Tri given_others = known.prove(Condition::of(kept[i]));
    if (given_others == Tri::no) return Condition::never();
    if (given_others == Tri::yes) kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return as_condition(kept);
}

// The same set over the symbol's range, where one symbol is all the condition mentions and the text gets shorter.
Condition reworded(const Assumptions& known, const Condition& condition) {
  auto symbols = condition.symbols();
  if (symbols.size() != 1) return condition;
  Interval range = known.range(symbols[0]);
  if (!range.lo) return condition;
  auto set = PeriodicSet::solve(condition, symbols[0], *range.lo, range.hi);
  if (!set) return condition;
  Condition made = set->to_condition(symbols[0]);
  bool atoms = std::any_of(condition.any_of().begin(), condition.any_of().end(), [&](const auto& all) {
    return std::any_of(all.begin(), all.end(), [&](const Relation& r) {
      std::vector<const Atom*> inner;
      atoms_of(r.expr, inner);
      return !inner.empty() || without_constant(r.expr) != symbols[0] || !r.divisor.is_constant();
    });
  });
  bool shorter = size_of(made) <= size_of(condition) || (atoms && size_of(made) <= size_of(condition) + 8);
  return made.is_opaque() || !shorter ? condition : made;
}

}  // namespace

Dim Assumptions::simplify(Dim given) const {
  if (given.is_constant() || given.is_unknown() || Effort::tired()) return given;
  return impl_->remembered(impl_->simplified, given, [&] {
    Dim dim = given;
    for (int round = 0; round < 8; ++round) {
      dim = impl_->apply(dim);
      if (dim.is_constant() || dim.is_unknown()) return dim;
      if (Interval r = range(dim); r.lo && r.lo == r.hi) return Dim(*r.lo);
      const Dim start = dim;
      dim = impl_->multiplied_out(dim);
      if (auto chosen = impl_->without_choice(dim)) dim = *chosen;
      std::vector<const Atom*> atoms;
      atoms_of(dim, atoms);
      bool changed = dim != start;
      for (const Atom* atom : atoms) {
        auto value = resolved(*this, *atom);
        if (!value) value = impl_->resolved(*atom);
        if (!value || value->is_unknown()) continue;
        Dim next = replace(dim, atom, *value);
        if (next.is_unknown() || next == dim) continue;
        dim = next;
        changed = true;
        break;
      }
      if (!changed) return dim;
    }
    return dim;
  });
}

Condition Assumptions::simplify(const Condition& original) const {
  if (original.is_opaque() || Effort::tired()) return original;
  Tri decided = prove(original);
  if (decided != Tri::unknown) return decided == Tri::yes ? Condition::always() : Condition::never();
  auto& self = const_cast<Assumptions&>(*this);
  std::vector<Condition> parts;
  const Condition applied = impl_->apply(original);
  for (const auto& conjunction : applied.any_of()) {
    Condition all;
    for (const Relation& r : conjunction) all = all && simplify_relation(*this, r);
    if (all.is_opaque()) all = as_condition(conjunction);
    if (prove(all) == Tri::no) continue;
    parts.push_back(thinned(self, all));
  }
  // A disjunct that implies the rest of the disjunction adds nothing.
  for (size_t i = parts.size(); i-- > 0 && parts.size() > 1;) {
    Condition rest = Condition::never();
    for (size_t j = 0; j < parts.size(); ++j)
      if (j != i) rest = rest || parts[j];
    Scope scope(self);
    self.assume(parts[i]);
    if (proves(rest)) parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
  }
  Condition out = Condition::never();
  for (const Condition& part : parts) out = out || part;
  if (out.is_opaque()) return original;
  return reworded(*this, out);
}

}  // namespace anyshape
