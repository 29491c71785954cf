#include <algorithm>

#include "sym/limits.h"
#include "sym/prover.h"
#include "sym/univariate.h"

namespace anyshape {
namespace {

bool about_only(const Condition& condition, Dim symbol) {
  auto symbols = condition.symbols();
  return symbols.size() == 1 && symbols[0] == symbol;
}

// An atom to split on, none of whose arguments holds another one.
const Atom* splittable(Dim dim);

const Atom* splittable(const Condition& condition) {
  for (const auto& all : condition.any_of())
    for (const Relation& r : all) {
      if (const Atom* atom = splittable(r.expr)) return atom;
      if (const Atom* atom = splittable(r.divisor)) return atom;
    }
  return nullptr;
}

const Atom* splittable(Dim dim) {
  for (const Term& term : terms_of(dim))
    for (const Atom* atom : term.monomial->atoms) {
      if (atom->kind == AtomKind::symbol) continue;
      for (Dim arg : atom->args)
        if (const Atom* inner = splittable(arg)) return inner;
      if (atom->condition)
        if (const Atom* inner = splittable(*atom->condition)) return inner;
      if (atom->kind != AtomKind::floordiv) return atom;
    }
  return nullptr;
}

struct Case {
  Condition when;
  Dim value;
};

std::vector<Case> cases_of(const Atom& atom) {
  std::vector<Case> out;
  const Dims& args = atom.args;
  if (atom.kind == AtomKind::select) {
    for (const auto& all : atom.condition->any_of()) {
      Condition when;
      for (const Relation& r : all) when = when && Condition::of(r);
      out.push_back({when, args[0]});
    }
    Condition otherwise = !*atom.condition;
    for (const auto& all : otherwise.any_of()) {
      Condition when;
      for (const Relation& r : all) when = when && Condition::of(r);
      out.push_back({when, args[1]});
    }
    if (otherwise.is_opaque()) out.push_back({{}, args[1]});
    return out;
  }
  for (size_t i = 0; i < args.size(); ++i) {
    Condition when;
    for (size_t j = 0; j < args.size(); ++j) {
      if (i == j) continue;
      // The first of equal arguments wins, so that the cases exclude each other.
      Dim gap = atom.kind == AtomKind::min ? args[j] - args[i] : args[i] - args[j];
      if (atom.kind != AtomKind::broadcast) when = when && Condition::ge(gap, j < i ? 1 : 0);
    }
    if (atom.kind != AtomKind::broadcast) out.push_back({when, args[i]});
  }
  if (atom.kind != AtomKind::broadcast) return out;
  if (args.size() == 2) {
    out.push_back({Condition::eq(args[0], args[1]), args[0]});
    out.push_back({Condition::eq(args[1], 1), args[0]});
    out.push_back({Condition::eq(args[0], 1), args[1]});
    return out;
  }
  for (Dim arg : args) out.push_back({{}, arg});
  return out;
}

// Where the cases of an atom are all there are: sizes that do not broadcast have none.
Condition has_value(const Atom& atom) {
  Condition all = Condition::always();
  if (atom.kind != AtomKind::broadcast) return all;
  for (size_t i = 0; i < atom.args.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      all = all && (Condition::eq(atom.args[i], atom.args[j]) || Condition::eq(atom.args[i], 1) ||
                    Condition::eq(atom.args[j], 1));
  return all;
}

// Joins the answers of cases that together cover everything.
struct Joined {
  std::optional<Tri> answer;
  // False: the join is unknown whatever follows.
  bool add(Tri next) {
    if (answer && *answer != next) answer = Tri::unknown;
    if (!answer) answer = next;
    return *answer != Tri::unknown;
  }
};

bool all_among(const std::vector<Dim>& some, const std::vector<Dim>& all) {
  return std::all_of(some.begin(), some.end(),
                     [&](Dim s) { return std::find(all.begin(), all.end(), s) != all.end(); });
}

}  // namespace

Tri Assumptions::Impl::decide_plainly(const Condition& condition) {
  Tri any = Tri::no;
  for (const auto& conjunction : condition.any_of()) {
    Tri every = Tri::yes;
    for (const Relation& r : conjunction) {
      Tri one = decide(r);
      if (one == Tri::no) every = Tri::no;
      if (one == Tri::unknown && every == Tri::yes) every = Tri::unknown;
      if (every == Tri::no) break;
    }
    if (every == Tri::yes) return Tri::yes;
    if (every == Tri::unknown) any = Tri::unknown;
  }
  return any;
}

Tri Assumptions::Impl::decide_univariate(const Condition& condition) {
  auto symbols_in = condition.symbols();
  if (symbols_in.size() != 1) return Tri::unknown;
  Dim symbol = symbols_in[0];
  std::vector<Condition> known;
  for (const Relation* r : relations_about(symbol))
    if (Condition c = Condition::of(*r); about_only(c, symbol)) known.push_back(c);
  for (const Applied& d : *applied_disjunctions())
    if (d.symbols == symbols_in) known.push_back(d.condition);
  const SymbolFacts& f = facts[atom_of(symbol)];
  if (f.congruence.modulus > 1)
    known.push_back(Condition::divisible(symbol - f.congruence.residue, f.congruence.modulus));
  Goals goals;
  for (const Condition& c : known) goals.push_back({&c, false});
  goals.push_back({&condition, true});
  Tri fails = satisfiable_univariate(goals, symbol, f.lo, f.hi);
  if (fails == Tri::no) return Tri::yes;
  goals.back().second = false;
  return satisfiable_univariate(goals, symbol, f.lo, f.hi) == Tri::no ? Tri::no : Tri::unknown;
}

Tri Assumptions::Impl::decide_box(const Condition& condition) {
  std::vector<Dim> about = condition.symbols();
  std::vector<int64_t> low, high;
  int64_t points = 1;
  for (Dim s : about) {
    Interval r = range(s);
    int64_t size;
    if (!r.lo || !r.hi || __builtin_sub_overflow(*r.hi, *r.lo, &size) || size < 0) return Tri::unknown;
    if (size >= limits::kBoxPoints || (points *= size + 1) > limits::kBoxPoints) return Tri::unknown;
    low.push_back(*r.lo);
    high.push_back(*r.hi);
  }
  std::vector<Condition> known;
  for (Dim s : about)
    for (const Relation* r : relations_about(s))
      if (Condition c = Condition::of(*r); all_among(c.symbols(), about)) known.push_back(c);
  for (const Applied& d : *applied_disjunctions())
    if (all_among(d.symbols, about)) known.push_back(d.condition);
  std::vector<int64_t> at = low;
  Binding binding = [&](Dim s) -> std::optional<int64_t> {
    auto found = std::find(about.begin(), about.end(), s);
    return found == about.end() ? std::nullopt : std::optional(at[static_cast<size_t>(found - about.begin())]);
  };
  Joined joined;
  for (int64_t i = 0; i < points; ++i) {
    Effort::step(1 + static_cast<int64_t>(known.size()) / 4);
    bool excluded =
        std::any_of(known.begin(), known.end(), [&](const Condition& c) { return evaluate(c, binding) == Tri::no; });
    if (!excluded && !joined.add(evaluate(condition, binding))) return Tri::unknown;
    for (size_t k = 0; k < at.size() && ++at[k] > high[k]; ++k) at[k] = low[k];
  }
  return joined.answer.value_or(Tri::yes);
}

Tri Assumptions::Impl::decide_by_cases(const Condition& condition, int depth) {
  if (depth >= limits::kSplitDepth) return Tri::unknown;
  size_t start = all.size();
  if (const Atom* atom = splittable(condition)) {
    if (prove(has_value(*atom), depth + 1) != Tri::yes) return Tri::unknown;
    Joined joined;
    for (const Case& c : cases_of(*atom)) {
      assume(c.when);
      const std::vector<const Relation*> about = relations_about(dim_of(atom));
      std::vector<Relation> rewritten;
      for (const Relation* r : about)
        rewritten.push_back({r->kind, replace(r->expr, atom, c.value), replace(r->divisor, atom, c.value)});
      for (const Relation& r : rewritten) add(r);
      bool go = contradiction || joined.add(prove(replace(condition, atom, c.value), depth + 1));
      undo(start);
      if (!go) return Tri::unknown;
    }
    return joined.answer.value_or(Tri::yes);
  }
  const auto known = applied_disjunctions();
  for (const auto& [now, about] : *known) {
    if (now.any_of().size() < 2 || now.any_of().size() > 8) continue;
    if (std::none_of(about.begin(), about.end(), [&](Dim s) { return condition.mentions(s); })) continue;
    if (!may_go_on()) return Tri::unknown;
    Joined joined;
    for (const auto& conjunction : now.any_of()) {
      Condition when;
      for (const Relation& r : conjunction) when = when && Condition::of(r);
      assume(when);
      bool go = contradiction || joined.add(prove(condition, depth + 1));
      undo(start);
      if (!go) break;
    }
    if (!joined.answer) return Tri::yes;
    if (*joined.answer != Tri::unknown) return *joined.answer;
  }
  return Tri::unknown;
}

Tri Assumptions::Impl::prove_disjunction(const Condition& condition, int depth) {
  const auto any = condition.any_of();
  if (depth >= limits::kSplitDepth || any.size() > 8) return Tri::unknown;
  size_t start = all.size();
  auto as_condition = [](const Condition::Conjunction& conjunction) {
    Condition out;
    for (const Relation& r : conjunction) out = out && Condition::of(r);
    return out;
  };
  // yes: one disjunct holds wherever the others fail.
  for (size_t i = 0; i < any.size() && any.size() > 1; ++i) {
    for (size_t j = 0; j < any.size(); ++j)
      if (j != i) assume(!as_condition(any[j]));
    bool holds = contradiction || prove(as_condition(any[i]), depth + 1) == Tri::yes;
    undo(start);
    if (holds) return Tri::yes;
    if (!may_go_on()) return Tri::unknown;
  }
  // no: in every disjunct some relation fails wherever the others hold.
  for (const auto& conjunction : any) {
    bool fails = false;
    for (size_t i = 0; i < conjunction.size() && !fails && conjunction.size() > 1; ++i) {
      for (size_t j = 0; j < conjunction.size(); ++j)
        if (j != i) assume(Condition::of(conjunction[j]));
      fails = contradiction || prove(Condition::of(conjunction[i]), depth + 1) == Tri::no;
      undo(start);
    }
    if (!fails && conjunction.size() == 1) fails = prove(as_condition(conjunction), depth + 1) == Tri::no;
    if (!fails) return Tri::unknown;
  }
  return Tri::no;
}

Tri Assumptions::Impl::prove(const Condition& original, int depth) {
  if (contradiction) return Tri::yes;
  if (original.is_opaque() || Effort::tired()) return Tri::unknown;
  Condition condition = apply(original);
  if (condition.is_opaque()) return Tri::unknown;
  if (condition.is_always()) return Tri::yes;
  if (condition.is_never()) return Tri::no;
  Tri answer = decide_plainly(condition);
  if (answer == Tri::unknown) answer = decide_univariate(condition);
  if (answer == Tri::unknown) answer = decide_box(condition);
  if (answer == Tri::unknown && may_go_on()) answer = decide_by_cases(condition, depth);
  bool compound = condition.any_of().size() > 1 || condition.any_of()[0].size() > 1;
  if (answer == Tri::unknown && may_go_on() && compound) answer = prove_disjunction(condition, depth);
  return answer;
}

}  // namespace anyshape
