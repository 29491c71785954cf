#include "ir/builder.h"
#include "sym/node.h"

namespace anyshape {
namespace {

// `count` sizes of neighbouring axes, i64[count].
Ref size_of_axis(Builder& b, const Scopes::SizeSource& source, size_t count) {
  const int64_t first = static_cast<int64_t>(source.axis), last = first + static_cast<int64_t>(count);
  const bool whole = first == 0 && static_cast<size_t>(last) == b.rank(source.value);
  if (whole) return b.op("Shape", {source.value});
  if (b.opset() >= 15) return b.op("Shape", {source.value}, {attr("start", first), attr("end", last)});
  return b.op("Slice", {b.op("Shape", {source.value}), b.ints({first}), b.ints({last}), b.ints({0})});
}

// ONNX divides towards zero, so a numerator that may be negative gives its remainder away first.
Ref computed(Builder& b, const Atom& atom) {
  Ref value;
  switch (atom.kind) {
    case AtomKind::symbol:
      b.refuse("export.size", "the size {:?} is not given by any value of the graph", print(dim_of(&atom)));
      return {};
    case AtomKind::floordiv: {
      Ref top_value = b.size(atom.args[0]);
      const Ref divisor = b.size(atom.args[1]);
      if (!b.proves(Condition::ge(atom.args[0], 0)))
        top_value = b.op("Sub", {top_value, b.op("Mod", {top_value, divisor})});
      value = b.op("Div", {top_value, divisor});
      break;
    }
    case AtomKind::min:
    case AtomKind::max: {
      const bool least = atom.kind == AtomKind::min;
      value = b.size(atom.args[0]);
      for (size_t i = 1; i < atom.args.size(); ++i) {
        const Ref other = b.size(atom.args[i]);
        value = b.opset() >= 12
                    ? b.op(least ? "Min" : "Max", {value, other})
                    : b.op("Where", {b.op("Less", {value, other}), least ? value : other, least ? other : value});
      }
      break;
    }
    case AtomKind::broadcast:
      value = b.size(atom.args[0]);
      for (size_t i = 1; i < atom.args.size(); ++i)
        value = b.op("Where", {b.op("Equal", {value, b.ints({1})}), b.size(atom.args[i]), value});
      break;
    case AtomKind::select:
      value = b.op("Where", {b.unsqueeze(b.truth(*atom.condition), {0}), b.size(atom.args[0]), b.size(atom.args[1])});
      break;
  }
  return value;
}

Ref arithmetic(Builder& b, Dim whole) {
  if (const Atom* atom = atom_of(whole)) return computed(b, *atom);
  const auto product_of = [&](const Term& term) {
    Ref value;
    for (const Atom* atom : term.monomial->atoms) {
      const Ref factor = b.size(dim_of(atom));
      value = value ? b.op("Mul", {value, factor}) : factor;
    }
    const int64_t scale = term.coefficient < 0 ? -term.coefficient : term.coefficient;
    return scale == 1 ? value : b.op("Mul", {value, b.ints({scale})});
  };
  Ref sum;
  for (const bool negative : {false, true})
    for (const Term& term : terms_of(whole)) {
      if ((term.coefficient < 0) != negative) continue;
      const Ref value = product_of(term);
      if (!sum)
        sum = negative ? b.op("Neg", {value}) : value;
      else
        sum = b.op(negative ? "Sub" : "Add", {sum, value});
    }
  const int64_t rest = constant_of(whole);
  if (rest > 0) return b.op("Add", {sum, b.ints({rest})});
  return rest < 0 ? b.op("Sub", {sum, b.ints({-rest})}) : sum;
}

Ref relation_value(Builder& b, const Relation& relation) {
  const Ref left = b.scalar(relation.expr);
  switch (relation.kind) {
    case Relation::Kind::eq:
      return b.op("Equal", {left, b.number(int64_t{0})});
    case Relation::Kind::ne:
      return b.op("Not", {b.op("Equal", {left, b.number(int64_t{0})})});
    case Relation::Kind::ge:
      return b.op("Not", {b.op("Less", {left, b.number(int64_t{0})})});
    case Relation::Kind::divisible:
      return b.op("Equal", {b.op("Mod", {left, b.scalar(relation.divisor)}), b.number(int64_t{0})});
  }
  return {};
}

}  // namespace

void Builder::define(Dim symbol, Ref value) {
  if (failed()) return;
  Ref entry = cast(value, DType::i64);
  if (rank(entry) == 0) entry = unsqueeze(entry, {0});
  // What is computed from it is computed with the symbol, too.
  if (Scopes::Scope* home = failed() ? nullptr : scopes_.find(entry.scope); home && !home->facts[entry.id].elements)
    home->facts[entry.id] = Fact::of_elements(DType::i64, {1}, {symbol});
  scopes_.keep_size(symbol, entry);
}

Ref Builder::size(Dim dim) {
  if (failed()) return {};
  if (dim.is_unknown()) {
    refuse("export.size", "a size is computed in a way that has no expression");
    return {};
  }
  if (const auto number = dim.constant()) return ints({*number});
  if (const auto known = scopes_.known_size(dim)) return *known;
  const auto source = scopes_.source_of(dim);
  const Ref made = source ? size_of_axis(*this, *source, 1) : arithmetic(*this, dim);
  if (!failed()) scopes_.keep_size(dim, made);
  return made;
}

Ref Builder::scalar(Dim dim) {
  if (const auto number = dim.constant()) return Builder::number(*number);
  return squeeze(size(dim), {0});
}

Ref Builder::truth(const Condition& condition) {
  if (condition.is_opaque()) {
    refuse("export.condition", "a condition on sizes has no expression");
    return {};
  }
  if (condition.is_always() || condition.is_never()) return integer(condition.is_always(), DType::boolean);
  Ref any;
  for (const auto& conjunction : condition.any_of()) {
    Ref all;
    for (const Relation& relation : conjunction) {
      const Ref holds = relation_value(*this, relation);
      all = all ? op("And", {all, holds}) : holds;
    }
    any = any ? op("Or", {any, all}) : all;
  }
  return any;
}

Ref Builder::shape(const Dims& dims) {
  if (failed()) return {};
  Refs parts;
  std::vector<int64_t> numbers;
  const auto flush = [&] {
    if (!numbers.empty()) parts.push_back(ints(std::exchange(numbers, {})));
  };
  for (size_t i = 0; i < dims.size();) {
    if (const auto number = dims[i].constant()) {
      numbers.push_back(*number);
      ++i;
      continue;
    }
    flush();
    const auto source = scopes_.known_size(dims[i]) ? std::nullopt : scopes_.source_of(dims[i]);
    size_t count = 1;
    while (source && i + count < dims.size() && !dims[i + count].is_constant() &&
           dim(source->value, source->axis + count) == dims[i + count])
      ++count;
    parts.push_back(count > 1 ? size_of_axis(*this, *source, count) : size(dims[i]));
    i += count;
  }
  flush();
  return parts.empty() ? ints({}) : concat(parts, 0);
}

}  // namespace anyshape
