#include "sym/formula.h"

#include <algorithm>

#include "base/bug.h"
#include "sym/node.h"

namespace anyshape {
namespace {

using Op = Formulas::Op;
constexpr int64_t kNone = Formulas::kNone;

int64_t broadcast_sizes(int64_t a, int64_t b) {
  if (a == 1) return b;
  return b == 1 || a == b ? a : kNone;
}

int64_t round_up(int64_t a, int64_t unit) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, unit - 1, &sum) ? kNone : sum / unit * unit;
}

int64_t calculate(Op op, int64_t a, int64_t b) {
  int64_t out = 0;
  switch (op) {
    case Op::add:
      return __builtin_add_overflow(a, b, &out) ? kNone : out;
    case Op::multiply:
      return __builtin_mul_overflow(a, b, &out) ? kNone : out;
    case Op::floordiv:
      return b <= 0 ? kNone : floor_div(a, b);
    case Op::min:
      return std::min(a, b);
    case Op::max:
      return std::max(a, b);
    case Op::broadcast:
      return broadcast_sizes(a, b);
    case Op::equal:
      return a == b;
    case Op::at_least:
      return a >= b;
    case Op::divisible:
      return b <= 0 ? kNone : a % b == 0;
    case Op::both:
      return a != 0 && b != 0;
    case Op::either:
      return a != 0 || b != 0;
    case Op::negate:
      return a == 0;
    case Op::round_up:
      return round_up(a, b);
    case Op::select:
      break;
  }
  return kNone;
}

}  // namespace

Formulas::Register Formulas::new_register(int64_t initial) {
  initial_.push_back(initial);
  return static_cast<Register>(initial_.size() - 1);
}

Formulas::Register Formulas::variable() { return new_register(kNone); }

Formulas::Register Formulas::constant(int64_t value) {
  const auto [it, first] = constants_.try_emplace(value, 0);
  if (first) it->second = new_register(value);
  return it->second;
}

Formulas::Register Formulas::apply(Op op, Register a, Register b, Register c) {
  const auto [it, first] = applied_.try_emplace({op, a, b, c}, 0);
  if (!first) return it->second;
  it->second = variable();
  code_.push_back({op, it->second, a, b, c});
  return it->second;
}

bool Formulas::knows(Dim dim) const {
  if (dim.is_unknown()) return false;
  const auto used = dim.symbols();
  return std::all_of(used.begin(), used.end(), [&](Dim s) { return symbols_.contains(s); });
}

bool Formulas::knows(const Condition& condition) const {
  const auto used = condition.symbols();
  return std::all_of(used.begin(), used.end(), [&](Dim s) { return symbols_.contains(s); });
}

Formulas::Register Formulas::compile(Dim dim) {
  if (const auto number = dim.constant()) return constant(*number);
  if (const auto it = symbols_.find(dim); it != symbols_.end()) return it->second;
  if (const auto it = dims_.find(dim); it != dims_.end()) return it->second;
  const auto atom_value = [&](const Atom& atom) -> Register {
    if (atom.kind == AtomKind::symbol) return compile(dim_of(&atom));
    if (atom.kind == AtomKind::select) {
      const Register holds = compile(*atom.condition), yes = compile(atom.args[0]), no = compile(atom.args[1]);
      return apply(Op::select, holds, yes, no);
    }
    const Op op = atom.kind == AtomKind::floordiv ? Op::floordiv
                  : atom.kind == AtomKind::min    ? Op::min
                  : atom.kind == AtomKind::max    ? Op::max
                                                  : Op::broadcast;
    Register value = compile(atom.args[0]);
    for (size_t i = 1; i < atom.args.size(); ++i) value = apply(op, value, compile(atom.args[i]));
    return value;
  };
  std::optional<Register> sum;
  for (const Term& term : terms_of(dim)) {
    std::optional<Register> part;
    if (term.coefficient != 1) part = constant(term.coefficient);
    for (const Atom* atom : term.monomial->atoms) {
      const Register value = atom_value(*atom);
      part = part ? apply(Op::multiply, *part, value) : value;
    }
    sum = sum ? apply(Op::add, *sum, *part) : *part;
  }
  ANYSHAPE_CHECK(sum.has_value());
  if (const int64_t rest = constant_of(dim); rest != 0) sum = apply(Op::add, *sum, constant(rest));
  return dims_[dim] = *sum;
}

Formulas::Register Formulas::relation(const Relation& r) {
  const Register value = compile(r.expr);
  switch (r.kind) {
    case Relation::Kind::eq:
      return apply(Op::equal, value, constant(0));
    case Relation::Kind::ne:
      return apply(Op::negate, apply(Op::equal, value, constant(0)));
    case Relation::Kind::ge:
      return apply(Op::at_least, value, constant(0));
    case Relation::Kind::divisible:
      break;
  }
  return apply(Op::divisible, value, compile(r.divisor));
}

Formulas::Register Formulas::compile(const Condition& condition) {
  ANYSHAPE_CHECK(!condition.is_opaque());
  std::optional<Register> any;
  for (const auto& conjunction : condition.any_of()) {
    Register all = constant(1);
    for (const Relation& r : conjunction) all = apply(Op::both, all, relation(r));
    any = any ? apply(Op::either, *any, all) : all;
  }
  return any.value_or(constant(0));
}

void Formulas::start(std::span<int64_t> registers) const {
  std::copy(initial_.begin(), initial_.end(), registers.begin());
}

void Formulas::evaluate(std::span<int64_t> registers, size_t from, size_t to) const {
  for (size_t i = from; i < to; ++i) {
    const Instruction& in = code_[i];
    const int64_t a = registers[in.a], b = registers[in.b];
    int64_t value = kNone;
    if (in.op == Op::select) {
      value = a == kNone ? kNone : a != 0 ? b : registers[in.c];
    } else if (in.op == Op::either) {
      // A relation without a value does not hold.
      value = (a != kNone && a != 0) || (b != kNone && b != 0);
    } else if (a != kNone && (in.op == Op::negate || b != kNone)) {
      value = calculate(in.op, a, b);
    }
    registers[in.to] = value;
  }
}

void Formulas::seal() {
  dims_.clear();
  symbols_.clear();
  applied_.clear();
}

}  // namespace anyshape
