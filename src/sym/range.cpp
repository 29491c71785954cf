#include <algorithm>
#include <numeric>

#include "sym/prover.h"

namespace anyshape {
namespace {

Interval divided(const Interval& n, const Interval& d) {
  // The facts of a case that cannot be may contradict each other, and then there is no divisor at all.
  if (!d.lo || *d.lo < 1 || (d.hi && *d.hi < *d.lo)) return {};
  Interval out;
  // The quotient is monotone in n, and in d with the sign of n.
  if (n.lo) {
    if (*n.lo < 0)
      out.lo = floor_div(*n.lo, *d.lo);
    else
      out.lo = d.hi ? floor_div(*n.lo, *d.hi) : 0;
  }
  if (n.hi) {
    if (*n.hi >= 0)
      out.hi = floor_div(*n.hi, *d.lo);
    else
      out.hi = d.hi ? floor_div(*n.hi, *d.hi) : -1;
  }
  return out;
}

}  // namespace

Interval Assumptions::Impl::range(const Atom* atom) {
  if (auto found = ranges.find(atom); found != ranges.end()) return found->second;
  Interval computed = compute_range(*atom);
  if (auto key = keys.find(dim_of(atom)); key != keys.end())
    computed = intersected(computed, {key->second.lo, key->second.hi});
  return ranges[atom] = computed;
}

Interval Assumptions::Impl::compute_range(const Atom& atom) {
  if (atom.kind == AtomKind::symbol) {
    auto found = facts.find(&atom);
    if (found == facts.end()) return {};
    if (found->second.value)
      if (auto value = apply(dim_of(&atom)).constant()) return {*value, *value};
    return {found->second.lo, found->second.hi};
  }
  if (atom.kind == AtomKind::floordiv) return divided(range(atom.args[0]), range(atom.args[1]));
  Interval out = range(atom.args[0]);
  bool all_positive = out.lo && *out.lo >= 1;
  std::optional<int64_t> greatest_low = out.lo;
  for (size_t i = 1; i < atom.args.size(); ++i) {
    Interval next = range(atom.args[i]);
    all_positive = all_positive && next.lo && *next.lo >= 1;
    if (all_positive) greatest_low = std::max(greatest_low, next.lo);
    Interval joint = hull_of(out, next);
    if (atom.kind == AtomKind::min)
      joint.hi = out.hi && next.hi ? std::min(out.hi, next.hi) : out.hi ? out.hi : next.hi;
    if (atom.kind == AtomKind::max) joint.lo = std::max(out.lo, next.lo);
    out = joint;
  }
  if (atom.kind == AtomKind::broadcast && all_positive) out.lo = greatest_low;
  return out;
}

Interval Assumptions::Impl::natural_range(Dim dim) {
  Interval sum{constant_of(dim), constant_of(dim)};
  for (const Term& term : terms_of(dim)) {
    Interval part{1, 1};
    const auto& atoms = term.monomial->atoms;
    for (size_t i = 0; i < atoms.size();) {
      size_t power = 1;
      while (i + power < atoms.size() && atoms[i + power] == atoms[i]) ++power;
      Interval one = range(atoms[i]), raised = one;
      for (size_t k = 1; k < power; ++k) raised = raised * one;
      if (power % 2 == 0) raised = intersected(raised, {0, std::nullopt});
      part = part * raised;
      i += power;
    }
    sum = sum + scaled(part, term.coefficient);
  }
  return sum;
}

std::optional<int64_t> Assumptions::Impl::shifted_low(Dim dim) {
  // Each atom becomes its lower bound plus something >= 0 (or its upper bound minus that), written as the same atom.
  Dim shifted = constant_of(dim);
  for (const Term& term : terms_of(dim)) {
    Dim part = term.coefficient;
    for (const Atom* atom : term.monomial->atoms) {
      Interval r = range(atom);
      if (!r.lo && !r.hi) return std::nullopt;
      part = part * (r.lo ? dim_of(atom) + *r.lo : Dim(*r.hi) - dim_of(atom));
    }
    shifted = shifted + part;
  }
  if (shifted.is_unknown()) return std::nullopt;
  Interval sum{constant_of(shifted), std::nullopt};
  for (const Term& term : terms_of(shifted)) {
    if (term.coefficient > 0) continue;
    Interval part{term.coefficient, term.coefficient};
    for (const Atom* atom : term.monomial->atoms) {
      Interval r = range(atom);
      Interval width{0, std::nullopt};
      int64_t size;
      if (r.lo && r.hi && !__builtin_sub_overflow(*r.hi, *r.lo, &size)) width.hi = size;
      part = part * width;
    }
    sum = sum + Interval{part.lo, std::nullopt};
  }
  return sum.lo;
}

Interval Assumptions::Impl::range(Dim dim) {
  if (auto value = dim.constant()) return {*value, *value};
  if (dim.is_unknown()) return {};
  if (const Atom* atom = atom_of(dim)) return range(atom);
  Interval out = natural_range(dim);
  bool products = std::any_of(terms_of(dim).begin(), terms_of(dim).end(),
                              [](const Term& t) { return t.monomial->atoms.size() > 1; });
  if (products && terms_of(dim).size() > 1) {
    out = intersected(out, {shifted_low(dim), std::nullopt});
    if (auto low = shifted_low(-dim)) out = intersected(out, {std::nullopt, -*low});
  }
  if (auto m = as_modulus(dim))
    if (Interval d = range(m->divisor); d.lo && *d.lo >= 1)
      out = intersected(out,
                        Interval{m->offset, m->offset} + Interval{0, d.hi ? std::optional(*d.hi - 1) : std::nullopt});
  int64_t g = content(dim);
  Dim key = divide_down(without_constant(dim), leading(dim) < 0 ? -g : g);
  if (auto found = keys.find(key); found != keys.end()) {
    Interval by_key{found->second.lo, found->second.hi};
    out = intersected(out, scaled(by_key, leading(dim) < 0 ? -g : g) + Interval{constant_of(dim), constant_of(dim)});
  }
  return out;
}

Congruence Assumptions::Impl::congruence(const Atom& atom) {
  if (atom.kind == AtomKind::symbol) {
    auto found = facts.find(&atom);
    return found == facts.end() ? Congruence{} : found->second.congruence;
  }
  if (atom.kind != AtomKind::floordiv) {
    Congruence out = congruence(atom.args[0]);
    for (size_t i = 1; i < atom.args.size(); ++i) {
      Congruence next = congruence(atom.args[i]);
      int64_t difference;
      if (__builtin_sub_overflow(out.residue, next.residue, &difference)) return {};
      out.modulus = std::gcd(std::gcd(out.modulus, next.modulus), difference);
      if (out.modulus) out.residue = floor_mod(out.residue, out.modulus);
    }
    return out;
  }
  auto d = atom.args[1].constant();
  Congruence n = congruence(atom.args[0]);
  if (!d || n.modulus % *d != 0) return {};
  return {n.modulus / *d, floor_div(n.residue, *d)};
}

Congruence Assumptions::Impl::congruence(Dim dim) {
  Congruence sum{0, constant_of(dim)};
  for (const Term& term : terms_of(dim)) {
    Congruence part{0, term.coefficient};
    for (const Atom* atom : term.monomial->atoms) part = part * congruence(*atom);
    sum = sum + part;
  }
  return sum;
}

}  // namespace anyshape
