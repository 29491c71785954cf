#include "sym/univariate.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/effort.h"
#include "sym/limits.h"
#include "sym/node.h"
#include "sym/polynomial.h"

namespace anyshape {
namespace {

constexpr int64_t kTop = std::numeric_limits<int64_t>::max();

// The period after which an expression of one symbol repeats up to a polynomial; 0 when it passes the limit.
int64_t period_of(const Condition& condition);

int64_t lcm_limited(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  int64_t g = std::gcd(a, b), result;
  return __builtin_mul_overflow(a / g, b, &result) || result > limits::kPeriod ? 0 : result;
}

int64_t times_limited(int64_t a, int64_t b) {
  int64_t result;
  return a == 0 || __builtin_mul_overflow(a, b, &result) || result > limits::kPeriod ? 0 : result;
}

int64_t period_of(Dim dim) {
  int64_t period = 1;
  for (const Term& term : terms_of(dim))
    for (const Atom* atom : term.monomial->atoms) {
      int64_t inner = 1;
      for (Dim arg : atom->args) inner = lcm_limited(inner, period_of(arg));
      if (atom->kind == AtomKind::floordiv)
        if (auto d = atom->args[1].constant()) inner = times_limited(inner, *d);
      if (atom->condition) inner = lcm_limited(inner, period_of(*atom->condition));
      period = lcm_limited(period, inner);
    }
  return period;
}

int64_t period_of(const Condition& condition) {
  int64_t period = 1;
  for (const auto& all : condition.any_of())
    for (const Relation& r : all) {
      int64_t inner = lcm_limited(period_of(r.expr), period_of(r.divisor));
      if (r.kind == Relation::Kind::divisible)
        if (auto d = r.divisor.constant()) inner = times_limited(inner, *d);
      period = lcm_limited(period, inner);
    }
  return period;
}

// Walks k upwards for one residue (symbol = period * k + residue). Every evaluation is valid on [from, to]; whatever
// depends on a sign moves `to` down to where that sign still holds.
class ResidueWalk {
 public:
  ResidueWalk(const Atom* symbol, int64_t period, int64_t residue) : symbol_(symbol), value_(residue, period) {}

  // Truth on [from, to()], to() <= limit.
  bool holds(const Goals& goals, int64_t from, int64_t limit) {
    from_ = from;
    to_ = limit;
    for (const auto& [condition, negated] : goals)
      if (truth(*condition) == negated) return false;
    return true;
  }
  int64_t to() const { return to_; }
  bool failed() const { return failed_; }

 private:
  Polynomial fail() {
    failed_ = true;
    return {};
  }

  int sign_of(const Polynomial& p) {
    auto value = p.overflow ? std::nullopt : p.at(from_);
    Change change = first_change(p, from_, to_);
    if (!value || change.failed) failed_ = true;
    if (failed_) return 0;
    if (change.k) to_ = *change.k - 1;
    return sign(*value);
  }

  Polynomial eval(Dim dim) {
    Polynomial sum{Wide{constant_of(dim)}};
    for (const Term& term : terms_of(dim)) {
      Polynomial part{Wide{term.coefficient}};
      for (const Atom* atom : term.monomial->atoms) part = part * eval(*atom);
      sum = sum + part;
      if (failed_) return {};
    }
    return sum.overflow ? fail() : sum;
  }

  Polynomial eval(const Atom& atom) {
    if (failed_) return {};
    Effort::step();
    switch (atom.kind) {
      case AtomKind::symbol:
        return &atom == symbol_ ? value_ : fail();
      case AtomKind::floordiv:
        return quotient(eval(atom.args[0]), eval(atom.args[1]));
      case AtomKind::select:
        return eval(atom.args[truth(*atom.condition) ? 0 : 1]);
      case AtomKind::broadcast:
        return broadcast(atom);
      case AtomKind::min:
      case AtomKind::max:
        break;
    }
    Polynomial best = eval(atom.args[0]);
    for (size_t i = 1; i < atom.args.size() && !failed_; ++i) {
      Polynomial next = eval(atom.args[i]);
      int order = sign_of(next - best);
      if (atom.kind == AtomKind::min ? order < 0 : order > 0) best = next;
    }
    return best;
  }

  Polynomial broadcast(const Atom& atom) {
    Polynomial result(1);
    bool one = true;
    for (Dim arg : atom.args) {
      Polynomial value = eval(arg);
      if (failed_ || sign_of(value - Polynomial(1)) == 0) continue;
      if (!one && sign_of(value - result) != 0) return fail();
      result = value;
      one = false;
    }
    return result;
  }

  Polynomial quotient(Polynomial n, const Polynomial& d) {
    if (failed_ || sign_of(d) <= 0) return fail();
    if (d.is_constant()) {
      auto exact = n.floor_divided(d.constant());
      return exact ? *exact : fail();
    }
    Polynomial whole;
    while (!n.c.empty() && n.degree() >= d.degree()) {
      Polynomial step;
      step.c.resize(n.degree() - d.degree() + 1);
      step.c.back() = n.c.back() / d.c.back();
      if (n.c.back() % d.c.back() != 0) break;
      whole = whole + step;
      n = n - step * d;
      if (n.overflow) return fail();
    }
    return whole + fraction(n, d);
  }

  // The floor of n / d as the constant it is from `from_` on.
  Polynomial fraction(const Polynomial& n, const Polynomial& d) {
    auto top = n.at(from_), bottom = d.at(from_);
    if (failed_ || !top || !bottom || *bottom <= 0) return fail();
    Polynomial j(floor_div(*top, *bottom));
    if (sign_of(n - j * d) < 0 || sign_of(j * d + d - n) <= 0) return fail();
    return j;
  }

  bool truth(const Relation& r) {
    Polynomial p = eval(r.expr);
    if (failed_) return false;
    switch (r.kind) {
      case Relation::Kind::eq:
        return sign_of(p) == 0;
      case Relation::Kind::ne:
        return sign_of(p) != 0;
      case Relation::Kind::ge:
        return sign_of(p) >= 0;
      case Relation::Kind::divisible:
        break;
    }
    Polynomial d = eval(r.divisor);
    Polynomial q = quotient(p, d);
    return !failed_ && sign_of(p - q * d) == 0;
  }

  bool truth(const Condition& condition) {
    for (const auto& all : condition.any_of()) {
      bool every = true;
      for (const Relation& r : all) {
        every = truth(r);
        if (failed_) return false;
        if (!every) break;
      }
      if (every) return true;
    }
    return false;
  }

  const Atom* symbol_;
  Polynomial value_;
  int64_t from_ = 0, to_ = 0;
  bool failed_ = false;
};

void append(std::vector<Run>& runs, int64_t first, std::optional<int64_t> last, int64_t period) {
  if (!runs.empty() && runs.back().last && *runs.back().last + period == first)
    runs.back().last = last;
  else
    runs.push_back({first, last});
}

// Values one by one, for a bounded domain whose period is out of reach.
std::optional<Solution> enumerate(const Goals& goals, Dim symbol, int64_t lo, std::optional<int64_t> hi,
                                  bool stop_at_first) {
  int64_t count;
  if (!hi || __builtin_sub_overflow(*hi, lo, &count) || count > limits::kBoxPoints * 4) return std::nullopt;
  Solution out;
  out.runs.resize(1);
  for (int64_t v = lo; v <= *hi; ++v) {
    Effort::step(1 + static_cast<int64_t>(goals.size()) / 4);
    Binding binding = [&](Dim s) { return s == symbol ? std::optional(v) : std::nullopt; };
    bool all = true;
    for (const auto& [condition, negated] : goals) {
      Tri one = evaluate(*condition, binding);
      if (one == Tri::unknown) return std::nullopt;
      all = all && (one == Tri::yes) != negated;
    }
    if (all) append(out.runs[0], v, v, 1);
    if (all && stop_at_first) break;
  }
  return out;
}

}  // namespace

std::optional<Solution> solve_univariate(const Goals& goals, Dim symbol, int64_t lo, std::optional<int64_t> hi,
                                         bool stop_at_first) {
  auto far = [](int64_t v) { return v > kTop / 2 || v < -(kTop / 2); };
  if (far(lo) || (hi && far(*hi))) return std::nullopt;
  Solution out;
  for (const auto& [condition, negated] : goals) {
    if (condition->is_opaque()) return std::nullopt;
    out.period = lcm_limited(out.period, period_of(*condition));
  }
  if (hi && *hi < lo) out.period = 1;
  if (out.period == 0) return enumerate(goals, symbol, lo, hi, stop_at_first);
  int64_t period = out.period;
  out.runs.resize(static_cast<size_t>(period));
  size_t work = 0;
  for (int64_t r = 0; r < period; ++r) {
    ResidueWalk walk(atom_of(symbol), period, r);
    int64_t k = floor_div(lo - r + period - 1, period);
    int64_t limit = hi ? floor_div(*hi - r, period) : (kTop - period) / period;
    while (k <= limit) {
      if (++work > limits::kPeriodicWork || Effort::tired()) return std::nullopt;
      Effort::step();
      bool holds = walk.holds(goals, k, limit);
      if (walk.failed()) return std::nullopt;
      bool endless = !hi && walk.to() == limit;
      std::optional<int64_t> last = endless ? std::nullopt : std::optional(walk.to() * period + r);
      if (holds) append(out.runs[static_cast<size_t>(r)], k * period + r, last, period);
      if (holds && stop_at_first) return out;
      k = walk.to() + 1;
    }
  }
  return out;
}

Tri satisfiable_univariate(const Goals& goals, Dim symbol, std::optional<int64_t> lo, std::optional<int64_t> hi) {
  auto some = [](const Solution& s) {
    return std::any_of(s.runs.begin(), s.runs.end(), [](const auto& runs) { return !runs.empty(); });
  };
  auto upper = solve_univariate(goals, symbol, lo.value_or(0), hi, true);
  if (upper && some(*upper)) return Tri::yes;
  if (lo) return upper ? Tri::no : Tri::unknown;
  std::vector<Condition> mirrored;
  for (const auto& goal : goals) mirrored.push_back(substitute(*goal.first, {{symbol, -symbol - 1}}));
  Goals flipped;
  for (size_t i = 0; i < goals.size(); ++i) flipped.push_back({&mirrored[i], goals[i].second});
  int64_t start = hi && *hi < 0 ? -*hi - 1 : 0;
  auto lower = solve_univariate(flipped, symbol, start, std::nullopt, true);
  if (lower && some(*lower)) return Tri::yes;
  return upper && lower ? Tri::no : Tri::unknown;
}

}  // namespace anyshape
