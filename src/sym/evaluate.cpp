#include <algorithm>
#include <functional>
#include <unordered_map>

#include "sym/node.h"
#include "sym/relation.h"

namespace anyshape {
namespace {

using Number = std::optional<int64_t>;

Number value_of(const Atom& atom, const Binding& binding);

Number broadcast_of(const Atom& atom, const Binding& binding) {
  int64_t result = 1;
  for (Dim arg : atom.args) {
    Number value = evaluate(arg, binding);
    if (!value || (*value != 1 && result != 1 && *value != result)) return std::nullopt;
    if (*value != 1) result = *value;
  }
  return result;
}

Number extremum_of(const Atom& atom, const Binding& binding) {
  Number result;
  for (Dim arg : atom.args) {
    Number value = evaluate(arg, binding);
    if (!value) return std::nullopt;
    bool better = !result || (atom.kind == AtomKind::min ? *value < *result : *value > *result);
    if (better) result = value;
  }
  return result;
}

Number floordiv_of(const Atom& atom, const Binding& binding) {
  Number n = evaluate(atom.args[0], binding), d = evaluate(atom.args[1], binding);
  if (!n || !d || *d <= 0) return std::nullopt;
  return floor_div(*n, *d);
}

Number select_of(const Atom& atom, const Binding& binding) {
  Tri holds = evaluate(*atom.condition, binding);
  if (holds == Tri::unknown) return std::nullopt;
  return evaluate(atom.args[holds == Tri::yes ? 0 : 1], binding);
}

Number value_of(const Atom& atom, const Binding& binding) {
  switch (atom.kind) {
    case AtomKind::symbol:
      return binding(dim_of(&atom));
    case AtomKind::floordiv:
      return floordiv_of(atom, binding);
    case AtomKind::broadcast:
      return broadcast_of(atom, binding);
    case AtomKind::select:
      return select_of(atom, binding);
    case AtomKind::min:
    case AtomKind::max:
      return extremum_of(atom, binding);
  }
  return std::nullopt;
}

Tri evaluate_relation(const Relation& r, const Binding& binding) {
  Number value = evaluate(r.expr, binding);
  if (!value) return Tri::unknown;
  switch (r.kind) {
    case Relation::Kind::eq:
      return tri(*value == 0);
    case Relation::Kind::ne:
      return tri(*value != 0);
    case Relation::Kind::ge:
      return tri(*value >= 0);
    case Relation::Kind::divisible:
      break;
  }
  Number d = evaluate(r.divisor, binding);
  return !d || *d <= 0 ? Tri::unknown : tri(*value % *d == 0);
}

// Rebuilds expressions with some atoms replaced; shared parts are rebuilt once.
class Rebuild {
 public:
  explicit Rebuild(std::function<std::optional<Dim>(const Atom&)> replacement) : replacement_(std::move(replacement)) {}

  Dim operator()(Dim dim) {
    if (dim.is_constant() || dim.is_unknown()) return dim;
    if (auto found = nodes_.find(dim.node()); found != nodes_.end()) return found->second;
    Dim sum = constant_of(dim);
    bool changed = false;
    for (const Term& term : terms_of(dim)) {
      Dim part = term.coefficient;
      bool same = true;
      for (const Atom* atom : term.monomial->atoms) {
        Dim value = (*this)(*atom);
        same = same && value.node() == atom->self;
        part = part * value;
      }
      sum = sum + (same ? dim_of(term) : part);
      changed = changed || !same;
    }
    return nodes_[dim.node()] = changed ? sum : dim;
  }

  Condition operator()(const Condition& condition) {
    if (condition.is_opaque()) return condition;
    Condition any = Condition::never();
    for (const auto& all : condition.any_of()) {
      Condition conjunction;
      for (const Relation& r : all)
        conjunction = conjunction && Condition::of({r.kind, (*this)(r.expr), (*this)(r.divisor)});
      any = any || conjunction;
    }
    return any;
  }

 private:
  Dim operator()(const Atom& atom) {
    if (auto found = atoms_.find(&atom); found != atoms_.end()) return found->second;
    return atoms_[&atom] = rebuild(atom);
  }

  Dim rebuild(const Atom& atom) {
    if (auto value = replacement_(atom)) return *value;
    if (atom.kind == AtomKind::symbol) return dim_of(&atom);
    Dims args;
    for (Dim arg : atom.args) args.push_back((*this)(arg));
    if (atom.kind == AtomKind::select) return select((*this)(*atom.condition), args[0], args[1]);
    if (args == atom.args) return dim_of(&atom);
    if (atom.kind == AtomKind::floordiv) return floordiv(args[0], args[1]);
    auto fold = atom.kind == AtomKind::min ? min : atom.kind == AtomKind::max ? max : broadcast;
    Dim result = args[0];
    for (size_t i = 1; i < args.size(); ++i) result = fold(result, args[i]);
    return result;
  }

  std::function<std::optional<Dim>(const Atom&)> replacement_;
  std::unordered_map<const DimNode*, Dim> nodes_;
  std::unordered_map<const Atom*, Dim> atoms_;
};

Rebuild by_values(const std::vector<std::pair<Dim, Dim>>& values) {
  return Rebuild([&values](const Atom& atom) -> std::optional<Dim> {
    if (atom.kind != AtomKind::symbol) return std::nullopt;
    for (const auto& [symbol, value] : values)
      if (symbol.node() == atom.self) return value;
    return std::nullopt;
  });
}

Rebuild by_atom(const Atom* which, Dim value) {
  return Rebuild([=](const Atom& atom) { return &atom == which ? std::optional(value) : std::nullopt; });
}

}  // namespace

std::optional<int64_t> evaluate(Dim dim, const Binding& binding) {
  if (dim.is_unknown()) return std::nullopt;
  int64_t sum = constant_of(dim);
  for (const Term& term : terms_of(dim)) {
    int64_t part = term.coefficient;
    for (const Atom* atom : term.monomial->atoms) {
      Number value = value_of(*atom, binding);
      if (!value || __builtin_mul_overflow(part, *value, &part)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, part, &sum)) return std::nullopt;
  }
  return sum;
}

Tri evaluate(const Condition& condition, const Binding& binding) {
  if (condition.is_opaque()) return Tri::unknown;
  Tri any = Tri::no;
  for (const auto& all : condition.any_of()) {
    Tri every = Tri::yes;
    for (const Relation& r : all) {
      Tri one = evaluate_relation(r, binding);
      if (one == Tri::no) every = Tri::no;
      if (one == Tri::unknown && every == Tri::yes) every = Tri::unknown;
      if (every == Tri::no) break;
    }
    if (every == Tri::yes) return Tri::yes;
    if (every == Tri::unknown) any = Tri::unknown;
  }
  return any;
}

Dim substitute(Dim dim, const std::vector<std::pair<Dim, Dim>>& values) { return by_values(values)(dim); }

Condition substitute(const Condition& condition, const std::vector<std::pair<Dim, Dim>>& values) {
  return by_values(values)(condition);
}

Dim replace(Dim dim, const Atom* atom, Dim value) { return by_atom(atom, value)(dim); }

Condition replace(const Condition& condition, const Atom* atom, Dim value) { return by_atom(atom, value)(condition); }

}  // namespace anyshape
