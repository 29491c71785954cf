#include "sym/dim.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/bug.h"
#include "base/effort.h"
#include "sym/limits.h"
#include "sym/node.h"

namespace anyshape {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

size_t mix(size_t h, size_t v) { return (h ^ v) * 0x9E3779B97F4A7C15ull + (h >> 29); }

void add_symbols(std::vector<const Atom*>& into, const std::vector<const Atom*>& more) {
  if (more.empty()) return;
  if (into.empty()) {
    into = more;
    return;
  }
  auto by_id = [](const Atom* a, const Atom* b) { return a->id < b->id; };
  if (std::includes(into.begin(), into.end(), more.begin(), more.end(), by_id)) return;
  std::vector<const Atom*> merged;
  std::set_union(into.begin(), into.end(), more.begin(), more.end(), std::back_inserter(merged), by_id);
  into = std::move(merged);
}

// Adds what the atom inherits from one of its parts; the size saturates.
void inherit(Atom& atom, Dim part) {
  atom.size = std::min<uint32_t>(limits::kTreeSize + 1, atom.size + (part.node() ? part.node()->size : 1));
  if (!part.node()) return;
  atom.depth = std::max(atom.depth, part.node()->depth + 1);
  add_symbols(atom.symbols, part.node()->symbols);
}

bool combine_dim(int64_t a, int64_t b, int64_t sign, int64_t& out) {
  int64_t product;
  return !__builtin_mul_overflow(b, sign, &product) && !__builtin_add_overflow(a, product, &out);
}

Symbols::Impl* common_owner(Dim a, Dim b) {
  Symbols::Impl* owner = owner_of(a) ? owner_of(a) : owner_of(b);
  ANYSHAPE_CHECK(!owner_of(b) || owner_of(b) == owner);
  return owner;
}

Dim add(Dim a, Dim b, int64_t sign) {
  if (a.is_unknown() || b.is_unknown()) return Dim::unknown();
  int64_t constant;
  if (!combine_dim(constant_of(a), constant_of(b), sign, constant)) return Dim::unknown();
  const auto& x = terms_of(a);
  const auto& y = terms_of(b);
  if (x.empty() && y.empty()) return constant;
  std::vector<Term> sum;
  sum.reserve(x.size() + y.size());
  size_t i = 0, j = 0;
  while (i < x.size() || j < y.size()) {
    if (j == y.size() || (i < x.size() && x[i].monomial != y[j].monomial && before(x[i].monomial, y[j].monomial))) {
      sum.push_back(x[i++]);
      continue;
    }
    bool both = i < x.size() && x[i].monomial == y[j].monomial;
    Term term{y[j].monomial, 0};
    if (!combine_dim(both ? x[i].coefficient : 0, y[j].coefficient, sign, term.coefficient)) return Dim::unknown();
    i += both;
    ++j;
    if (term.coefficient) sum.push_back(term);
  }
  return sum.empty() ? Dim(constant) : common_owner(a, b)->node(std::move(sum), constant);
}

Dim scale(Dim a, int64_t factor) {
  if (factor == 0) return 0;
  if (factor == 1) return a;
  int64_t constant;
  if (__builtin_mul_overflow(constant_of(a), factor, &constant)) return Dim::unknown();
  if (a.is_constant()) return constant;
  std::vector<Term> terms = terms_of(a);
  for (Term& term : terms)
    if (__builtin_mul_overflow(term.coefficient, factor, &term.coefficient)) return Dim::unknown();
  return owner_of(a)->node(std::move(terms), constant);
}

const Monomial* multiply(Symbols::Impl& owner, const Monomial* a, const Monomial* b) {
  std::vector<const Atom*> atoms;
  atoms.reserve(a->atoms.size() + b->atoms.size());
  std::merge(a->atoms.begin(), a->atoms.end(), b->atoms.begin(), b->atoms.end(), std::back_inserter(atoms),
             [](const Atom* x, const Atom* y) { return x->id < y->id; });
  return atoms.size() > limits::kDegree ? nullptr : owner.monomial(std::move(atoms));
}

}  // namespace

size_t hash_of(const Condition& condition) {
  size_t h = condition.any_of().size();
  for (const auto& all : condition.any_of()) {
    h = mix(h, all.size());
    for (const Relation& r : all)
      h = mix(mix(mix(h, static_cast<size_t>(r.kind)), std::hash<Dim>()(r.expr)), std::hash<Dim>()(r.divisor));
  }
  return h;
}

size_t InternHash::operator()(const Atom* atom) const {
  size_t h = static_cast<size_t>(atom->kind);
  for (Dim arg : atom->args) h = mix(h, std::hash<Dim>()(arg));
  return atom->condition ? mix(h, hash_of(*atom->condition)) : h;
}

size_t InternHash::operator()(const Monomial* monomial) const {
  size_t h = monomial->atoms.size();
  for (const Atom* atom : monomial->atoms) h = mix(h, atom->id);
  return h;
}

size_t InternHash::operator()(const DimNode* node) const {
  size_t h = mix(node->terms.size(), static_cast<size_t>(node->constant));
  for (const Term& t : node->terms) h = mix(mix(h, t.monomial->id), static_cast<size_t>(t.coefficient));
  return h;
}

bool InternEqual::operator()(const Atom* a, const Atom* b) const {
  if (a->kind != b->kind || a->args != b->args || !a->condition != !b->condition) return false;
  return !a->condition || *a->condition == *b->condition;
}

const Monomial* Symbols::Impl::monomial(std::vector<const Atom*> sorted_atoms) {
  Monomial probe{0, std::move(sorted_atoms)};
  if (auto found = monomial_set.find(&probe); found != monomial_set.end()) return *found;
  probe.id = static_cast<uint32_t>(monomials.size());
  monomials.push_back(std::move(probe));
  monomial_set.insert(&monomials.back());
  return &monomials.back();
}

Dim Symbols::Impl::node(std::vector<Term> terms, int64_t constant) {
  if (terms.empty()) return constant;
  if (constant == kMin || terms.size() > limits::kTerms) return Dim::unknown();
  Effort::step(1 + static_cast<int64_t>(terms.size()) / 4);
  DimNode probe;
  probe.constant = constant;
  probe.terms = std::move(terms);
  if (auto found = node_set.find(&probe); found != node_set.end()) return Dim(*found);
  for (const Term& term : probe.terms) {
    if (term.coefficient == kMin) return Dim::unknown();
    for (const Atom* atom : term.monomial->atoms) {
      probe.depth = std::max(probe.depth, atom->depth);
      probe.size += atom->size;
      add_symbols(probe.symbols, atom->symbols);
    }
  }
  if (probe.size > limits::kTreeSize) return Dim::unknown();
  probe.id = static_cast<uint32_t>(nodes.size()) + 1;
  probe.owner = this;
  nodes.push_back(std::move(probe));
  node_set.insert(&nodes.back());
  return Dim(&nodes.back());
}

Dim Symbols::Impl::atom(AtomKind kind, Dims args, const Condition* condition) {
  Atom probe;
  probe.kind = kind;
  probe.args = std::move(args);
  if (condition) probe.condition = std::make_unique<Condition>(*condition);
  if (auto found = atom_set.find(&probe); found != atom_set.end()) return Dim((*found)->self);
  for (Dim arg : probe.args) inherit(probe, arg);
  if (condition) {
    for (const auto& all : condition->any_of())
      for (const Relation& r : all) {
        inherit(probe, r.expr);
        inherit(probe, r.divisor);
      }
  }
  if (probe.depth > limits::kDepth || probe.size > limits::kTreeSize) return Dim::unknown();
  probe.id = static_cast<uint32_t>(atoms.size());
  probe.owner = this;
  atoms.push_back(std::move(probe));
  Atom& made = atoms.back();
  Dim self = node({{monomial({&made}), 1}}, 0);
  made.self = self.node();
  if (self.is_unknown()) return self;
  atom_set.insert(&made);
  return self;
}

Dim Symbols::Impl::new_symbol(std::string name) {
  atoms.emplace_back();
  Atom& made = atoms.back();
  made.id = static_cast<uint32_t>(atoms.size()) - 1;
  made.owner = this;
  made.name = name;
  made.symbols = {&made};
  made.self = node({{monomial({&made}), 1}}, 0).node();
  names.emplace(std::move(name), &made);
  return Dim(made.self);
}

Symbols::Symbols() : impl_(std::make_unique<Impl>()) {}
Symbols::~Symbols() = default;

Dim Symbols::symbol(std::string_view name) {
  if (auto found = find(name)) return *found;
  return impl_->new_symbol(std::string(name));
}

Dim Symbols::fresh(std::string_view stem) {
  std::string name(stem);
  int64_t& number = impl_->numbers[name];
  while (impl_->names.contains(name)) name = std::string(stem) + "." + std::to_string(++number);
  return impl_->new_symbol(std::move(name));
}

std::optional<Dim> Symbols::find(std::string_view name) const {
  auto found = impl_->names.find(std::string(name));
  return found == impl_->names.end() ? std::nullopt : std::optional(Dim(found->second->self));
}

std::string_view symbol_name(Dim symbol) {
  ANYSHAPE_CHECK(symbol.is_symbol());
  return atom_of(symbol)->name;
}

std::string_view Symbols::name(Dim symbol) const { return symbol_name(symbol); }

Dim Dim::unknown() {
  static const DimNode node;
  return Dim(&node);
}

bool Dim::is_unknown() const { return node_ && !node_->owner; }

bool Dim::is_symbol() const {
  const Atom* atom = atom_of(*this);
  return atom && atom->kind == AtomKind::symbol;
}

std::vector<Dim> Dim::symbols() const {
  std::vector<Dim> out;
  if (node_)
    for (const Atom* atom : node_->symbols) out.push_back(Dim(atom->self));
  return out;
}

bool Dim::mentions(Dim symbol) const {
  if (!node_ || !symbol.is_symbol()) return false;
  return std::binary_search(node_->symbols.begin(), node_->symbols.end(), atom_of(symbol),
                            [](const Atom* a, const Atom* b) { return a->id < b->id; });
}

Dim operator+(Dim a, Dim b) { return add(a, b, 1); }
Dim operator-(Dim a, Dim b) { return add(a, b, -1); }

Dim operator*(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return Dim::unknown();
  if (auto factor = a.constant()) return scale(b, *factor);
  if (auto factor = b.constant()) return scale(a, *factor);
  Symbols::Impl& owner = *common_owner(a, b);
  Effort::step(static_cast<int64_t>(terms_of(a).size() * terms_of(b).size()));
  std::vector<Term> terms;
  auto push = [&](const Monomial* monomial, int64_t x, int64_t y) {
    Term term{monomial, 0};
    if (!monomial || __builtin_mul_overflow(x, y, &term.coefficient)) return false;
    terms.push_back(term);
    return true;
  };
  int64_t ca = constant_of(a), cb = constant_of(b), constant;
  if (__builtin_mul_overflow(ca, cb, &constant)) return Dim::unknown();
  for (const Term& x : terms_of(a)) {
    for (const Term& y : terms_of(b))
      if (!push(multiply(owner, x.monomial, y.monomial), x.coefficient, y.coefficient)) return Dim::unknown();
    if (cb && !push(x.monomial, x.coefficient, cb)) return Dim::unknown();
  }
  for (const Term& y : terms_of(b))
    if (ca && !push(y.monomial, y.coefficient, ca)) return Dim::unknown();
  return collect(terms) ? owner.node(std::move(terms), constant) : Dim::unknown();
}

Dim product(const Dims& dims) {
  Dim result = 1;
  for (Dim dim : dims) result = result * dim;
  return result;
}

bool before(const Monomial* a, const Monomial* b) {
  if (a == b) return false;
  if (a->atoms.size() != b->atoms.size()) return a->atoms.size() > b->atoms.size();
  for (size_t i = 0; i < a->atoms.size(); ++i)
    if (a->atoms[i] != b->atoms[i]) return a->atoms[i]->id < b->atoms[i]->id;
  return false;
}

bool collect(std::vector<Term>& terms) {
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return before(a.monomial, b.monomial); });
  size_t out = 0;
  for (size_t i = 0; i < terms.size();) {
    Term sum = terms[i];
    for (++i; i < terms.size() && terms[i].monomial == sum.monomial; ++i)
      if (__builtin_add_overflow(sum.coefficient, terms[i].coefficient, &sum.coefficient)) return false;
    if (sum.coefficient) terms[out++] = sum;
  }
  terms.resize(out);
  return true;
}

bool dim_before(Dim a, Dim b) {
  if (a.is_constant() != b.is_constant()) return b.is_constant();
  return a.is_constant() ? *a.constant() < *b.constant() : a.node()->id < b.node()->id;
}

const Atom* atom_of(Dim dim) {
  const auto& terms = terms_of(dim);
  bool alone = terms.size() == 1 && terms[0].coefficient == 1 && constant_of(dim) == 0;
  return alone ? atom_of(terms[0].monomial) : nullptr;
}

Dim dim_of(const Atom* atom) { return Dim(atom->self); }
Dim dim_of(const Monomial* monomial) { return monomial->atoms[0]->owner->node({{monomial, 1}}, 0); }
Dim dim_of(const Term& term) { return term.monomial->atoms[0]->owner->node({term}, 0); }

std::optional<const Monomial*> divide(const Monomial* a, const Monomial* b) {
  if (a == b) return nullptr;
  if (b->atoms.size() >= a->atoms.size()) return std::nullopt;
  std::vector<const Atom*> rest;
  size_t j = 0;
  for (const Atom* atom : a->atoms) {
    if (j < b->atoms.size() && b->atoms[j] == atom)
      ++j;
    else
      rest.push_back(atom);
  }
  if (j < b->atoms.size()) return std::nullopt;
  return a->atoms[0]->owner->monomial(std::move(rest));
}

Dim without_constant(Dim dim) { return dim.is_constant() ? Dim(0) : owner_of(dim)->node(terms_of(dim), 0); }

int64_t content(Dim dim) {
  int64_t g = 0;
  for (const Term& term : terms_of(dim)) g = std::gcd(g, term.coefficient);
  return g;
}

int64_t leading(Dim dim) { return terms_of(dim).empty() ? 0 : terms_of(dim)[0].coefficient; }

Dim divide_down(Dim dim, int64_t g) {
  if (g == 1 || dim.is_unknown()) return dim;
  int64_t constant = floor_div(constant_of(dim), g);
  std::vector<Term> terms;
  for (const Term& term : terms_of(dim))
    if (int64_t q = floor_div(term.coefficient, g)) terms.push_back({term.monomial, q});
  return terms.empty() ? Dim(constant) : owner_of(dim)->node(std::move(terms), constant);
}

}  // namespace anyshape
