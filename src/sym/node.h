#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sym/condition.h"
#include "sym/dim.h"

// The interned forms behind Dim; for sym/ and for what takes expressions apart (ir/builder_sizes.cpp).
namespace anyshape {

enum class AtomKind : uint8_t { symbol, floordiv, min, max, broadcast, select };

struct Atom {
  AtomKind kind = AtomKind::symbol;
  uint32_t id = 0;  // order of creation, unique among the atoms of an owner
  uint32_t depth = 0;
  uint32_t size = 1;
  Symbols::Impl* owner = nullptr;
  const DimNode* self = nullptr;         // the expression that is this atom alone
  std::string name;                      // symbol
  Dims args;                             // floordiv: numerator, divisor; select: the two values; otherwise sorted
  std::unique_ptr<Condition> condition;  // select
  std::vector<const Atom*> symbols;      // sorted by id
};

// A non-empty product, atoms sorted by id, repeated for powers.
struct Monomial {
  uint32_t id = 0;
  std::vector<const Atom*> atoms;
};

struct Term {
  const Monomial* monomial = nullptr;
  int64_t coefficient = 0;
  friend bool operator==(const Term&, const Term&) = default;
};

// constant + sum of terms; terms non-empty, ordered by `before`, coefficients neither 0 nor INT64_MIN.
struct DimNode {
  uint32_t id = 0;
  uint32_t depth = 0;
  uint32_t size = 1;
  Symbols::Impl* owner = nullptr;
  int64_t constant = 0;
  std::vector<Term> terms;
  std::vector<const Atom*> symbols;  // sorted by id
};

size_t hash_of(const Condition& condition);

struct InternHash {
  size_t operator()(const Atom* atom) const;
  size_t operator()(const Monomial* monomial) const;
  size_t operator()(const DimNode* node) const;
};
struct InternEqual {
  bool operator()(const Atom* a, const Atom* b) const;
  bool operator()(const Monomial* a, const Monomial* b) const { return a->atoms == b->atoms; }
  bool operator()(const DimNode* a, const DimNode* b) const {
    return a->constant == b->constant && a->terms == b->terms;
  }
};

struct Symbols::Impl {
  std::deque<Atom> atoms;
  std::deque<Monomial> monomials;
  std::deque<DimNode> nodes;
  std::unordered_map<std::string, const Atom*> names;
  std::unordered_map<std::string, int64_t> numbers;  // the last number that fresh() gave to a stem
  std::unordered_set<const Atom*, InternHash, InternEqual> atom_set;
  std::unordered_set<const Monomial*, InternHash, InternEqual> monomial_set;
  std::unordered_set<const DimNode*, InternHash, InternEqual> node_set;

  const Monomial* monomial(std::vector<const Atom*> sorted_atoms);
  // Terms in order, each monomial once, no zero coefficient. unknown() past the limits.
  Dim node(std::vector<Term> terms, int64_t constant);
  // The expression of the atom with these parts. unknown() past the limits.
  Dim atom(AtomKind kind, Dims args, const Condition* condition = nullptr);
  Dim new_symbol(std::string name);
};

// A graded lexicographic order that multiplication keeps; the largest product comes first.
bool before(const Monomial* a, const Monomial* b);
// Orders terms by their monomials, merges equal ones, drops zeros; false on overflow.
bool collect(std::vector<Term>& terms);

// Orders expressions: symbolic ones by creation, then constants by value.
bool dim_before(Dim a, Dim b);

inline const std::vector<Term>& terms_of(Dim dim) {
  static const std::vector<Term> none;
  return dim.node() ? dim.node()->terms : none;
}
inline int64_t constant_of(Dim dim) { return dim.node() ? dim.node()->constant : *dim.constant(); }
inline Symbols::Impl* owner_of(Dim dim) { return dim.node() ? dim.node()->owner : nullptr; }
// The atom when the expression is exactly one atom.
const Atom* atom_of(Dim dim);
// The atom when the product is exactly one atom.
inline const Atom* atom_of(const Monomial* monomial) {
  return monomial->atoms.size() == 1 ? monomial->atoms[0] : nullptr;
}
Dim dim_of(const Atom* atom);
Dim dim_of(const Monomial* monomial);
Dim dim_of(const Term& term);
// The quotient of two products; nullopt when b does not divide a, nullptr when they are equal.
std::optional<const Monomial*> divide(const Monomial* a, const Monomial* b);
// dim - constant_of(dim).
Dim without_constant(Dim dim);
int64_t content(Dim dim);  // gcd of the coefficients of the terms, 0 for a constant
int64_t leading(Dim dim);  // coefficient of the first term, 0 for a constant
// Every term, and the constant too, divided by g, rounded down.
Dim divide_down(Dim dim, int64_t g);
// The expression with every occurrence of `atom`, also inside other atoms, replaced.
Dim replace(Dim dim, const Atom* atom, Dim value);
Condition replace(const Condition& condition, const Atom* atom, Dim value);

inline int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }
inline int64_t floor_mod(int64_t a, int64_t b) {
  int64_t r = a % b;
  return r < 0 ? r + b : r;
}

}  // namespace anyshape
