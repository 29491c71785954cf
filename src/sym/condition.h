#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sym/dim.h"

namespace anyshape {

enum class Tri { no, yes, unknown };

// One comparison, kept in normal form: everything on the left, `expr REL 0` (coefficients divided by their gcd where
// the relation allows), or `expr % divisor == 0`.
struct Relation {
  enum class Kind { eq, ne, ge, divisible };
  Kind kind = Kind::eq;
  Dim expr;
  Dim divisor = 1;  // divisible only; >= 1
  friend bool operator==(const Relation&, const Relation&) = default;
};

// A small disjunction of conjunctions of relations. Simplifies what needs no assumptions (constants, duplicates, a
// relation and its opposite); everything else is Assumptions' work. Past the size limit it becomes `opaque()`.
class Condition {
 public:
  using Conjunction = std::vector<Relation>;

  Condition() = default;  // always
  static Condition always() { return {}; }
  static Condition never();
  static Condition opaque();  // cannot be written; only the numeric walk decides it
  static Condition eq(Dim a, Dim b);
  static Condition ne(Dim a, Dim b);
  static Condition ge(Dim a, Dim b);
  static Condition le(Dim a, Dim b) { return ge(b, a); }
  static Condition gt(Dim a, Dim b) { return ge(a, b + 1); }
  static Condition lt(Dim a, Dim b) { return ge(b, a + 1); }
  static Condition divisible(Dim a, Dim divisor);
  static Condition of(Relation relation);

  bool is_always() const;
  bool is_never() const;
  bool is_opaque() const { return opaque_; }
  const std::vector<Conjunction>& any_of() const { return any_of_; }

  friend Condition operator&&(const Condition& a, const Condition& b);
  friend Condition operator||(const Condition& a, const Condition& b);
  Condition operator!() const;
  friend bool operator==(const Condition&, const Condition&) = default;

  std::vector<Dim> symbols() const;
  bool mentions(Dim symbol) const;

 private:
  std::vector<Conjunction> any_of_ = {{}};
  bool opaque_ = false;
};

// "seq == 120", "s >= 16 or s == 1", "h % 32 == 0 and w % 32 == 0", "batch*seq % 30 == 0", "always", "never".
// Each relation is written the way a person would: positive terms on each side, `a <= 512` rather than `512 - a >= 0`.
std::string print(const Condition& condition);
// The same grammar; also `in`: "batch in 1..64", "h % 32 in {0, 29, 30, 31}", "a < b", "a > b", `,` and `and`, `or`.
std::optional<Condition> parse_condition(std::string_view text, Symbols& symbols, std::string* error = nullptr);

Tri evaluate(const Condition& condition, const Binding& binding);
Condition substitute(const Condition& condition, const std::vector<std::pair<Dim, Dim>>& values);

}  // namespace anyshape
