#include <algorithm>
#include <numeric>

#include "sym/prover.h"

namespace anyshape {

using Kind = Relation::Kind;

void Assumptions::Impl::assume(const Condition& condition) {
  marks.push_back(trail.size());
  stamps.push_back(++last_stamp);
  all.push_back(condition);
  Effort::step(2);
  if (condition.is_opaque() || Effort::tired()) return;
  if (condition.is_never()) {
    trail.push_back([this, was = contradiction] { contradiction = was; });
    contradiction = true;
    return;
  }
  if (condition.any_of().size() == 1) {
    for (const Relation& r : condition.any_of()[0]) add(r);
    return;
  }
  trail.push_back([this] { disjunctions.pop_back(); });
  disjunctions.push_back(condition);
  alternatives.reset();
  hull(condition);
}

void Assumptions::Impl::undo(size_t count) {
  if (all.size() <= count) return;
  size_t mark = marks[count];
  while (trail.size() > mark) {
    trail.back()();
    trail.pop_back();
  }
  all.resize(count);
  marks.resize(count);
  stamps.resize(count);
  changed();
}

void Assumptions::Impl::changed() {
  applied.clear();
  final_values.clear();
  ranges.clear();
  alternatives.reset();
}

void Assumptions::Impl::add(Relation r) {
  changed();
  r.expr = apply(r.expr);
  r.divisor = apply(r.divisor);
  Tri decided = normalize(r);
  if (has_unknown(r) || decided == Tri::yes) return;
  if (decided == Tri::no) {
    trail.push_back([this, was = contradiction] { contradiction = was; });
    contradiction = true;
    return;
  }
  auto about = key_bound(r);
  const Atom* symbol = about ? atom_of(about->key) : nullptr;
  bool plain = symbol && symbol->kind == AtomKind::symbol;
  if (r.kind == Kind::eq && solve_for_symbol(r.expr)) return;
  if (r.kind == Kind::ge && plain) {
    bound(symbol, about->lower ? std::optional(about->value) : std::nullopt,
          about->lower ? std::nullopt : std::optional(about->value));
    return;
  }
  if (r.kind == Kind::ne && plain) {
    Interval now = range(symbol);
    if (now.lo == about->value) bound(symbol, about->value + 1, std::nullopt);
    if (now.hi == about->value) bound(symbol, std::nullopt, about->value - 1);
  }
  if (r.kind == Kind::divisible)
    if (const Atom* s = atom_of(without_constant(r.expr)); s && s->kind == AtomKind::symbol)
      if (auto d = r.divisor.constant()) congruent(s, *d, floor_mod(-constant_of(r.expr), *d));
  keep(r);
}

void Assumptions::Impl::keep(const Relation& r) {
  size_t index = relations.size();
  relations.push_back(r);
  std::vector<const Atom*> about;
  for (Dim dim : {r.expr, r.divisor})
    if (dim.node()) about.insert(about.end(), dim.node()->symbols.begin(), dim.node()->symbols.end());
  std::sort(about.begin(), about.end());
  about.erase(std::unique(about.begin(), about.end()), about.end());
  for (const Atom* s : about) mentions[s].push_back(index);
  trail.push_back([this, about] {
    for (const Atom* s : about) mentions[s].pop_back();
    relations.pop_back();
  });
  auto key = key_bound(r);
  if (!key || r.kind == Kind::ne) return;
  KeyRange& range = keys[key->key];
  trail.push_back([this, k = key->key, was = range] { keys[k] = was; });
  if ((r.kind == Kind::eq || key->lower) && (!range.lo || key->value > *range.lo)) range.lo = key->value;
  if ((r.kind == Kind::eq || !key->lower) && (!range.hi || key->value < *range.hi)) range.hi = key->value;
  if (range.lo && range.hi && *range.lo > *range.hi) {
    trail.push_back([this, was = contradiction] { contradiction = was; });
    contradiction = true;
  }
}

void Assumptions::Impl::bound(const Atom* symbol, std::optional<int64_t> lo, std::optional<int64_t> hi) {
  SymbolFacts& f = facts[symbol];
  trail.push_back([this, symbol, was = f] { facts[symbol] = was; });
  if (lo && (!f.lo || *lo > *f.lo)) f.lo = lo;
  if (hi && (!f.hi || *hi < *f.hi)) f.hi = hi;
  if (f.congruence.modulus > 1) {
    int64_t m = f.congruence.modulus, up, down;
    if (f.lo && !__builtin_add_overflow(*f.lo, floor_mod(f.congruence.residue - floor_mod(*f.lo, m), m), &up))
      f.lo = up;
    if (f.hi && !__builtin_sub_overflow(*f.hi, floor_mod(floor_mod(*f.hi, m) - f.congruence.residue, m), &down))
      f.hi = down;
  }
  changed();
  if (!f.lo || !f.hi) return;
  if (*f.lo > *f.hi) {
    trail.push_back([this, was = contradiction] { contradiction = was; });
    contradiction = true;
  } else if (*f.lo == *f.hi && !f.value) {
    set_value(symbol, *f.lo);
  }
}

void Assumptions::Impl::congruent(const Atom* symbol, int64_t modulus, int64_t residue) {
  SymbolFacts& f = facts[symbol];
  const Congruence old = f.congruence;
  int64_t m = old.modulus, g = std::gcd(m, modulus), both;
  if (floor_mod(residue - old.residue, g) != 0) {
    trail.push_back([this, was = contradiction] { contradiction = was; });
    contradiction = true;
    return;
  }
  if (m % modulus == 0 || __builtin_mul_overflow(m / g, modulus, &both) || both > (int64_t{1} << 30)) return;
  int64_t r = old.residue;
  // At most modulus / g steps; only small moduli are merged exactly.
  if (modulus / g > 4096) {
    if (m != 1) return;
    r = residue;
  }
  while (floor_mod(r, modulus) != residue) r += m;
  trail.push_back([this, symbol, was = old] { facts[symbol].congruence = was; });
  f.congruence = {both, floor_mod(r, both)};
  bound(symbol, std::nullopt, std::nullopt);
}

bool Assumptions::Impl::solve_for_symbol(Dim equation) {
  // Too long with the values put in: solved, it might make a symbol its own value.
  if (mentions_valued(equation)) return false;
  const Term* best = nullptr;
  for (const Term& term : terms_of(equation)) {
    const Atom* s = atom_of(term.monomial);
    if (!s || s->kind != AtomKind::symbol || (term.coefficient != 1 && term.coefficient != -1)) continue;
    if ((equation - dim_of(term)).mentions(dim_of(s))) continue;
    if (!best || s->id > atom_of(best->monomial)->id) best = &term;
  }
  if (!best) return false;
  const Atom* symbol = atom_of(best->monomial);
  Dim rest = equation - dim_of(*best);
  Dim value = best->coefficient == 1 ? -rest : rest;
  if (value.is_unknown()) return false;
  set_value(symbol, value);
  return true;
}

void Assumptions::Impl::set_value(const Atom* symbol, Dim value) {
  SymbolFacts& f = facts[symbol];
  const SymbolFacts was = f;
  trail.push_back([this, symbol, was] { facts[symbol] = was; });
  f.value = value;
  changed();
  if (was.lo) add({Kind::ge, value - *was.lo, 1});
  if (was.hi) add({Kind::ge, Dim(*was.hi) - value, 1});
  if (was.congruence.modulus > 1) add({Kind::divisible, value - was.congruence.residue, was.congruence.modulus});
  auto about = mentions.find(symbol);
  if (about == mentions.end()) return;
  const std::vector<size_t> indices = about->second;
  for (size_t index : indices) {
    if (Effort::tired()) return;
    add(Relation(relations[index]));
  }
}

void Assumptions::Impl::hull(const Condition& disjunction) {
  for (const Relation& first : disjunction.any_of()[0]) {
    auto key = key_bound(first);
    if (!key) continue;
    std::optional<Interval> hull;
    for (const auto& conjunction : disjunction.any_of()) {
      Interval one;
      for (const Relation& r : conjunction) {
        auto b = key_bound(r);
        if (!b || b->key != key->key || r.kind == Kind::ne) continue;
        if (r.kind == Kind::eq || b->lower) one.lo = b->value;
        if (r.kind == Kind::eq || !b->lower) one.hi = b->value;
      }
      hull = hull ? hull_of(*hull, one) : one;
    }
    if (hull->lo) add(at_least(key->key, *hull->lo));
    if (hull->hi) add(at_most(key->key, *hull->hi));
  }
}

const Dim* Assumptions::Impl::value_of(const Atom* symbol) const {
  const auto found = facts.find(symbol);
  return found != facts.end() && found->second.value ? &*found->second.value : nullptr;
}

bool Assumptions::Impl::mentions_valued(Dim dim) const {
  return dim.node() && std::any_of(dim.node()->symbols.begin(), dim.node()->symbols.end(),
                                   [&](const Atom* s) { return value_of(s) != nullptr; });
}

// REQUIRES: the values of the symbols it mentions are final.
Dim Assumptions::Impl::substituted(Dim dim) const {
  std::vector<std::pair<Dim, Dim>> values;
  for (const Atom* s : dim.node()->symbols)
    if (const auto found = final_values.find(s); found != final_values.end())
      values.push_back({dim_of(s), found->second});
  const Dim result = substitute(dim, values);
  return result.is_unknown() ? dim : result;
}

// Chains of values are as long as a file likes: no recursion.
void Assumptions::Impl::find_final_values(Dim dim) {
  std::vector<const Atom*> open;
  const auto open_those_of = [&](Dim mentioning) {
    const size_t before = open.size();
    if (mentioning.node())
      for (const Atom* s : mentioning.node()->symbols)
        if (value_of(s) && !final_values.contains(s)) open.push_back(s);
    return open.size() > before;
  };
  open_those_of(dim);
  while (!open.empty()) {
    Effort::step();
    const Atom* symbol = open.back();
    const Dim value = *value_of(symbol);
    if (open_those_of(value)) continue;
    final_values.emplace(symbol, mentions_valued(value) ? substituted(value) : value);
    open.pop_back();
  }
}

Dim Assumptions::Impl::apply(Dim dim) {
  if (!mentions_valued(dim)) return dim;
  if (auto found = applied.find(dim.node()); found != applied.end()) return found->second;
  find_final_values(dim);
  return applied[dim.node()] = substituted(dim);
}

Condition Assumptions::Impl::apply(const Condition& condition) {
  std::vector<std::pair<Dim, Dim>> values;
  for (Dim s : condition.symbols())
    if (Dim value = apply(s); value != s) values.push_back({s, value});
  if (values.empty()) return condition;
  Condition result = substitute(condition, values);
  return result.is_opaque() ? condition : result;
}

std::shared_ptr<const std::vector<Applied>> Assumptions::Impl::applied_disjunctions() {
  if (alternatives) return alternatives;
  std::vector<Applied> made;
  for (const Condition& d : disjunctions) {
    Condition now = apply(d);
    std::vector<Dim> about = now.symbols();
    made.push_back({std::move(now), std::move(about)});
  }
  return alternatives = std::make_shared<const std::vector<Applied>>(std::move(made));
}

std::vector<const Relation*> Assumptions::Impl::relations_about(Dim dim) const {
  std::vector<size_t> indices;
  if (dim.node())
    for (const Atom* s : dim.node()->symbols)
      if (auto found = mentions.find(s); found != mentions.end())
        indices.insert(indices.end(), found->second.begin(), found->second.end());
  Effort::step(1 + static_cast<int64_t>(indices.size()) / 4);
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  std::vector<const Relation*> out;
  for (size_t index : indices) out.push_back(&relations[index]);
  return out;
}

}  // namespace anyshape
