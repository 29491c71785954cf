#include <algorithm>
#include <numeric>

#include "sym/limits.h"
#include "sym/prover.h"

// The answer for one relation.
namespace anyshape {
namespace {

using Kind = Relation::Kind;

// dim minus the multiple of `fact` that removes one of dim's terms; nullopt when there is none.
std::optional<Dim> reduced_decide(Dim dim, Dim fact) {
  if (fact.is_constant()) return std::nullopt;
  const Term lead = terms_of(fact)[0];
  for (const Term& term : terms_of(dim)) {
    auto cofactor = divide(term.monomial, lead.monomial);
    if (!cofactor || term.coefficient % lead.coefficient != 0) continue;
    Dim factor = term.coefficient / lead.coefficient;
    if (*cofactor) factor = factor * dim_of(*cofactor);
    Dim out = dim - factor * fact;
    if (!out.is_unknown()) return out;
  }
  return std::nullopt;
}

Tri negated(Tri t) { return t == Tri::unknown ? t : t == Tri::yes ? Tri::no : Tri::yes; }

}  // namespace

bool Assumptions::Impl::is_zero(Dim dim) {
  for (int round = 0; round < 8; ++round) {
    if (dim == Dim(0)) return true;
    if (dim.is_constant() || dim.is_unknown()) return false;
    bool progress = false;
    for (const Relation* r : relations_about(dim)) {
      if (r->kind != Kind::eq) continue;
      if (auto next = reduced_decide(dim, r->expr)) {
        dim = *next;
        progress = true;
        break;
      }
    }
    if (!progress) return false;
  }
  return false;
}

Tri Assumptions::Impl::decide_divisible(Dim expr, Dim divisor) {
  if (anyshape::exact_div(expr, divisor)) return Tri::yes;
  auto d = divisor.constant();
  if (d) {
    Congruence c = congruence(expr);
    if (c.modulus % *d == 0) return floor_mod(c.residue, *d) == 0 ? Tri::yes : Tri::no;
    if (floor_mod(c.residue, std::gcd(c.modulus, *d)) != 0) return Tri::no;
  }
  Dim rest = expr;
  for (int round = 0; round < 4; ++round) {
    bool progress = false;
    for (const Relation* r : relations_about(rest)) {
      bool same = r->kind == Kind::eq;
      if (r->kind == Kind::divisible) {
        auto known = r->divisor.constant();
        same = r->divisor == divisor || (d && known && *known % *d == 0) ||
               anyshape::exact_div(r->divisor, divisor).has_value();
      }
      if (!same) continue;
      auto next = reduced_decide(rest, r->expr);
      if (!next) continue;
      rest = *next;
      progress = true;
      break;
    }
    Relation left{Kind::divisible, rest, divisor};
    if (Tri decided = normalize(left); decided != Tri::unknown) return decided;
    if (!progress) break;
  }
  // 0 < |expr| < divisor.
  if ((nonnegative(expr - 1) && nonnegative(divisor - expr - 1)) ||
      (nonnegative(-expr - 1) && nonnegative(divisor + expr - 1)))
    return Tri::no;
  return Tri::unknown;
}

Tri Assumptions::Impl::decide(const Relation& original) {
  if (!takes_step()) return Tri::unknown;
  Relation r{original.kind, apply(original.expr), apply(original.divisor)};
  Tri decided = normalize(r);
  if (decided != Tri::unknown || has_unknown(r)) return decided;
  for (const Relation* known : relations_about(r.expr))
    if (*known == r) return Tri::yes;
  switch (r.kind) {
    case Kind::ge:
      if (nonnegative(r.expr)) return Tri::yes;
      return nonnegative(-r.expr - 1) ? Tri::no : Tri::unknown;
    case Kind::ne: {
      Relation equation{Kind::eq, r.expr, 1};
      for (const Relation* known : relations_about(r.expr))
        if (known->kind == Kind::divisible)
          for (const Relation& o : opposite(*known))
            if (o == r) return Tri::no;
      return negated(decide(equation));
    }
    case Kind::eq: {
      for (const Relation* known : relations_about(r.expr))
        if (known->kind == Kind::ne && known->expr == r.expr) return Tri::no;
      if (is_zero(r.expr)) return Tri::yes;
      Congruence c = congruence(r.expr);
      if (c.modulus ? floor_mod(c.residue, c.modulus) != 0 : c.residue != 0) return Tri::no;
      if (nonnegative(r.expr - 1) || nonnegative(-r.expr - 1)) return Tri::no;
      return nonnegative(r.expr) && nonnegative(-r.expr) ? Tri::yes : Tri::unknown;
    }
    case Kind::divisible:
      break;
  }
  for (const Relation& o : opposite(r))
    for (const Relation* known : relations_about(r.expr))
      if (*known == o) return Tri::no;
  return decide_divisible(r.expr, r.divisor);
}

}  // namespace anyshape
