#include <algorithm>
#include <numeric>

#include "sym/prover.h"

// Proofs of dim >= 0 beyond intervals.
namespace anyshape {
namespace {

constexpr int kLevels = 4;

Dim rest_of(const Monomial* monomial, const Atom* atom) {
  auto rest = divide(monomial, atom->owner->monomial({atom}));
  return *rest ? dim_of(*rest) : Dim(1);
}

}  // namespace

bool Assumptions::Impl::nonnegative(Dim dim, int level) {
  if (dim.is_unknown()) return false;
  if (auto value = dim.constant()) return *value >= 0;
  if (!takes_step()) return false;
  Interval r = range(dim);
  if (r.lo && *r.lo >= 0) return true;
  if (level >= kLevels || (r.hi && *r.hi < 0)) return false;
  return nonnegative_by_quotient(dim, level) || nonnegative_by_extremum(dim, level) || nonnegative_by_facts(dim, level);
}

bool Assumptions::Impl::nonnegative_by_quotient(Dim dim, int level) {
  for (const Term& term : terms_of(dim))
    for (const Atom* atom : term.monomial->atoms) {
      if (atom->kind != AtomKind::floordiv) continue;
      Dim n = atom->args[0], d = atom->args[1];
      Dim factor = rest_of(term.monomial, atom) * term.coefficient;
      // divisor * quotient lies in [n - divisor + 1, n].
      if (auto constant = d.constant()) {
        bool up = nonnegative(factor, kLevels), down = !up && nonnegative(-factor, kLevels);
        if (!up && !down) continue;
        Dim bound = factor * (up ? n - (*constant - 1) : n);
        return nonnegative((dim - dim_of(term)) * d + bound + (*constant - 1), level + 1);
      }
      auto cofactor = anyshape::exact_div(factor, d);
      if (!cofactor || !nonnegative(d - 1, kLevels)) continue;
      bool up = nonnegative(*cofactor, kLevels), down = !up && nonnegative(-*cofactor, kLevels);
      if (!up && !down) continue;
      Dim bound = *cofactor * (up ? n - d + 1 : n);
      return nonnegative(dim - dim_of(term) + bound, level + 1);
    }
  return false;
}

bool Assumptions::Impl::nonnegative_by_extremum(Dim dim, int level) {
  for (const Term& term : terms_of(dim)) {
    const Atom* atom = atom_of(term.monomial);
    if (!atom || (atom->kind != AtomKind::min && atom->kind != AtomKind::max)) continue;
    // -min and +max are at least what any argument gives; the others need every argument.
    bool any = (atom->kind == AtomKind::min) == (term.coefficient < 0);
    auto with = [&](Dim arg) { return nonnegative(dim - dim_of(term) + arg * term.coefficient, level + 1); };
    const Dims& args = atom->args;
    return any ? std::any_of(args.begin(), args.end(), with) : std::all_of(args.begin(), args.end(), with);
  }
  return false;
}

bool Assumptions::Impl::nonnegative_by_facts(Dim dim, int level) {
  if (level >= 2) return false;
  int tries = 24;
  auto known = relations_about(dim);
  const std::vector<Relation> candidates = [&] {
    std::vector<Relation> out;
    for (const Relation* r : known)
      if (r->kind == Relation::Kind::ge || r->kind == Relation::Kind::eq) out.push_back(*r);
    return out;
  }();
  auto attempt = [&](const Term& term, Dim fact) {
    for (const Term& ours : terms_of(fact)) {
      auto cofactor = divide(term.monomial, ours.monomial);
      if (!cofactor || (ours.coefficient < 0) != (term.coefficient < 0)) continue;
      if (--tries < 0) return false;
      if (*cofactor && !nonnegative(dim_of(*cofactor), kLevels)) continue;
      int64_t g = std::gcd(term.coefficient, ours.coefficient);
      Dim multiple = fact * (term.coefficient / g < 0 ? -(term.coefficient / g) : term.coefficient / g);
      if (*cofactor) multiple = multiple * dim_of(*cofactor);
      Dim scaled_dim = dim * (ours.coefficient / g < 0 ? -(ours.coefficient / g) : ours.coefficient / g);
      if (nonnegative(scaled_dim - multiple, level + 1)) return true;
    }
    return false;
  };
  for (const Term& term : terms_of(dim)) {
    Interval part = range(dim_of(term));
    if (part.lo && *part.lo >= 0) continue;
    for (const Relation& r : candidates) {
      if (attempt(term, r.expr)) return true;
      if (r.kind == Relation::Kind::eq && attempt(term, -r.expr)) return true;
    }
  }
  return false;
}

}  // namespace anyshape
