#pragma once

#include <optional>
#include <vector>

#include "sym/condition.h"

// Normal forms of single relations and conjunctions; private to sym/.
namespace anyshape {

inline Tri tri(bool value) { return value ? Tri::yes : Tri::no; }

// Brings a relation into normal form. no/yes: it is decided whatever the symbols are; unknown: it stays. An expression
// that is unknown() leaves the relation as it is.
Tri normalize(Relation& relation);
// Merges what the relations say about the same expression (bounds, equalities, exclusions) and orders them.
// False: they contradict each other.
bool normalize(std::vector<Relation>& conjunction);
bool relation_before(const Relation& a, const Relation& b);
// The relations of which the disjunction is the opposite.
std::vector<Relation> opposite(const Relation& relation);
bool has_unknown(const Relation& relation);

// expr == mod(dividend, divisor) + offset.
struct Modulus {
  Dim dividend, divisor;
  int64_t offset = 0;
};
std::optional<Modulus> as_modulus(Dim expr);

// What an eq, ne or ge relation says about `key`, its expression without constant and with a positive first
// coefficient: key == value, key != value, key >= value (lower) or key <= value.
struct KeyBound {
  Dim key;
  int64_t value = 0;
  bool lower = true;
};
std::optional<KeyBound> key_bound(const Relation& relation);
// key >= value, key <= value, key == value, key != value as normal relations.
Relation at_least(Dim key, int64_t value);
Relation at_most(Dim key, int64_t value);
Relation equal(Dim key, int64_t value);
Relation unequal(Dim key, int64_t value);

}  // namespace anyshape
