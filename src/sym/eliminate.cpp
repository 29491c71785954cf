#include <algorithm>
#include <numeric>

#include "base/effort.h"
#include "sym/assumptions.h"
#include "sym/limits.h"
#include "sym/node.h"
#include "sym/relation.h"
#include "sym/univariate.h"

namespace anyshape {
namespace {

using Conjunction = Condition::Conjunction;
using Kind = Relation::Kind;

// expr == slope * symbol + rest, neither of them with the symbol in it.
struct Linear {
  Dim slope, rest;
};

std::optional<Linear> linear_in(Dim expr, Dim symbol) {
  Dim slope = 0, rest = constant_of(expr);
  for (const Term& term : terms_of(expr)) {
    Dim part = dim_of(term);
    if (!part.mentions(symbol)) {
      rest = rest + part;
      continue;
    }
    auto cofactor = exact_div(part, symbol);
    if (!cofactor || cofactor->mentions(symbol)) return std::nullopt;
    slope = slope + *cofactor;
  }
  if (slope.is_unknown() || rest.is_unknown()) return std::nullopt;
  return Linear{slope, rest};
}

bool mentions(const Relation& r, Dim symbol) { return r.expr.mentions(symbol) || r.divisor.mentions(symbol); }

class Eliminator {
 public:
  Eliminator(Dim symbol, const Assumptions& known) : symbol_(symbol), known_(known) {}

  Projection run(const Condition& condition, const Interval& range, int depth) {
    if (condition.is_opaque()) return {condition, false};
    if (range.lo && range.hi && *range.lo > *range.hi) return {Condition::never(), true};
    Projection out{Condition::never(), true};
    for (const auto& all : condition.any_of()) {
      Projection one = conjunction(all, range, depth);
      out.condition = out.condition || one.condition;
      out.exact = out.exact && one.exact;
    }
    if (out.condition.is_opaque()) out.exact = false;
    return out;
  }

 private:
  // The relations with the symbol (`ours`) are to be replaced; `others` stay.
  struct Parts {
    Conjunction ours;
    Condition others;
  };

  Projection conjunction(const Conjunction& all, const Interval& range, int depth) {
    Parts parts;
    Interval bounds = range;
    for (const Relation& r : all) {
      if (!mentions(r, symbol_)) {
        parts.others = parts.others && Condition::of(r);
        continue;
      }
      auto key = key_bound(r);
      if (r.kind == Kind::ge && key && key->key == symbol_)
        tighten(bounds, *key);
      else
        parts.ours.push_back(r);
    }
    if (bounds.lo && bounds.hi && *bounds.lo > *bounds.hi) return {Condition::never(), true};
    if (parts.ours.empty()) return {parts.others, true};
    using Step = std::optional<Projection> (Eliminator::*)(const Parts&, const Interval&, int);
    for (Step step : {&Eliminator::alone, &Eliminator::by_equation, &Eliminator::by_product, &Eliminator::by_bounds,
                      &Eliminator::by_values, &Eliminator::by_residues}) {
      if (depth > 3) break;
      auto done = (this->*step)(parts, bounds, depth);
      if (!done || done->condition.is_opaque()) continue;
      done->condition = done->condition && parts.others;
      if (!done->condition.is_opaque()) return *done;
    }
    return {parts.others, false};
  }

  static void tighten(Interval& bounds, const KeyBound& key) {
    if (key.lower && (!bounds.lo || key.value > *bounds.lo)) bounds.lo = key.value;
    if (!key.lower && (!bounds.hi || key.value < *bounds.hi)) bounds.hi = key.value;
  }

  static Condition together(const Conjunction& all) {
    Condition out;
    for (const Relation& r : all) out = out && Condition::of(r);
    return out;
  }

  // The symbol's relations mention nothing else: they hold for some value or for none.
  std::optional<Projection> alone(const Parts& parts, const Interval& bounds, int) {
    Condition ours = together(parts.ours);
    auto symbols = ours.symbols();
    if (symbols.size() != 1 || symbols[0] != symbol_) return std::nullopt;
    Tri some = satisfiable_univariate({{&ours, false}}, symbol_, bounds.lo, bounds.hi);
    if (some == Tri::unknown) return std::nullopt;
    return Projection{some == Tri::yes ? Condition::always() : Condition::never(), true};
  }

  // bounds as relations about numerator/denominator, denominator >= 1, which stands for the symbol.
  static Condition bounds_of(Dim numerator, Dim denominator, const Interval& bounds) {
    Condition out;
    if (bounds.lo) out = out && Condition::ge(numerator, denominator * *bounds.lo);
    if (bounds.hi) out = out && Condition::le(numerator, denominator * *bounds.hi);
    return out;
  }

  // The relation with numerator/denominator, known to be whole, for the symbol.
  Condition with_quotient(const Relation& r, Dim numerator, Dim denominator) {
    auto linear = linear_in(r.expr, symbol_);
    if (linear && !r.divisor.mentions(symbol_)) {
      Relation out{r.kind, linear->slope * numerator + linear->rest * denominator, r.divisor};
      if (r.kind == Kind::divisible) out.divisor = r.divisor * denominator;
      if (!out.expr.is_unknown() && !out.divisor.is_unknown()) return Condition::of(out);
    }
    return substitute(Condition::of(r), {{symbol_, floordiv(numerator, denominator)}});
  }

  Condition others_with_quotient(const Parts& parts, size_t except, Dim numerator, Dim denominator) {
    Condition out;
    for (size_t i = 0; i < parts.ours.size(); ++i)
      if (i != except) out = out && with_quotient(parts.ours[i], numerator, denominator);
    return out;
  }

  // c * symbol == rest with a number c; |c| == 1 first.
  std::optional<Projection> by_equation(const Parts& parts, const Interval& bounds, int) {
    size_t best = parts.ours.size();
    int64_t least = 0;
    for (size_t i = 0; i < parts.ours.size(); ++i) {
      if (parts.ours[i].kind != Kind::eq) continue;
      auto linear = linear_in(parts.ours[i].expr, symbol_);
      if (!linear || !linear->slope.constant()) continue;
      int64_t size = std::abs(*linear->slope.constant());
      if (best < parts.ours.size() && size >= least) continue;
      best = i;
      least = size;
    }
    if (best == parts.ours.size()) return std::nullopt;
    auto linear = linear_in(parts.ours[best].expr, symbol_);
    Dim numerator = *linear->slope.constant() < 0 ? linear->rest : -linear->rest;
    Condition out = Condition::divisible(numerator, least) && bounds_of(numerator, least, bounds) &&
                    others_with_quotient(parts, best, numerator, least);
    return Projection{out, true};
  }

  // factor * symbol + rest == 0 with a symbolic factor.
  std::optional<Projection> by_product(const Parts& parts, const Interval& bounds, int depth) {
    for (size_t i = 0; i < parts.ours.size(); ++i) {
      if (parts.ours[i].kind != Kind::eq) continue;
      auto linear = linear_in(parts.ours[i].expr, symbol_);
      if (!linear) continue;
      Dim factor = linear->slope, numerator = -linear->rest;
      Assumptions& known = const_cast<Assumptions&>(known_);
      Assumptions::Scope scope(known);
      known.assume(parts.others);
      if (known.proves(Condition::le(factor, 0))) {
        factor = -factor;
        numerator = -numerator;
      }
      if (!known.proves(Condition::ge(factor, 0))) continue;
      Condition out = Condition::divisible(numerator, factor) && bounds_of(numerator, factor, bounds) &&
                      others_with_quotient(parts, i, numerator, factor);
      if (known.proves(Condition::ge(factor, 1))) return Projection{out, true};
      Conjunction rest = parts.ours;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      Projection free = run(together(rest), bounds, depth + 1);
      Condition zero = Condition::eq(factor, 0) && Condition::eq(numerator, 0) && free.condition;
      return Projection{(Condition::ge(factor, 1) && out) || zero, free.exact};
    }
    return std::nullopt;
  }

  // numerator / denominator, denominator >= 1.
  struct Bound {
    Dim n;
    int64_t d = 1;
  };

  // What bounds the symbol, all linear with numbers before it.
  struct Bounds {
    std::vector<Bound> low, high;
    std::optional<Relation> congruence;
    Conjunction exclusions;

    bool open() const { return low.empty() || high.empty(); }
  };

  bool collect(const Relation& r, Bounds& out) {
    auto linear = linear_in(r.expr, symbol_);
    auto slope = linear ? linear->slope.constant() : std::nullopt;
    if (!slope || r.divisor.mentions(symbol_)) return false;
    if (r.kind == Kind::ne) {
      out.exclusions.push_back(r);
    } else if (r.kind == Kind::divisible) {
      auto d = r.divisor.constant();
      if (out.congruence || !d || *d > limits::kPeriod || std::gcd(*slope, *d) != 1) return false;
      out.congruence = r;
    } else if (*slope > 0) {
      out.low.push_back({-linear->rest, *slope});
    } else {
      out.high.push_back({linear->rest, -*slope});
    }
    return r.kind != Kind::eq;
  }

  // Lower and upper bounds, at most one congruence, exclusions.
  std::optional<Projection> by_bounds(const Parts& parts, const Interval& range, int depth) {
    Bounds bounds;
    if (range.lo) bounds.low.push_back({*range.lo, 1});
    if (range.hi) bounds.high.push_back({*range.hi, 1});
    for (const Relation& r : parts.ours)
      if (!collect(r, bounds)) return std::nullopt;
    if (!bounds.exclusions.empty()) return by_exclusions(parts, range, bounds.exclusions, bounds.open(), depth);
    if (bounds.open()) return Projection{Condition::always(), true};
    return Projection{bounds.congruence ? room_for_congruence(bounds) : room(bounds), true};
  }

  static Condition room(const Bounds& bounds) {
    Condition out;
    for (const Bound& l : bounds.low)
      for (const Bound& h : bounds.high) {
        bool plain = l.d == 1 || h.d == 1;
        out =
            out && (plain ? Condition::le(l.n * h.d, h.n * l.d) : Condition::le(ceildiv(l.n, l.d), floordiv(h.n, h.d)));
      }
    return out;
  }

  Condition room_for_congruence(const Bounds& bounds) {
    Dim first = ceildiv(bounds.low[0].n, bounds.low[0].d), last = floordiv(bounds.high[0].n, bounds.high[0].d);
    for (const Bound& l : bounds.low) first = max(first, ceildiv(l.n, l.d));
    for (const Bound& h : bounds.high) last = min(last, floordiv(h.n, h.d));
    int64_t d = *bounds.congruence->divisor.constant();
    auto linear = linear_in(bounds.congruence->expr, symbol_);
    // The smallest member from `first` on: first + t, slope * (first + t) + rest == 0 modulo d.
    Dim gap = mod(-(linear->slope * first + linear->rest) * inverse(*linear->slope.constant(), d), d);
    return Condition::le(first + gap, last);
  }

  static int64_t inverse(int64_t a, int64_t d) {
    for (int64_t x = 1; x < d; ++x)
      if (static_cast<int64_t>(static_cast<__int128>(floor_mod(a, d)) * x % d) == 1) return x;
    return 1;
  }

  // symbol != e. With an open end there is always room; between bounds it becomes < or >.
  std::optional<Projection> by_exclusions(const Parts& parts, const Interval& bounds, const Conjunction& exclusions,
                                          bool open, int depth) {
    Conjunction rest;
    for (const Relation& r : parts.ours)
      if (r.kind != Kind::ne) rest.push_back(r);
    if (open) return run(together(rest), bounds, depth + 1);
    if (exclusions.size() > 3) return std::nullopt;
    Condition split = together(rest);
    for (const Relation& r : exclusions) split = split && (Condition::ge(r.expr, 1) || Condition::le(r.expr, -1));
    return run(split, bounds, depth + 1);
  }

  std::optional<Projection> by_values(const Parts& parts, const Interval& bounds, int) {
    int64_t count;
    if (!bounds.lo || !bounds.hi || __builtin_sub_overflow(*bounds.hi, *bounds.lo, &count)) return std::nullopt;
    if (count >= limits::kEliminateValues) return std::nullopt;
    Condition ours = together(parts.ours), out = Condition::never();
    for (int64_t v = *bounds.lo; v <= *bounds.hi; ++v) out = out || substitute(ours, {{symbol_, v}});
    return Projection{out, true};
  }

  // symbol = period * symbol + r frees it from quotients and congruences with numbers.
  std::optional<Projection> by_residues(const Parts& parts, const Interval& bounds, int depth) {
    int64_t period = 1;
    for (const Relation& r : parts.ours) {
      period = std::lcm(period, divisor_in(r.expr));
      if (auto d = r.divisor.constant(); d && r.kind == Kind::divisible && *d <= 16) period = std::lcm(period, *d);
      if (period > 16) return std::nullopt;
    }
    if (period < 2) return std::nullopt;
    Condition ours = together(parts.ours);
    Projection out{Condition::never(), true};
    for (int64_t r = 0; r < period; ++r) {
      Interval part;
      int64_t past;
      if (bounds.lo && !__builtin_sub_overflow(r, *bounds.lo, &past)) part.lo = -floor_div(past, period);
      if (bounds.hi && !__builtin_sub_overflow(*bounds.hi, r, &past)) part.hi = floor_div(past, period);
      Projection one = run(substitute(ours, {{symbol_, symbol_ * period + r}}), part, depth + 2);
      out.condition = out.condition || one.condition;
      out.exact = out.exact && one.exact;
    }
    return out.exact ? std::optional(out) : std::nullopt;
  }

  int64_t divisor_in(Dim dim) const {
    int64_t period = 1;
    for (const Term& term : terms_of(dim))
      for (const Atom* atom : term.monomial->atoms) {
        if (atom->kind == AtomKind::symbol || !dim_of(atom).mentions(symbol_)) continue;
        for (Dim arg : atom->args) period = std::lcm(period, divisor_in(arg));
        auto d = atom->kind == AtomKind::floordiv ? atom->args[1].constant() : std::nullopt;
        if (d && *d <= 16) period *= *d;
        if (period > 16) return 17;
      }
    return period;
  }

  Dim symbol_;
  const Assumptions& known_;
};

}  // namespace

Projection eliminate(const Condition& condition, Dim symbol, const Assumptions& assumptions) {
  Interval range = assumptions.range(symbol);
  if (!condition.mentions(symbol) && !condition.is_opaque() && !(range.lo && range.hi && *range.lo > *range.hi))
    return {condition, true};
  if (Effort::tired()) return {Condition::always(), false};
  return Eliminator(symbol, assumptions).run(condition, range, 0);
}

}  // namespace anyshape
