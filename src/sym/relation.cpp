#include "sym/relation.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "sym/node.h"

namespace anyshape {
namespace {

using Kind = Relation::Kind;

Tri decide_constant(Kind kind, int64_t value) {
  if (kind == Kind::ge) return tri(value >= 0);
  return tri((value == 0) == (kind == Kind::eq));
}

// x with a * x == 1 modulo d; a and d have no common factor.
int64_t inverse(int64_t a, int64_t d) {
  int64_t r0 = d, r1 = floor_mod(a, d), t0 = 0, t1 = 1;
  while (r1 != 0) {
    int64_t q = r0 / r1;
    std::tie(r0, r1) = std::pair(r1, r0 - q * r1);
    std::tie(t0, t1) = std::pair(t1, t0 - q * t1);
  }
  return floor_mod(t0, d);
}

// dim * factor with every coefficient and the constant reduced into [0, d).
Dim reduce(Dim dim, int64_t d, int64_t factor) {
  auto times = [&](int64_t c) { return static_cast<int64_t>(static_cast<__int128>(floor_mod(c, d)) * factor % d); };
  std::vector<Term> terms;
  for (const Term& term : terms_of(dim))
    if (int64_t c = times(term.coefficient)) terms.push_back({term.monomial, c});
  int64_t constant = times(constant_of(dim));
  return terms.empty() ? Dim(constant) : owner_of(dim)->node(std::move(terms), constant);
}

Tri normalize_divisible_constant(Relation& r, int64_t d) {
  if (d == 1) return Tri::yes;
  Dim expr = reduce(r.expr, d, 1);
  int64_t g = std::gcd(content(expr), d);
  if (constant_of(expr) % g != 0) return Tri::no;
  if (expr.is_constant()) return Tri::yes;
  expr = divide_down(expr, g);
  d /= g;
  if (d == 1) return Tri::yes;
  expr = reduce(expr, d, 1);
  int64_t lead = leading(expr);
  if (std::gcd(lead, d) == 1)
    expr = reduce(expr, d, inverse(lead, d));
  else if (lead > d / 2)
    expr = reduce(expr, d, d - 1);
  r.expr = expr;
  r.divisor = d;
  return Tri::unknown;
}

// Coefficients without a common factor, the first one positive; yes/no where the constant decides it.
Tri normalize_sides(Relation& r) {
  if (auto value = r.expr.constant()) return decide_constant(r.kind, *value);
  int64_t g = content(r.expr);
  if (constant_of(r.expr) % g != 0) return tri(r.kind == Kind::ne);
  r.expr = divide_down(r.expr, g);
  if (leading(r.expr) < 0) r.expr = -r.expr;
  return Tri::unknown;
}

std::optional<Modulus> as_modulus_of_either_sign(Dim expr) {
  auto m = as_modulus(expr);
  return m ? m : as_modulus(-expr);
}

// dividend % divisor == value with a number as divisor, as one divisible relation.
Tri congruence(Relation& r, const Modulus& m, int64_t value) {
  if (value < 0 || value >= *m.divisor.constant()) return Tri::no;
  r = {Kind::divisible, m.dividend - value, m.divisor};
  return has_unknown(r) ? Tri::unknown : normalize_divisible_constant(r, *m.divisor.constant());
}

Tri normalize_equation(Relation& r) {
  Tri decided = normalize_sides(r);
  if (decided != Tri::unknown) return decided;
  auto m = as_modulus_of_either_sign(r.expr);
  if (!m) return Tri::unknown;
  auto d = m->divisor.constant();
  if (!d) {
    // A remainder other than 0 would also have to be below the divisor; the equation says both.
    if (r.kind == Kind::eq && m->offset == 0) r = {Kind::divisible, m->dividend, m->divisor};
    return Tri::unknown;
  }
  Relation made = r;
  decided = congruence(made, *m, -m->offset);
  if (has_unknown(made)) return Tri::unknown;
  if (r.kind == Kind::eq) {
    r = made;
    return decided;
  }
  if (decided != Tri::unknown) return decided == Tri::yes ? Tri::no : Tri::yes;
  Dim expr =
      mod(without_constant(made.expr), made.divisor) - floor_mod(-constant_of(made.expr), *made.divisor.constant());
  if (!expr.is_unknown()) r.expr = leading(expr) < 0 ? -expr : expr;
  return Tri::unknown;
}

// With a symbolic divisor the relation is the equation of the canonical remainder with 0.
Tri normalize_divisible(Relation& r) {
  if (auto d = r.divisor.constant()) return normalize_divisible_constant(r, *d);
  Relation equation{Kind::eq, mod(r.expr, r.divisor), 1};
  if (has_unknown(equation)) return Tri::unknown;
  Tri decided = normalize_equation(equation);
  r = equation;
  return decided;
}

// What all relations with the same key say together.
struct Group {
  Dim key;
  std::optional<int64_t> lo, hi;
  std::set<int64_t> except;

  void add(const Relation& r, const KeyBound& b) {
    if (r.kind == Kind::ne) {
      except.insert(b.value);
      return;
    }
    if (r.kind == Kind::eq || b.lower) lo = lo ? std::max(*lo, b.value) : b.value;
    if (r.kind == Kind::eq || !b.lower) hi = hi ? std::min(*hi, b.value) : b.value;
  }

  bool emit(std::vector<Relation>& out) const {
    std::optional<int64_t> low = lo, high = hi;
    while (low && *low < INT64_MAX && (!high || *low <= *high) && except.count(*low)) ++*low;
    while (high && *high > INT64_MIN && (!low || *low <= *high) && except.count(*high)) --*high;
    if (low && high && *low > *high) return false;
    if (low && high && *low == *high) {
      out.push_back(equal(key, *low));
      return true;
    }
    if (low) out.push_back(at_least(key, *low));
    if (high) out.push_back(at_most(key, *high));
    for (int64_t value : except)
      if ((!low || value > *low) && (!high || value < *high)) out.push_back(unequal(key, value));
    return true;
  }
};

// Two congruences of the same expression with constant divisors, kept as long as neither implies the other.
bool add_congruence(std::vector<Relation>& kept, const Relation& r) {
  auto d = r.divisor.constant();
  for (Relation& k : kept) {
    auto e = k.divisor.constant();
    auto offset = (r.expr - k.expr).constant();
    if (!d || !e || !offset) {
      if (k == r) return true;
      continue;
    }
    if (floor_mod(*offset, std::gcd(*d, *e)) != 0) return false;
    if (*e % *d == 0) return true;
    if (*d % *e == 0) {
      k = r;
      return true;
    }
  }
  kept.push_back(r);
  return true;
}

}  // namespace

bool has_unknown(const Relation& relation) {
  if (relation.expr.is_unknown() || relation.divisor.is_unknown()) return true;
  auto d = relation.divisor.constant();
  return relation.kind == Kind::divisible && d && *d <= 0;
}

std::optional<Modulus> as_modulus(Dim expr) {
  for (const Term& term : terms_of(expr)) {
    for (const Atom* atom : term.monomial->atoms) {
      if (atom->kind != AtomKind::floordiv) continue;
      Dim divisor = atom->args[1];
      if (!divisor.is_constant()) {
        Dim offset = expr - (atom->args[0] - divisor * dim_of(atom));
        if (auto c = offset.constant()) return Modulus{atom->args[0], divisor, *c};
      }
      if (term.monomial->atoms.size() != 1 || term.coefficient >= -1) continue;
      int64_t d = -term.coefficient;
      Dim rest = without_constant(expr - dim_of(term));
      for (int64_t shift : {int64_t{0}, constant_of(atom->args[0])}) {
        Dim quotient = floordiv(rest + shift, d);
        auto difference = (quotient - dim_of(atom)).constant();
        if (!difference) continue;
        // expr = rest + c - d*atom, and rest + shift mod d = rest + shift - d*(atom + difference).
        return Modulus{rest + shift, d, constant_of(expr) - shift + d * *difference};
      }
    }
  }
  return std::nullopt;
}

Tri normalize(Relation& r) {
  if (has_unknown(r)) return Tri::unknown;
  if (r.kind == Kind::divisible) return normalize_divisible(r);
  r.divisor = 1;
  if (auto value = r.expr.constant()) return decide_constant(r.kind, *value);
  if (r.kind != Kind::ge) return normalize_equation(r);
  r.expr = divide_down(r.expr, content(r.expr));
  return Tri::unknown;
}

bool relation_before(const Relation& a, const Relation& b) {
  if (a == b) return false;
  auto rank = [](const Relation& r) {
    switch (r.kind) {
      case Kind::divisible:
        return 0;
      case Kind::eq:
        return 1;
      case Kind::ge:
        return leading(r.expr) > 0 ? 2 : 3;
      case Kind::ne:
        break;
    }
    return 4;
  };
  auto key = [](const Relation& r) { return without_constant(leading(r.expr) < 0 ? -r.expr : r.expr); };
  Dim ka = key(a), kb = key(b);
  if (ka != kb) return dim_before(ka, kb);
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (a.divisor != b.divisor) return dim_before(a.divisor, b.divisor);
  return dim_before(a.expr, b.expr);
}

bool normalize(std::vector<Relation>& conjunction) {
  if (conjunction.size() <= 1) return true;
  std::vector<Group> groups;
  std::vector<Relation> out;
  std::vector<Relation> congruences;
  for (const Relation& r : conjunction) {
    auto bound = key_bound(r);
    if (!bound) {
      if (r.kind == Kind::divisible ? !add_congruence(congruences, r) : false) return false;
      if (r.kind != Kind::divisible) out.push_back(r);
      continue;
    }
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.key == bound->key; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{bound->key, {}, {}, {}});
    group->add(r, *bound);
  }
  out.insert(out.end(), congruences.begin(), congruences.end());
  for (const Group& group : groups)
    if (!group.emit(out)) return false;
  std::sort(out.begin(), out.end(), relation_before);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  for (const Relation& r : out) {
    if (r.kind == Kind::ge || r.kind == Kind::eq) continue;
    for (Relation& o : opposite(r))
      if (std::find(out.begin(), out.end(), o) != out.end()) return false;
  }
  conjunction = std::move(out);
  return true;
}

std::vector<Relation> opposite(const Relation& r) {
  std::vector<Relation> out;
  auto add = [&](Relation made) {
    if (normalize(made) != Tri::no) out.push_back(made);
  };
  switch (r.kind) {
    case Kind::eq:
      add({Kind::ne, r.expr, 1});
      break;
    case Kind::ne:
      add({Kind::eq, r.expr, 1});
      break;
    case Kind::ge:
      add({Kind::ge, -r.expr - 1, 1});
      break;
    case Kind::divisible:
      add({Kind::ne, mod(r.expr, r.divisor), 1});
      break;
  }
  return out;
}

std::optional<KeyBound> key_bound(const Relation& r) {
  if (r.kind == Kind::divisible || has_unknown(r) || r.expr.is_constant()) return std::nullopt;
  bool positive = leading(r.expr) > 0;
  Dim key = without_constant(positive ? r.expr : -r.expr);
  int64_t value = positive ? -constant_of(r.expr) : constant_of(r.expr);
  return KeyBound{key, value, positive};
}

Relation at_least(Dim key, int64_t value) { return {Kind::ge, key - value, 1}; }
Relation at_most(Dim key, int64_t value) { return {Kind::ge, Dim(value) - key, 1}; }
Relation equal(Dim key, int64_t value) { return {Kind::eq, key - value, 1}; }
Relation unequal(Dim key, int64_t value) { return {Kind::ne, key - value, 1}; }

}  // namespace anyshape
