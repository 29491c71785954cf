#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "base/effort.h"
#include "sym/assumptions.h"
#include "sym/limits.h"
#include "sym/node.h"
#include "sym/relation.h"

// The state behind Assumptions and the steps of the prover; private to sym/.
namespace anyshape {

// Values congruent to residue modulo `modulus`; modulus 0 is the single value `residue`, 1 is anything.
struct Congruence {
  int64_t modulus = 1, residue = 0;
};

struct SymbolFacts {
  std::optional<int64_t> lo, hi;
  Congruence congruence;
  std::optional<Dim> value;  // an equal expression without symbols that have a value
};

struct KeyRange {
  std::optional<int64_t> lo, hi;
};

// A disjunction with the equalities applied, and what it mentions.
struct Applied {
  Condition condition;
  std::vector<Dim> symbols;
};

// What was asked, and in which state.
template <class Question>
struct Asked {
  uint64_t stamp = 0;
  Question question;
  friend bool operator==(const Asked&, const Asked&) = default;
};
struct AskedHash {
  static size_t with(uint64_t stamp, size_t hash) { return hash ^ (stamp * 0x9E3779B97F4A7C15ull); }
  size_t operator()(const Asked<Condition>& a) const { return with(a.stamp, hash_of(a.question)); }
  size_t operator()(const Asked<Dim>& a) const { return with(a.stamp, std::hash<Dim>()(a.question)); }
};
template <class Question, class Answer>
using Answers = std::unordered_map<Asked<Question>, Answer, AskedHash>;

struct Assumptions::Impl {
  explicit Impl(Symbols& s) : symbols(s) {}

  Symbols& symbols;
  std::vector<Condition> all;
  std::vector<size_t> marks;  // of the trail, one per entry of `all`
  // One per entry of `all`: no two states that differ have the same last entry.
  std::vector<uint64_t> stamps;
  uint64_t last_stamp = 0;

  // What follows from `all`, undone through the trail.
  std::unordered_map<const Atom*, SymbolFacts> facts;
  std::vector<Relation> relations;  // about more than the bounds of one symbol
  std::unordered_map<const Atom*, std::vector<size_t>> mentions;
  std::unordered_map<Dim, KeyRange> keys;
  std::vector<Condition> disjunctions;
  bool contradiction = false;
  std::vector<std::function<void()>> trail;

  // Valid for the present state only.
  std::unordered_map<const DimNode*, Dim> applied;
  std::unordered_map<const Atom*, Dim> final_values;  // values without symbols that have one
  std::unordered_map<const Atom*, Interval> ranges;
  std::shared_ptr<const std::vector<Applied>> alternatives;  // of `disjunctions`
  int steps = 0;                                             // left in the current proof

  bool may_go_on() const { return steps >= 0 && !Effort::tired(); }
  bool takes_step() { return --steps >= 0 && !Effort::tired(); }

  Answers<Condition, Tri> proved;
  Answers<Dim, Dim> simplified;

  // The answer, worked out the first time that it is asked for in this state.
  template <class Question, class Answer, class Fn>
  Answer remembered(Answers<Question, Answer>& answers, const Question& question, Fn work_out) {
    Asked<Question> asked{stamps.empty() ? 0 : stamps.back(), question};
    if (auto found = answers.find(asked); found != answers.end()) return found->second;
    const Answer answer = work_out();
    if (answers.size() >= limits::kAnswers) answers.clear();
    answers.emplace(std::move(asked), answer);
    return answer;
  }

  void assume(const Condition& condition);
  void undo(size_t count);  // back to that many assumed conditions
  void add(Relation relation);

  const Dim* value_of(const Atom* symbol) const;
  bool mentions_valued(Dim dim) const;
  Dim substituted(Dim dim) const;
  void find_final_values(Dim dim);
  Dim apply(Dim dim);
  Condition apply(const Condition& condition);
  std::shared_ptr<const std::vector<Applied>> applied_disjunctions();

  Interval range(const Atom* atom);
  Interval range(Dim dim);
  Congruence congruence(Dim dim);
  std::vector<const Relation*> relations_about(Dim dim) const;

  bool nonnegative(Dim dim, int level = 0);
  Tri decide(const Relation& relation);
  Tri decide_plainly(const Condition& condition);
  Tri decide_univariate(const Condition& condition);
  Tri decide_box(const Condition& condition);
  Tri decide_by_cases(const Condition& condition, int depth);
  Tri prove(const Condition& condition, int depth);

  // Products of a quotient with its divisor replaced where the remainder is known: 8*(h//8) is h when 8 divides h.
  Dim multiplied_out(Dim dim);
  // An expression of one symbol with a min, max or select replaced by the one argument that gives the same value
  // everywhere: (max(h - 1, 0) + 1)//2 is h//2 from h = 0 on.
  std::optional<Dim> without_choice(Dim dim);
  // A simpler expression with the value of the atom.
  std::optional<Dim> resolved(const Atom& atom);

 private:
  void changed();
  void bound(const Atom* symbol, std::optional<int64_t> lo, std::optional<int64_t> hi);
  void congruent(const Atom* symbol, int64_t modulus, int64_t residue);
  void set_value(const Atom* symbol, Dim value);
  bool solve_for_symbol(Dim equation);
  void keep(const Relation& relation);
  void hull(const Condition& disjunction);
  Interval compute_range(const Atom& atom);
  Interval natural_range(Dim dim);
  std::optional<int64_t> shifted_low(Dim dim);
  Congruence congruence(const Atom& atom);
  bool nonnegative_by_quotient(Dim dim, int level);
  bool nonnegative_by_extremum(Dim dim, int level);
  bool nonnegative_by_facts(Dim dim, int level);
  bool is_zero(Dim dim);
  std::optional<Dim> multiple_below(Dim numerator, Dim divisor);
  std::optional<Dim> without_offset(const Atom& quotient);
  Tri decide_divisible(Dim expr, Dim divisor);
  Tri prove_disjunction(const Condition& condition, int depth);
};

// Interval arithmetic; an end that overflows becomes unbounded.
Interval operator+(const Interval& a, const Interval& b);
Interval operator*(const Interval& a, const Interval& b);
Interval scaled(const Interval& a, int64_t factor);
Interval intersected(const Interval& a, const Interval& b);
Interval hull_of(const Interval& a, const Interval& b);

Congruence operator+(const Congruence& a, const Congruence& b);
Congruence operator*(const Congruence& a, const Congruence& b);

}  // namespace anyshape
