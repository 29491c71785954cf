#include <algorithm>
#include <numeric>

#include "sym/limits.h"
#include "sym/prover.h"

namespace anyshape {
namespace {

Dim remade(const Atom& atom, const Dims& args) {
  switch (atom.kind) {
    case AtomKind::floordiv:
      return floordiv(args[0], args[1]);
    case AtomKind::select:
      return select(*atom.condition, args[0], args[1]);
    case AtomKind::symbol:
      return dim_of(&atom);
    case AtomKind::min:
    case AtomKind::max:
    case AtomKind::broadcast:
      break;
  }
  Dim out = args[0];
  for (size_t i = 1; i < args.size(); ++i)
    out = atom.kind == AtomKind::min   ? min(out, args[i])
          : atom.kind == AtomKind::max ? max(out, args[i])
                                       : broadcast(out, args[i]);
  return out;
}

void choices_in(Dim dim, std::vector<const Atom*>& out) {
  for (const Term& term : terms_of(dim))
    for (const Atom* atom : term.monomial->atoms) {
      for (Dim arg : atom->args) choices_in(arg, out);
      bool choice = atom->kind != AtomKind::symbol && atom->kind != AtomKind::floordiv;
      if (choice && std::find(out.begin(), out.end(), atom) == out.end()) out.push_back(atom);
    }
}

// The part of the sum of which `atom` is a factor once, divided by it: only coefficients that `unit` divides.
Dim cofactor(Dim dim, const Atom* atom, int64_t unit) {
  Dim out = 0;
  for (const Term& term : terms_of(dim)) {
    const auto& atoms = term.monomial->atoms;
    if (std::count(atoms.begin(), atoms.end(), atom) != 1 || term.coefficient % unit != 0) continue;
    Dim part = term.coefficient;
    for (const Atom* other : atoms)
      if (other != atom) part = part * dim_of(other);
    out = out + part;
  }
  return out;
}

}  // namespace

// numerator - remainder where the remainder is one number; a symbolic divisor must divide exactly.
std::optional<Dim> Assumptions::Impl::multiple_below(Dim numerator, Dim divisor) {
  if (auto d = divisor.constant()) {
    Congruence c = congruence(numerator);
    if (c.modulus % *d != 0) return std::nullopt;
    return numerator - floor_mod(c.residue, *d);
  }
  steps = limits::kProveSteps;
  if (prove(Condition::ge(divisor, 1), 0) != Tri::yes) return std::nullopt;
  return prove(Condition::divisible(numerator, divisor), 0) == Tri::yes ? std::optional(numerator) : std::nullopt;
}

Dim Assumptions::Impl::multiplied_out(Dim dim) {
  std::vector<const Atom*> quotients;
  for (const Term& term : terms_of(dim))
    for (const Atom* atom : term.monomial->atoms)
      if (atom->kind == AtomKind::floordiv && std::find(quotients.begin(), quotients.end(), atom) == quotients.end())
        quotients.push_back(atom);
  for (const Atom* atom : quotients) {
    Dim divisor = atom->args[1];
    Dim factor = cofactor(dim, atom, divisor.constant().value_or(1));
    auto times = anyshape::exact_div(factor, divisor);
    if (factor == Dim(0) || !times) continue;
    auto whole = multiple_below(atom->args[0], divisor);
    if (!whole) continue;
    Dim next = dim - factor * dim_of(atom) + *times * *whole;
    if (!next.is_unknown()) dim = next;
  }
  return dim;
}

// floor((m + c) / d) = floor(m / d) + floor((m mod d + c) / d), and the last may be the same for all m that can be.
std::optional<Dim> Assumptions::Impl::without_offset(const Atom& quotient) {
  auto d = quotient.args[1].constant();
  int64_t c = constant_of(quotient.args[0]);
  if (!d || c == 0 || *d > INT32_MAX || c > INT32_MAX || c < -INT32_MAX) return std::nullopt;
  Dim rest = without_constant(quotient.args[0]);
  Congruence known = congruence(rest);
  int64_t step = std::gcd(known.modulus, *d);
  if (step <= 1) return std::nullopt;
  int64_t low = floor_mod(known.residue, step);
  int64_t carry = floor_div(low + c, *d);
  if (floor_div(*d - step + low + c, *d) != carry) return std::nullopt;
  return floordiv(rest, *d) + carry;
}

std::optional<Dim> Assumptions::Impl::without_choice(Dim dim) {
  if (!dim.node() || dim.is_unknown() || dim.node()->symbols.size() != 1) return std::nullopt;
  std::vector<const Atom*> choices;
  choices_in(dim, choices);
  for (const Atom* atom : choices)
    for (Dim arg : atom->args) {
      Dim candidate = replace(dim, atom, arg);
      if (candidate.is_unknown()) continue;
      Condition same = Condition::eq(dim, candidate);
      if (same.is_always() || (!same.is_opaque() && decide_univariate(same) == Tri::yes)) return candidate;
    }
  return std::nullopt;
}

std::optional<Dim> Assumptions::Impl::resolved(const Atom& atom) {
  Dims args;
  for (Dim arg : atom.args) args.push_back(multiplied_out(arg));
  if (args != atom.args) return remade(atom, args);
  if (atom.kind == AtomKind::floordiv)
    if (auto out = without_offset(atom)) return out;
  return without_choice(dim_of(&atom));
}

}  // namespace anyshape
