#include "sym/condition.h"

#include <algorithm>
#include <bit>

#include "base/effort.h"
#include "sym/limits.h"
#include "sym/node.h"
#include "sym/relation.h"

namespace anyshape {
namespace {

using Conjunction = Condition::Conjunction;
using Kind = Relation::Kind;

bool conjunction_before(const Conjunction& a, const Conjunction& b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), relation_before);
}

// Every relation of `weaker` is one of `stronger`.
bool implies_plainly(const Conjunction& stronger, const Conjunction& weaker) {
  return std::all_of(weaker.begin(), weaker.end(), [&](const Relation& r) {
    return std::find(stronger.begin(), stronger.end(), r) != stronger.end();
  });
}

// One conjunction for "a or b" where they differ in a single relation that the other's opposite or neighbour replaces.
std::optional<Conjunction> merge(const Conjunction& a, const Conjunction& b) {
  if (a.size() != b.size()) return std::nullopt;
  Conjunction common;
  const Relation* only = nullptr;
  for (const Relation& r : a) {
    if (std::find(b.begin(), b.end(), r) != b.end())
      common.push_back(r);
    else if (only)
      return std::nullopt;
    else
      only = &r;
  }
  if (!only) return a;
  auto other = std::find_if(b.begin(), b.end(), [&](const Relation& r) {
    return std::find(common.begin(), common.end(), r) == common.end();
  });
  if (other == b.end()) return std::nullopt;
  auto negated = opposite(*only);
  if (negated.size() == 1 && negated[0] == *other) return common;
  auto x = key_bound(*only), y = key_bound(*other);
  if (!x || !y || x->key != y->key) return std::nullopt;
  auto join = [&](const Relation& made) -> std::optional<Conjunction> {
    Conjunction out = common;
    out.push_back(made);
    return normalize(out) ? std::optional(out) : std::nullopt;
  };
  bool ge_x = only->kind == Kind::ge, ge_y = other->kind == Kind::ge;
  if (ge_x && ge_y && x->lower == y->lower) return join((x->value < y->value) == x->lower ? *only : *other);
  if (ge_x && ge_y) {
    int64_t lo = x->lower ? x->value : y->value, hi = x->lower ? y->value : x->value;
    return lo <= hi || lo - 1 <= hi ? std::optional(common) : std::nullopt;
  }
  if (ge_y) {
    std::swap(x, y);
    std::swap(ge_x, ge_y);
  }
  if (!ge_x || (only->kind != Kind::eq && other->kind != Kind::eq)) return std::nullopt;
  int64_t edge = x->value, point = y->value, next;
  if (x->lower ? point >= edge : point <= edge) return join(x->lower ? at_least(x->key, edge) : at_most(x->key, edge));
  if (__builtin_add_overflow(point, x->lower ? 1 : -1, &next) || next != edge) return std::nullopt;
  return join(x->lower ? at_least(x->key, point) : at_most(x->key, point));
}

// A bit for each relation; two relations may share one.
uint64_t mark_of(const Conjunction& all) {
  uint64_t mark = 0;
  for (const Relation& r : all) {
    const uint64_t id = r.expr.node() ? r.expr.node()->id : 0;
    mark |= uint64_t{1} << ((id * 4 + static_cast<uint64_t>(r.kind)) * 0x9E3779B97F4A7C15ull >> 58);
  }
  return mark;
}

std::vector<uint64_t> marks_of(const std::vector<Conjunction>& any) {
  Effort::step(1 + static_cast<int64_t>(any.size() * any.size() / 32));
  std::vector<uint64_t> marks;
  for (const auto& all : any) marks.push_back(mark_of(all));
  return marks;
}

bool merge_some(std::vector<Conjunction>& any) {
  const auto marks = marks_of(any);
  for (size_t i = 0; i < any.size(); ++i)
    for (size_t j = i + 1; j < any.size(); ++j) {
      // They may differ in one relation only.
      if (any[i].size() != any[j].size() || std::popcount(marks[i] ^ marks[j]) > 2) continue;
      Effort::step();
      if (auto both = merge(any[i], any[j])) {
        any[i] = *both;
        any.erase(any.begin() + static_cast<std::ptrdiff_t>(j));
        return true;
      }
    }
  return false;
}

void absorb_condition(std::vector<Conjunction>& any) {
  const auto marks = marks_of(any);
  std::vector<Conjunction> kept;
  const auto implies = [&](size_t i, size_t j) {
    return i != j && (marks[j] & ~marks[i]) == 0 && implies_plainly(any[i], any[j]) &&
           (any[i].size() > any[j].size() || j < i);
  };
  for (size_t i = 0; i < any.size(); ++i) {
    bool implied = false;
    for (size_t j = 0; j < any.size() && !implied; ++j) implied = implies(i, j);
    if (!implied) kept.push_back(any[i]);
  }
  any = std::move(kept);
}

bool too_large(const std::vector<Conjunction>& any) {
  size_t relations = 0;
  for (const auto& all : any) relations += all.size();
  return any.size() > limits::kDisjuncts || relations > limits::kRelations;
}

void tidy(std::vector<Conjunction>& any) {
  absorb_condition(any);
  for (size_t compared = 0; any.size() > 1 && compared < limits::kCompared && merge_some(any); absorb_condition(any))
    compared += any.size() * any.size();
  std::sort(any.begin(), any.end(), conjunction_before);
}

// A relation on one select between two numbers is its condition, the opposite, or decided: `select(c, 1, 0) == 1` is c.
std::optional<Condition> by_branches(const Relation& relation) {
  const auto& terms = terms_of(relation.expr);
  const Atom* atom = terms.size() == 1 ? atom_of(terms[0].monomial) : nullptr;
  if (!atom || atom->kind != AtomKind::select || !atom->args[0].is_constant() || !atom->args[1].is_constant())
    return std::nullopt;
  const auto branch = [&](Dim value) {
    return Condition::of({relation.kind, replace(relation.expr, atom, value), relation.divisor});
  };
  const Condition first = branch(atom->args[0]), second = branch(atom->args[1]);
  const auto settled = [](const Condition& c) { return c.is_always() || c.is_never(); };
  if (!settled(first) || !settled(second)) return std::nullopt;
  if (first == second) return first;
  const Condition chosen = first.is_always() ? *atom->condition : !*atom->condition;
  return chosen.is_opaque() ? std::nullopt : std::optional(chosen);
}

}  // namespace

Condition Condition::never() {
  Condition condition;
  condition.any_of_.clear();
  return condition;
}

Condition Condition::opaque() {
  Condition condition;
  condition.opaque_ = true;
  return condition;
}

Condition Condition::of(Relation relation) {
  Tri decided = normalize(relation);
  if (decided != Tri::unknown) return decided == Tri::yes ? always() : never();
  if (has_unknown(relation)) return opaque();
  if (auto chosen = by_branches(relation)) return *chosen;
  Condition condition;
  condition.any_of_ = {{relation}};
  return condition;
}

Condition Condition::eq(Dim a, Dim b) { return of({Kind::eq, a - b, 1}); }
Condition Condition::ne(Dim a, Dim b) { return of({Kind::ne, a - b, 1}); }
Condition Condition::ge(Dim a, Dim b) { return of({Kind::ge, a - b, 1}); }
Condition Condition::divisible(Dim a, Dim divisor) { return of({Kind::divisible, a, divisor}); }

bool Condition::is_always() const { return !opaque_ && any_of_.size() == 1 && any_of_[0].empty(); }
bool Condition::is_never() const { return !opaque_ && any_of_.empty(); }

Condition operator&&(const Condition& a, const Condition& b) {
  if (a.is_never() || b.is_always()) return a;
  if (b.is_never() || a.is_always()) return b;
  if (a.opaque_ || b.opaque_) return Condition::opaque();
  if (a.any_of_.size() * b.any_of_.size() > 4 * limits::kDisjuncts) return Condition::opaque();
  Condition out = Condition::never();
  for (const auto& x : a.any_of_)
    for (const auto& y : b.any_of_) {
      Effort::step(1 + static_cast<int64_t>(x.size() + y.size()));
      Conjunction both = x;
      both.insert(both.end(), y.begin(), y.end());
      if (normalize(both)) out.any_of_.push_back(std::move(both));
    }
  tidy(out.any_of_);
  return too_large(out.any_of_) ? Condition::opaque() : out;
}

Condition operator||(const Condition& a, const Condition& b) {
  if (a.is_always() || b.is_never()) return a;
  if (b.is_always() || a.is_never()) return b;
  if (a.opaque_ || b.opaque_) return Condition::opaque();
  Condition out = a;
  out.any_of_.insert(out.any_of_.end(), b.any_of_.begin(), b.any_of_.end());
  if (out.any_of_.size() > 2 * limits::kDisjuncts) return Condition::opaque();
  tidy(out.any_of_);
  return too_large(out.any_of_) ? Condition::opaque() : out;
}

Condition Condition::operator!() const {
  if (opaque_) return *this;
  Condition out;
  for (const auto& all : any_of_) {
    Condition some = never();
    for (const Relation& r : all)
      for (const Relation& o : opposite(r)) some = some || of(o);
    out = out && some;
  }
  return out;
}

std::vector<Dim> Condition::symbols() const {
  std::vector<const Atom*> atoms;
  for (const auto& all : any_of_)
    for (const Relation& r : all)
      for (Dim dim : {r.expr, r.divisor})
        if (dim.node()) atoms.insert(atoms.end(), dim.node()->symbols.begin(), dim.node()->symbols.end());
  Effort::step(1 + static_cast<int64_t>(atoms.size()) / 4);
  std::sort(atoms.begin(), atoms.end(), [](const Atom* a, const Atom* b) { return a->id < b->id; });
  atoms.erase(std::unique(atoms.begin(), atoms.end()), atoms.end());
  std::vector<Dim> out;
  for (const Atom* atom : atoms) out.push_back(dim_of(atom));
  return out;
}

bool Condition::mentions(Dim symbol) const {
  for (const auto& all : any_of_)
    for (const Relation& r : all)
      if (r.expr.mentions(symbol) || r.divisor.mentions(symbol)) return true;
  return false;
}

}  // namespace anyshape
