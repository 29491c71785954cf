#include <algorithm>
#include <numeric>

#include "sym/limits.h"
#include "sym/node.h"

namespace anyshape {
namespace {

struct Split {
  Dim quotient, remainder;
};

// dim == d * quotient + remainder, every coefficient of the remainder in [0, d).
Split split(Dim dim, int64_t d) {
  Dim quotient = divide_down(dim, d);
  return {quotient, dim - quotient * d};
}

Dim floordiv_constant(Dim a, int64_t d) {
  if (d == 1) return a;
  if (auto value = a.constant()) return floor_div(*value, d);
  auto [quotient, rest] = split(a, d);
  if (quotient.is_unknown() || rest.is_unknown()) return Dim::unknown();
  if (rest.is_constant()) return quotient;
  int64_t g = std::gcd(content(rest), d);
  rest = divide_down(rest, g);
  d /= g;
  if (d == 1) return quotient + rest;
  int64_t constant = constant_of(rest);
  const Atom* inner = atom_of(without_constant(rest));
  if (inner && inner->kind == AtomKind::floordiv) {
    if (auto k = inner->args[1].constant()) {
      int64_t both;
      if (__builtin_mul_overflow(*k, d, &both)) return Dim::unknown();
      return quotient + floordiv_constant(inner->args[0] + Dim(*k) * constant, both);
    }
    if (constant == 0) return quotient + floordiv(inner->args[0], inner->args[1] * d);
  }
  return quotient + owner_of(rest)->atom(AtomKind::floordiv, {rest, d});
}

// What can be divided by the single product `b` term by term.
Split split(Dim a, const Term& b) {
  Dim quotient = 0;
  for (const Term& term : terms_of(a)) {
    auto m = divide(term.monomial, b.monomial);
    if (!m) continue;
    int64_t q = floor_div(term.coefficient, b.coefficient);
    quotient = quotient + (*m ? dim_of(*m) * q : Dim(q));
  }
  return {quotient, a - quotient * dim_of(b)};
}

bool all_divisible(Dim a, const Monomial* m) {
  if (constant_of(a) != 0) return false;
  return std::all_of(terms_of(a).begin(), terms_of(a).end(),
                     [&](const Term& t) { return divide(t.monomial, m).has_value(); });
}

Dim floordiv_symbolic(Dim a, Dim b) {
  if (auto exact = exact_div(a, b)) return *exact;
  int64_t g = std::gcd(std::gcd(content(a), content(b)), constant_of(b));
  if (a.is_constant()) g = 1;
  a = divide_down(a, g);
  b = divide_down(b, g);
  if (auto d = b.constant()) return floordiv(a, *d);
  Dim quotient = 0;
  if (terms_of(b).size() == 1 && constant_of(b) == 0 && leading(b) > 0) {
    const Term term = terms_of(b)[0];
    auto [q, rest] = split(a, term);
    if (q.is_unknown() || rest.is_unknown()) return Dim::unknown();
    if (rest == Dim(0)) return q;
    if (!rest.is_constant() && all_divisible(rest, term.monomial))
      return q + floordiv(*exact_div(rest, dim_of(term.monomial)), term.coefficient);
    quotient = q;
    a = rest;
  }
  const Atom* inner = atom_of(a);
  if (inner && inner->kind == AtomKind::floordiv) return quotient + floordiv(inner->args[0], inner->args[1] * b);
  if (a.is_unknown() || b.is_unknown()) return Dim::unknown();
  return quotient + owner_of(b)->atom(AtomKind::floordiv, {a, b});
}

void flatten(AtomKind kind, Dim dim, Dims& out) {
  const Atom* atom = atom_of(dim);
  if (atom && atom->kind == kind)
    out.insert(out.end(), atom->args.begin(), atom->args.end());
  else
    out.push_back(dim);
}

void sort_unique(Dims& args) {
  std::sort(args.begin(), args.end(), dim_before);
  args.erase(std::unique(args.begin(), args.end()), args.end());
}

// True when `arg` is the opposite extremum and already contains `other`: min(a, max(a, b)) is a.
bool absorbed(AtomKind opposite, Dim arg, Dim other) {
  const Atom* atom = atom_of(arg);
  return atom && atom->kind == opposite && std::find(atom->args.begin(), atom->args.end(), other) != atom->args.end();
}

Dim extremum(AtomKind kind, Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return Dim::unknown();
  Dims args;
  flatten(kind, a, args);
  flatten(kind, b, args);
  sort_unique(args);
  AtomKind opposite = kind == AtomKind::min ? AtomKind::max : AtomKind::min;
  auto loses = [&](Dim x, Dim to) {
    if (x == to) return false;
    if (absorbed(opposite, x, to)) return true;
    // Far apart constants have no difference in int64.
    if (x.is_constant() && to.is_constant()) return (*x.constant() > *to.constant()) == (kind == AtomKind::min);
    auto difference = (x - to).constant();
    return difference && (kind == AtomKind::min ? *difference > 0 : *difference < 0);
  };
  Dims kept;
  for (Dim x : args)
    if (std::none_of(args.begin(), args.end(), [&](Dim y) { return loses(x, y); })) kept.push_back(x);
  if (kept.size() == 1) return kept[0];
  if (kept.size() > limits::kArguments) return Dim::unknown();
  return owner_of(kept[0])->atom(kind, std::move(kept));
}

}  // namespace

Dim floordiv(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return Dim::unknown();
  if (auto d = b.constant()) return *d <= 0 ? Dim::unknown() : floordiv_constant(a, *d);
  return floordiv_symbolic(a, b);
}

Dim ceildiv(Dim a, Dim b) { return floordiv(a + b - 1, b); }

Dim mod(Dim a, Dim b) { return a - b * floordiv(a, b); }

Dim min(Dim a, Dim b) { return extremum(AtomKind::min, a, b); }
Dim max(Dim a, Dim b) { return extremum(AtomKind::max, a, b); }

Dim broadcast(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return Dim::unknown();
  Dims args;
  flatten(AtomKind::broadcast, a, args);
  flatten(AtomKind::broadcast, b, args);
  sort_unique(args);
  std::erase(args, Dim(1));
  if (args.empty()) return 1;
  if (args.size() == 1) return args[0];
  if (args.back().is_constant()) return args[args.size() - 2].is_constant() ? Dim::unknown() : args.back();
  if (args.size() > limits::kArguments) return Dim::unknown();
  return owner_of(args[0])->atom(AtomKind::broadcast, std::move(args));
}

Dim select(const Condition& condition, Dim a, Dim b) {
  if (condition.is_always()) return a;
  if (condition.is_never()) return b;
  if (condition.is_opaque() || a.is_unknown() || b.is_unknown()) return Dim::unknown();
  if (a == b) return a;
  return owner_of(condition.symbols()[0])->atom(AtomKind::select, {a, b}, &condition);
}

std::optional<Dim> exact_div(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown() || b == Dim(0)) return std::nullopt;
  if (a == Dim(0)) return Dim(0);
  if (a == b) return Dim(1);
  if (auto d = b.constant()) {
    if (*d == -1) return -a;
    if (content(a) % *d != 0 || constant_of(a) % *d != 0) return std::nullopt;
    Dim quotient = divide_down(a, *d);
    return quotient.is_unknown() ? std::nullopt : std::optional(quotient);
  }
  if (a.is_constant()) return std::nullopt;
  const Term lead = terms_of(b)[0];
  Dim quotient = 0;
  for (size_t step = 0; step <= limits::kTerms && a != Dim(0); ++step) {
    if (a.is_constant() || a.is_unknown()) return std::nullopt;
    const Term term = terms_of(a)[0];
    auto m = divide(term.monomial, lead.monomial);
    if (!m || term.coefficient % lead.coefficient != 0) return std::nullopt;
    Dim part = term.coefficient / lead.coefficient;
    if (*m) part = part * dim_of(*m);
    quotient = quotient + part;
    a = a - part * b;
  }
  return a == Dim(0) && !quotient.is_unknown() ? std::optional(quotient) : std::nullopt;
}

}  // namespace anyshape
