#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "sym/assumptions.h"
#include "sym_tree.h"

// Seeds are fixed and printed with every failure; ANYSHAPE_FUZZ_ITERATIONS sets the number of cases per property.
namespace anyshape::fuzz {
namespace {

using Trees = std::vector<Tree>;
using Point = std::vector<int64_t>;

int iterations(int usual) {
  const char* text = std::getenv("ANYSHAPE_FUZZ_ITERATIONS");
  return text ? std::atoi(text) : usual;
}

// Calls `visit` for every point of [lo, hi]^n until it returns false.
void each_point(size_t n, int64_t lo, int64_t hi, const std::function<bool(const Point&)>& visit) {
  Point point(n, lo);
  for (;;) {
    if (!visit(point)) return;
    size_t k = 0;
    while (k < n && ++point[k] > hi) point[k++] = lo;
    if (k == n) return;
  }
}

// A property says what is wrong with the trees, or nothing.
using Property = std::function<std::string(const Trees&)>;

void check(const char* name, int count, const std::function<Trees(Random&)>& make, const Property& property) {
  for (int seed = 1; seed <= count; ++seed) {
    Random random(static_cast<uint64_t>(seed) * 7919);
    Trees trees = make(random);
    if (property(trees).empty()) continue;
    Trees small = shrink(trees, [&](const Trees& t) { return !property(t).empty(); });
    std::string text;
    for (const Tree& tree : small) text += "\n  " + text_of(tree);
    FAIL() << name << ", seed " << seed << ":" << text << "\n  " << property(small);
  }
}

std::string number(std::optional<int64_t> value) { return value ? std::to_string(*value) : "undefined"; }

std::string point_text(const Point& point) {
  std::string out;
  for (int64_t value : point) out += fmt::format("{}{}", out.empty() ? "" : ", ", value);
  return out;
}

Style style_of(Random& random) {
  Style style;
  style.symbols = static_cast<int>(pick(random, 1, 3));
  style.depth = static_cast<int>(pick(random, 2, 5));
  style.symbolic_divisors = pick(random, 0, 3) == 0;
  style.broadcasts = pick(random, 0, 7) == 0;
  return style;
}

std::string same_value(const Trees& trees) {
  Symbols symbols;
  Dim dim = build_dim(trees[0], symbols);
  if (dim.is_unknown()) return "";
  std::string printed = print(dim), error;
  auto back = parse_dim(printed, symbols, &error);
  if (!back) return "cannot read back " + printed + ": " + error;
  if (*back != dim) return "reads back as another expression: " + printed + " -> " + print(*back);
  if (substitute(dim, {{symbol_of(0, symbols), symbol_of(0, symbols)}}) != dim) return "rebuilt differently " + printed;
  std::string wrong;
  each_point(3, -4, 9, [&](const Point& point) {
    auto expected = value_of(trees[0], point);
    if (!expected) return true;
    auto got = evaluate(dim, binding_of(point, symbols));
    if (got != expected)
      wrong = fmt::format("{} at ({}): {} instead of {}", printed, point_text(point), number(got), *expected);
    return wrong.empty();
  });
  return wrong;
}

TEST(SymFuzz, CanonicalFormKeepsTheValue) {
  check(
      "canonical form", iterations(2500),
      [](Random& random) {
        Style style = style_of(random);
        return Trees{random_expression(random, style, style.depth)};
      },
      same_value);
}

TEST(SymFuzz, SubstitutionCommutesWithEvaluation) {
  check(
      "substitution", iterations(600),
      [](Random& random) {
        Style style = style_of(random);
        return Trees{random_expression(random, style, style.depth), random_expression(random, style, 2)};
      },
      [](const Trees& trees) -> std::string {
        Symbols symbols;
        Dim dim = build_dim(trees[0], symbols), value = build_dim(trees[1], symbols);
        Dim result = substitute(dim, {{symbol_of(0, symbols), value}});
        if (dim.is_unknown() || value.is_unknown() || result.is_unknown()) return "";
        std::string wrong;
        each_point(3, -3, 7, [&](const Point& point) {
          auto inner = value_of(trees[1], point);
          if (!inner) return true;
          Point moved = point;
          moved[0] = *inner;
          auto expected = value_of(trees[0], moved);
          auto got = evaluate(result, binding_of(point, symbols));
          if (expected && got != expected)
            wrong =
                fmt::format("{} at ({}): {} instead of {}", print(result), point_text(point), number(got), *expected);
          return wrong.empty();
        });
        return wrong;
      });
}

std::string same_truth(const Tree& tree, const Condition& condition, Symbols& symbols) {
  std::string wrong;
  each_point(3, -3, 8, [&](const Point& point) {
    auto expected = value_of(tree, point);
    if (!expected) return true;
    Tri got = evaluate(condition, binding_of(point, symbols));
    if (got != (*expected ? Tri::yes : Tri::no))
      wrong = fmt::format("{} at ({}) should be {}", print(condition), point_text(point), *expected);
    return wrong.empty();
  });
  return wrong;
}

TEST(SymFuzz, ConditionKeepsItsTruth) {
  check(
      "condition", iterations(1200),
      [](Random& random) {
        Style style = style_of(random);
        style.depth = std::min(style.depth, 3);
        return Trees{random_condition(random, style, 3)};
      },
      [](const Trees& trees) -> std::string {
        Symbols symbols;
        Condition condition = build_condition(trees[0], symbols);
        if (condition.is_opaque()) return "";
        std::string printed = print(condition), error;
        auto back = parse_condition(printed, symbols, &error);
        if (!back) return "cannot read back " + printed + ": " + error;
        if (!(*back == condition)) return "reads back as another condition: " + printed + " -> " + print(*back);
        std::string wrong = same_truth(trees[0], condition, symbols);
        Condition negated = !condition;
        if (!wrong.empty() || negated.is_opaque()) return wrong;
        return same_truth({Op::negation, 0, {trees[0]}}, negated, symbols);
      });
}

// Trees: the assumptions, the goal. Every symbol is >= -2 half of the time.
struct Given {
  Symbols symbols;
  Assumptions known{symbols};

  explicit Given(const Tree& assumption) {
    for (int i = 0; i < 3; ++i) symbol_of(i, symbols);
    known.assume(build_condition(assumption, symbols));
  }
};

Tree at_least(int64_t symbol, int64_t value) {
  return {Op::ge, 0, {{Op::symbol, symbol, {}}, {Op::number, value, {}}}};
}
Tree at_most(int64_t symbol, int64_t value) { return {Op::ge, 0, {{Op::number, value, {}}, {Op::symbol, symbol, {}}}}; }
Tree both(Tree a, Tree b) { return {Op::both, 0, {std::move(a), std::move(b)}}; }

Tree random_assumption(Random& random, const Style& style) {
  Style simple = style;
  simple.depth = 2;
  Tree out = random_condition(random, simple, static_cast<int>(pick(random, 0, 2)));
  for (int64_t i = 0; i < style.symbols; ++i) {
    if (pick(random, 0, 3)) out = both(out, at_least(i, pick(random, -1, 2)));
    if (pick(random, 0, 2) == 0) out = both(out, at_most(i, pick(random, 2, 9)));
  }
  return out;
}

Trees assumption_and_goal(Random& random) {
  Style style = style_of(random);
  style.depth = std::min(style.depth, 4);
  Tree assumption = random_assumption(random, style);
  return {assumption, random_condition(random, style, static_cast<int>(pick(random, 0, 2)))};
}

TEST(SymFuzz, ProofsHoldEverywhere) {
  check("prove", iterations(2500), assumption_and_goal, [](const Trees& trees) -> std::string {
    Given given(trees[0]);
    Condition goal = build_condition(trees[1], given.symbols);
    Tri answer = given.known.prove(goal);
    if (answer == Tri::unknown) return "";
    std::string wrong;
    each_point(3, -4, 10, [&](const Point& point) {
      auto assumed = value_of(trees[0], point);
      if (!assumed || !*assumed) return true;
      auto expected = value_of(trees[1], point);
      if (expected && *expected != (answer == Tri::yes))
        wrong = fmt::format("{} |- {} was answered {}, wrong at ({})", print(build_condition(trees[0], given.symbols)),
                            print(goal), answer == Tri::yes ? "yes" : "no", point_text(point));
      return wrong.empty();
    });
    return wrong;
  });
}

TEST(SymFuzz, AssumptionsAreForgottenAfterTheirScope) {
  check("scope", iterations(500), assumption_and_goal, [](const Trees& trees) -> std::string {
    Symbols symbols;
    Assumptions known(symbols);
    for (int i = 0; i < 3; ++i) known.assume(Condition::ge(symbol_of(i, symbols), i - 1));
    Condition goal = build_condition(trees[1], symbols);
    Tri earlier = known.prove(goal);
    {
      Assumptions::Scope scope(known);
      known.assume(build_condition(trees[0], symbols));
      known.prove(goal);
    }
    return known.prove(goal) == earlier && known.all().size() == 3 ? "" : "another answer after the scope";
  });
}

TEST(SymFuzz, SimplifiedMeansTheSame) {
  check("simplify", iterations(700), assumption_and_goal, [](const Trees& trees) -> std::string {
    Given given(trees[0]);
    Condition goal = build_condition(trees[1], given.symbols);
    if (goal.is_opaque()) return "";
    Condition simple = given.known.simplify(goal);
    std::string wrong;
    each_point(3, -4, 10, [&](const Point& point) {
      auto assumed = value_of(trees[0], point), expected = value_of(trees[1], point);
      if (!assumed || !*assumed || !expected) return true;
      if (evaluate(simple, binding_of(point, given.symbols)) != (*expected ? Tri::yes : Tri::no))
        wrong = fmt::format("{} became {}, wrong at ({})", print(goal), print(simple), point_text(point));
      return wrong.empty();
    });
    return wrong;
  });
}

TEST(SymFuzz, SimplifiedExpressionHasTheSameValue) {
  check(
      "simplify dim", iterations(700),
      [](Random& random) {
        Style style = style_of(random);
        Tree assumption = random_assumption(random, style);
        return Trees{assumption, random_expression(random, style, std::min(style.depth, 4))};
      },
      [](const Trees& trees) -> std::string {
        Given given(trees[0]);
        Dim dim = build_dim(trees[1], given.symbols);
        if (dim.is_unknown()) return "";
        Dim simple = given.known.simplify(dim);
        Interval range = given.known.range(dim);
        std::string wrong;
        each_point(3, -4, 10, [&](const Point& point) {
          auto assumed = value_of(trees[0], point), expected = value_of(trees[1], point);
          if (!assumed || !*assumed || !expected) return true;
          if (evaluate(simple, binding_of(point, given.symbols)) != expected)
            wrong = fmt::format("{} became {}, wrong at ({})", print(dim), print(simple), point_text(point));
          if ((range.lo && *expected < *range.lo) || (range.hi && *expected > *range.hi))
            wrong = fmt::format("{} is outside its range at ({})", print(dim), point_text(point));
          return wrong.empty();
        });
        return wrong;
      });
}

TEST(SymFuzz, PeriodicSetIsExact) {
  check(
      "periodic set", iterations(500),
      [](Random& random) {
        Style style = style_of(random);
        style.symbols = 1;
        style.broadcasts = false;
        style.largest = 40;
        style.depth = std::min(style.depth, 4);
        return Trees{random_condition(random, style, static_cast<int>(pick(random, 0, 2)))};
      },
      [](const Trees& trees) -> std::string {
        Symbols symbols;
        Dim s = symbol_of(0, symbols);
        Condition condition = build_condition(trees[0], symbols);
        if (condition.is_opaque()) return "";
        std::string wrong;
        for (std::optional<int64_t> hi : {std::optional<int64_t>(), std::optional<int64_t>(90)})
          for (int64_t lo : {0, 1, -7}) {
            auto set = PeriodicSet::solve(condition, s, lo, hi);
            if (!set) continue;
            Condition shown = set->to_condition(s);
            auto read = parse_condition(print(shown), symbols);
            if (!read) return "cannot read back " + print(shown);
            std::optional<int64_t> smallest;
            bool defined = true;
            for (int64_t v = lo; v <= hi.value_or(700) && wrong.empty(); ++v) {
              auto expected = value_of(trees[0], {v});
              defined = defined && expected;
              if (!expected) continue;
              if (*expected && !smallest) smallest = v;
              if (set->contains(v) != (*expected != 0))
                wrong = fmt::format("{} at {} (lo {})", print(condition), v, lo);
              if (shown.is_opaque()) continue;
              Tri truth = *expected ? Tri::yes : Tri::no;
              if (evaluate(shown, binding_of({v}, symbols)) != truth ||
                  evaluate(*read, binding_of({v}, symbols)) != truth)
                wrong = fmt::format("{} shown as {}, wrong at {} (lo {})", print(condition), print(shown), v, lo);
            }
            if (defined && smallest && set->smallest() != smallest) wrong = "another smallest member";
          }
        return wrong;
      });
}

// A value or residue of one symbol, and bounds of few kinds, so that disjuncts often differ in one number only.
Tree random_choice(Random& random) {
  Tree symbol{Op::symbol, pick(random, 0, 1), {}}, value{Op::number, pick(random, 0, 3), {}};
  Tree out = pick(random, 0, 2)
                 ? Tree{Op::divisible, 0, {{Op::sub, 0, {symbol, value}}, {Op::number, pick(random, 4, 5), {}}}}
                 : Tree{Op::eq, 0, {symbol, value}};
  if (pick(random, 0, 1)) out = both(out, at_least(pick(random, 0, 1), pick(random, 0, 1)));
  if (pick(random, 0, 2) == 0) out = both(out, at_most(1, 5));
  if (pick(random, 0, 3) == 0)
    out = both(out, Tree{Op::eq, 0, {{Op::symbol, 2, {}}, {Op::number, pick(random, 0, 1), {}}}});
  return out;
}

TEST(SymFuzz, JoinedAlternativesReadBack) {
  check(
      "joined alternatives", iterations(1200),
      [](Random& random) {
        Tree out = random_choice(random);
        for (int64_t n = pick(random, 1, 9); n > 0; --n) out = {Op::either, 0, {out, random_choice(random)}};
        return Trees{out};
      },
      [](const Trees& trees) -> std::string {
        Symbols symbols;
        Condition condition = build_condition(trees[0], symbols);
        if (condition.is_opaque()) return "";
        std::string printed = print(condition), error;
        auto back = parse_condition(printed, symbols, &error);
        if (!back) return "cannot read back " + printed + ": " + error;
        return same_truth(trees[0], *back, symbols);
      });
}

// Whether some value of symbol 0 within `range` satisfies the tree; nullopt when it is undefined somewhere.
std::optional<bool> exists(const Tree& tree, Point point, const Interval& range, int64_t reach) {
  bool found = false;
  for (int64_t v = range.lo.value_or(-reach); v <= range.hi.value_or(reach); ++v) {
    point[0] = v;
    auto value = value_of(tree, point);
    if (!value) return std::nullopt;
    found = found || *value;
    if (found) break;
  }
  return found;
}

TEST(SymFuzz, ProjectionEqualsEnumeration) {
  check(
      "eliminate", iterations(600),
      [](Random& random) {
        Style style = style_of(random);
        style.symbols = static_cast<int>(pick(random, 2, 3));
        style.broadcasts = style.symbolic_divisors = false;
        style.depth = static_cast<int>(pick(random, 2, 3));
        style.atoms = pick(random, 0, 2) == 0;
        style.largest = 6;
        Tree range = at_least(0, pick(random, -2, 2));
        if (pick(random, 0, 1)) range = both(range, at_most(0, pick(random, 2, 40)));
        for (int64_t i = 1; i < style.symbols; ++i)
          if (pick(random, 0, 1)) range = both(range, at_least(i, pick(random, 0, 1)));
        return Trees{range, random_condition(random, style, 2)};
      },
      [](const Trees& trees) -> std::string {
        Given given(trees[0]);
        Dim s = symbol_of(0, given.symbols);
        Condition condition = build_condition(trees[1], given.symbols);
        if (condition.is_opaque()) return "";
        Interval range = given.known.range(s);
        Projection projection = eliminate(condition, s, given.known);
        if (projection.condition.is_opaque()) return projection.exact ? "opaque and exact" : "";
        if (projection.condition.mentions(s)) return "still mentions the symbol: " + print(projection.condition);
        std::string wrong;
        each_point(2, -3, 6, [&](const Point& rest) {
          Point point{0, rest[0], rest[1]};
          for (size_t i = 1; i < 3; ++i) {
            Interval r = given.known.range(symbol_of(static_cast<int64_t>(i), given.symbols));
            if ((r.lo && point[i] < *r.lo) || (r.hi && point[i] > *r.hi)) return true;
          }
          auto expected = exists(trees[1], point, range, 60);
          if (!expected) return true;
          Tri got = evaluate(projection.condition, binding_of(point, given.symbols));
          if (got == Tri::yes && !*expected) expected = exists(trees[1], point, range, 20000);
          if (!expected) return true;
          bool fine = got == (*expected ? Tri::yes : Tri::no) || (!projection.exact && !*expected);
          if (!fine)
            wrong = fmt::format("{} gives {} ({}), wrong at ({})", print(condition), print(projection.condition),
                                projection.exact ? "exact" : "inexact", point_text(rest));
          return wrong.empty();
        });
        return wrong;
      });
}

}  // namespace
}  // namespace anyshape::fuzz
