#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sym/condition.h"
#include "sym/dim.h"

namespace anyshape {

// [lo, hi]; a missing end is unbounded.
struct Interval {
  std::optional<int64_t> lo, hi;
};

// What is known about the symbols of one Symbols, and the prover over it. Not thread-safe.
// A symbol nothing is said about may be any int64; solve/ declares every axis symbol to be >= 0.
class Assumptions {
 public:
  explicit Assumptions(Symbols& symbols);
  ~Assumptions();
  Assumptions(const Assumptions&) = delete;
  Assumptions& operator=(const Assumptions&) = delete;

  Symbols& symbols() const;

  // From now on (or until the enclosing Scope ends) the condition holds. A disjunction is kept and used by case split.
  void assume(const Condition& condition);

  // Everything assumed after its construction is forgotten at its end. Scopes nest.
  class Scope {
   public:
    explicit Scope(Assumptions& assumptions);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Assumptions& assumptions_;
    size_t mark_;
  };

  // yes: holds for every assignment that satisfies the assumptions. no: holds for none. unknown: neither was proved
  // within the budget. When the assumptions contradict each other every answer is right.
  Tri prove(const Condition& condition) const;
  bool proves(const Condition& condition) const { return prove(condition) == Tri::yes; }

  // The same value under the assumptions, simpler where possible: equalities applied, min/max/broadcast/select
  // resolved, floordiv of what divides exactly.
  Dim simplify(Dim dim) const;
  // The condition with what is already known left out; always/never when decided.
  Condition simplify(const Condition& condition) const;
  Interval range(Dim dim) const;
  // The quotient if b provably divides a (and b is provably != 0).
  std::optional<Dim> exact_div(Dim a, Dim b) const;
  // All that is assumed now, oldest first.
  const std::vector<Condition>& all() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// exists symbol: condition, over the range the assumptions give it. `exact` false: the result is implied by the
// condition but may hold at more points.
struct Projection {
  Condition condition;
  bool exact = true;
};
Projection eliminate(const Condition& condition, Dim symbol, const Assumptions& assumptions);

// The values of one symbol that satisfy a condition which mentions no other symbol: exact, eventually periodic.
class PeriodicSet {
 public:
  // Over lo..hi (hi missing: unbounded). nullopt: another symbol occurs, the condition is not
  // defined everywhere (a divisor <= 0, a broadcast that fails), or the limits are passed.
  static std::optional<PeriodicSet> solve(const Condition& condition, Dim symbol, int64_t lo,
                                          std::optional<int64_t> hi);

  bool empty() const;
  bool contains(int64_t value) const;
  std::optional<int64_t> smallest() const;
  // The shortest condition with these members among those of lo..hi; opaque() when it would be too long:
  // "s == 120", "s >= 16 or s == 1", "h % 32 in {0, 29, 30, 31}" and so on.
  Condition to_condition(Dim symbol) const;

 private:
  struct Span {
    int64_t first = 0;
    std::optional<int64_t> last;  // missing: without end
  };
  int64_t lo_ = 0;
  std::optional<int64_t> hi_;
  int64_t period_ = 1;
  std::vector<std::vector<Span>> spans_ = {{}};  // per residue: its members are first, first + period, ..., last
};

}  // namespace anyshape
