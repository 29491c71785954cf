#include "ir/builder.h"
#include "sym/node.h"

namespace anyshape {

std::optional<Builder::SizeSource> Builder::source_of(Dim dim) const {
  for (auto it = scopes_.rbegin(); it != scopes_.rend(); ++it)
    if (const auto found = (*it)->axes.find(dim); found != (*it)->axes.end()) return found->second;
  return std::nullopt;
}

std::optional<Ref> Builder::known_size(Dim dim) const {
  for (auto it = scopes_.rbegin(); it != scopes_.rend(); ++it)
    if (const auto found = (*it)->sizes.find(dim); found != (*it)->sizes.end()) return found->second;
  return std::nullopt;
}

void Builder::define(Dim symbol, Ref value) {
  if (failed()) return;
  Ref entry = cast(value, DType::i64);
  if (rank(entry) == 0) entry = unsqueeze(entry, {0});
  // What is computed from it is computed with the symbol, too.
  if (Scope* home = failed() ? nullptr : scope(entry.scope); home && !home->facts[entry.id].elements)
    home->facts[entry.id] = Fact::of_elements(DType::i64, {1}, {symbol});
  top().sizes[symbol] = entry;
}

// `count` sizes of neighbouring axes, i64[count].
Ref Builder::size_of_axis(const SizeSource& source, size_t count) {
  const int64_t first = static_cast<int64_t>(source.axis), last = first + static_cast<int64_t>(count);
  const bool whole = first == 0 && static_cast<size_t>(last) == rank(source.value);
  if (whole) return op("Shape", {source.value});
  if (opset_ >= 15) return op("Shape", {source.value}, {attr("start", first), attr("end", last)});
  return op("Slice", {op("Shape", {source.value}), ints({first}), ints({last}), ints({0})});
}

Ref Builder::size(Dim dim) {
  if (failed()) return {};
  if (dim.is_unknown()) {
    refuse("export.size", "a size is computed in a way that has no expression");
    return {};
  }
  if (const auto number = dim.constant()) return ints({*number});
  if (const auto known = known_size(dim)) return *known;
  const auto source = source_of(dim);
  const Ref made = source ? size_of_axis(*source, 1) : arithmetic(dim);
  if (!failed()) top().sizes[dim] = made;
  return made;
}

Ref Builder::scalar(Dim dim) {
  if (const auto number = dim.constant()) return Builder::number(*number);
  return squeeze(size(dim), {0});
}

Ref Builder::arithmetic(Dim dim) {
  const auto product_of = [&](const Term& term) {
    Ref value;
    for (const Atom* atom : term.monomial->atoms) {
      const Ref factor = atom_value(dim_of(atom));
      value = value ? op("Mul", {value, factor}) : factor;
    }
    const int64_t scale = term.coefficient < 0 ? -term.coefficient : term.coefficient;
    return scale == 1 ? value : op("Mul", {value, ints({scale})});
  };
  Ref sum;
  for (const bool negative : {false, true})
    for (const Term& term : terms_of(dim)) {
      if ((term.coefficient < 0) != negative) continue;
      const Ref value = product_of(term);
      if (!sum)
        sum = negative ? op("Neg", {value}) : value;
      else
        sum = op(negative ? "Sub" : "Add", {sum, value});
    }
  const int64_t rest = constant_of(dim);
  if (rest > 0) return op("Add", {sum, ints({rest})});
  return rest < 0 ? op("Sub", {sum, ints({-rest})}) : sum;
}

// ONNX divides towards zero, so a numerator that may be negative gives its remainder away first.
Ref Builder::atom_value(Dim dim) {
  if (const auto known = known_size(dim)) return *known;
  if (source_of(dim)) return size(dim);
  const Atom* atom = atom_of(dim);
  Ref value;
  switch (atom->kind) {
    case AtomKind::symbol:
      refuse("export.size", "the size {:?} is not given by any value of the graph", print(dim));
      return {};
    case AtomKind::floordiv: {
      Ref top_value = size(atom->args[0]);
      const Ref divisor = size(atom->args[1]);
      if (!proves(Condition::ge(atom->args[0], 0))) top_value = op("Sub", {top_value, op("Mod", {top_value, divisor})});
      value = op("Div", {top_value, divisor});
      break;
    }
    case AtomKind::min:
    case AtomKind::max: {
      const bool least = atom->kind == AtomKind::min;
      value = size(atom->args[0]);
      for (size_t i = 1; i < atom->args.size(); ++i) {
        const Ref other = size(atom->args[i]);
        value = opset_ >= 12 ? op(least ? "Min" : "Max", {value, other})
                             : op("Where", {op("Less", {value, other}), least ? value : other, least ? other : value});
      }
      break;
    }
    case AtomKind::broadcast:
      value = size(atom->args[0]);
      for (size_t i = 1; i < atom->args.size(); ++i)
        value = op("Where", {op("Equal", {value, ints({1})}), size(atom->args[i]), value});
      break;
    case AtomKind::select:
      value = op("Where", {unsqueeze(truth(*atom->condition), {0}), size(atom->args[0]), size(atom->args[1])});
      break;
  }
  if (!failed()) top().sizes[dim] = value;
  return value;
}

Ref Builder::relation_value(const Relation& relation) {
  const Ref left = scalar(relation.expr);
  switch (relation.kind) {
    case Relation::Kind::eq:
      return op("Equal", {left, number(int64_t{0})});
    case Relation::Kind::ne:
      return op("Not", {op("Equal", {left, number(int64_t{0})})});
    case Relation::Kind::ge:
      return op("Not", {op("Less", {left, number(int64_t{0})})});
    case Relation::Kind::divisible:
      return op("Equal", {op("Mod", {left, scalar(relation.divisor)}), number(int64_t{0})});
  }
  return {};
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
      const Ref holds = relation_value(relation);
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
    const auto source = known_size(dims[i]) ? std::nullopt : source_of(dims[i]);
    size_t count = 1;
    while (source && i + count < dims.size() && !dims[i + count].is_constant() &&
           dim(source->value, source->axis + count) == dims[i + count])
      ++count;
    parts.push_back(count > 1 ? size_of_axis(*source, count) : size(dims[i]));
    i += count;
  }
  flush();
  return parts.empty() ? ints({}) : concat(parts, 0);
}

}  // namespace anyshape
