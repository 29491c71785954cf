#include "sym_tree.h"

#include <fmt/format.h>

namespace anyshape::fuzz {
namespace {

constexpr const char* kNames[] = {"a", "b", "c", "d"};

Tree leaf(Random& random, const Style& style) {
  if (pick(random, 0, 2) == 0) return {Op::number, pick(random, -style.largest, style.largest), {}};
  return {Op::symbol, pick(random, 0, style.symbols - 1), {}};
}

Tree divisor(Random& random, const Style& style) {
  if (style.symbolic_divisors && pick(random, 0, 3) == 0) {
    Tree symbol{Op::symbol, pick(random, 0, style.symbols - 1), {}};
    if (pick(random, 0, 1)) return symbol;
    return {Op::mul, 0, {{Op::number, pick(random, 2, 3), {}}, symbol}};
  }
  return {Op::number, pick(random, 1, 8), {}};
}

int64_t floor_of(int64_t a, int64_t b) { return a / b - (a % b < 0); }

std::optional<int64_t> combine(Op op, int64_t a, int64_t b) {
  int64_t r;
  switch (op) {
    case Op::add:
      return __builtin_add_overflow(a, b, &r) ? std::nullopt : std::optional(r);
    case Op::sub:
      return __builtin_sub_overflow(a, b, &r) ? std::nullopt : std::optional(r);
    case Op::mul:
      return __builtin_mul_overflow(a, b, &r) ? std::nullopt : std::optional(r);
    case Op::floordiv:
      return b <= 0 ? std::nullopt : std::optional(floor_of(a, b));
    case Op::mod:
      return b <= 0 ? std::nullopt : std::optional(a - b * floor_of(a, b));
    case Op::min:
      return std::min(a, b);
    case Op::max:
      return std::max(a, b);
    case Op::broadcast:
      return a == 1 || a == b ? std::optional(b) : b == 1 ? std::optional(a) : std::nullopt;
    case Op::eq:
      return a == b;
    case Op::ne:
      return a != b;
    case Op::ge:
      return a >= b;
    case Op::divisible:
      return b <= 0 ? std::nullopt : std::optional<int64_t>(a % b == 0);
    case Op::both:
      return a && b;
    case Op::either:
      return a || b;
    default:
      return std::nullopt;
  }
}

std::string infix(const Tree& tree, const char* mark) {
  return fmt::format("({} {} {})", text_of(tree.children[0]), mark, text_of(tree.children[1]));
}

std::string call(const Tree& tree, const char* name) {
  return fmt::format("{}({}, {})", name, text_of(tree.children[0]), text_of(tree.children[1]));
}

void each_node(Tree& tree, const std::function<bool(Tree&)>& visit) {
  if (visit(tree)) return;
  for (Tree& child : tree.children) each_node(child, visit);
}

size_t size_of(const Tree& tree) {
  size_t n = 1;
  for (const Tree& child : tree.children) n += size_of(child);
  return n;
}

// What may stand for the node: its own parts, or a plain leaf.
std::vector<Tree> smaller(const Tree& tree) {
  std::vector<Tree> out;
  for (const Tree& child : tree.children)
    if (child.is_condition() == tree.is_condition()) out.push_back(child);
  if (tree.is_condition()) {
    Tree truth{Op::eq, 0, {{Op::number, 0, {}}, {Op::number, 0, {}}}};
    if (size_of(tree) > 3) out.push_back(truth);
  } else if (tree.op != Op::number) {
    out.push_back({Op::number, 1, {}});
  } else if (tree.value > 1 || tree.value < 0) {
    out.push_back({Op::number, tree.value / 2, {}});
    out.push_back({Op::number, tree.value - (tree.value > 0 ? 1 : -1), {}});
  }
  return out;
}

}  // namespace

int64_t pick(Random& random, int64_t lo, int64_t hi) {
  return lo + static_cast<int64_t>(random() % static_cast<uint64_t>(hi - lo + 1));
}

Tree random_expression(Random& random, const Style& style, int depth) {
  if (depth <= 0) return leaf(random, style);
  auto sub = [&] { return random_expression(random, style, depth - 1 - static_cast<int>(pick(random, 0, 1))); };
  switch (pick(random, 0, style.atoms ? 11 : 5)) {
    case 0:
      return leaf(random, style);
    case 1:
    case 2:
      return {Op::add, 0, {sub(), sub()}};
    case 3:
      return {Op::sub, 0, {sub(), sub()}};
    case 4:
      if (style.products && pick(random, 0, 1)) return {Op::mul, 0, {sub(), sub()}};
      [[fallthrough]];
    case 5:
      return {Op::mul, 0, {{Op::number, pick(random, -4, 6), {}}, sub()}};
    case 6:
    case 7:
      return {Op::floordiv, 0, {sub(), divisor(random, style)}};
    case 8:
      return {Op::mod, 0, {sub(), divisor(random, style)}};
    case 9:
      return {Op::min, 0, {sub(), sub()}};
    case 10:
      if (style.broadcasts) return {Op::broadcast, 0, {sub(), sub()}};
      return {Op::max, 0, {sub(), sub()}};
    default:
      return {Op::select, 0, {random_condition(random, style, 0), sub(), sub()}};
  }
}

Tree random_condition(Random& random, const Style& style, int depth) {
  if (depth > 0 && pick(random, 0, 1)) {
    Op op = pick(random, 0, 2) ? Op::both : Op::either;
    return {op, 0, {random_condition(random, style, depth - 1), random_condition(random, style, depth - 1)}};
  }
  if (depth > 0 && pick(random, 0, 5) == 0) return {Op::negation, 0, {random_condition(random, style, depth - 1)}};
  auto sub = [&] { return random_expression(random, style, static_cast<int>(pick(random, 0, style.depth - 1))); };
  switch (pick(random, 0, 5)) {
    case 0:
    case 1:
      return {Op::eq, 0, {sub(), sub()}};
    case 2:
      return {Op::ne, 0, {sub(), sub()}};
    case 3:
      return {Op::divisible, 0, {sub(), divisor(random, style)}};
    default:
      return {Op::ge, 0, {sub(), sub()}};
  }
}

std::optional<int64_t> value_of(const Tree& tree, const std::vector<int64_t>& symbols) {
  if (tree.op == Op::number) return tree.value;
  if (tree.op == Op::symbol) return symbols[static_cast<size_t>(tree.value)];
  auto first = value_of(tree.children[0], symbols);
  if (!first) return std::nullopt;
  if (tree.op == Op::negation) return !*first;
  if (tree.op == Op::select) {
    auto a = value_of(tree.children[1], symbols), b = value_of(tree.children[2], symbols);
    return a && b ? (*first ? a : b) : std::nullopt;
  }
  auto second = value_of(tree.children[1], symbols);
  return second ? combine(tree.op, *first, *second) : std::nullopt;
}

std::string text_of(const Tree& tree) {
  switch (tree.op) {
    case Op::number:
      return tree.value < 0 ? fmt::format("({})", tree.value) : std::to_string(tree.value);
    case Op::symbol:
      return kNames[tree.value];
    case Op::add:
      return infix(tree, "+");
    case Op::sub:
      return infix(tree, "-");
    case Op::mul:
      return infix(tree, "*");
    case Op::floordiv:
      return infix(tree, "//");
    case Op::mod:
      return infix(tree, "%");
    case Op::min:
      return call(tree, "min");
    case Op::max:
      return call(tree, "max");
    case Op::broadcast:
      return call(tree, "broadcast");
    case Op::eq:
      return infix(tree, "==");
    case Op::ne:
      return infix(tree, "!=");
    case Op::ge:
      return infix(tree, ">=");
    case Op::divisible:
      return fmt::format("({} % {} == 0)", text_of(tree.children[0]), text_of(tree.children[1]));
    case Op::both:
      return infix(tree, "and");
    case Op::either:
      return infix(tree, "or");
    case Op::negation:
      return fmt::format("not {}", text_of(tree.children[0]));
    case Op::select:
      break;
  }
  return fmt::format("select({}, {}, {})", text_of(tree.children[0]), text_of(tree.children[1]),
                     text_of(tree.children[2]));
}

Dim symbol_of(int64_t index, Symbols& symbols) { return symbols.symbol(kNames[index]); }

Binding binding_of(const std::vector<int64_t>& values, Symbols& symbols) {
  return [values, &symbols](Dim s) -> std::optional<int64_t> {
    for (size_t i = 0; i < values.size(); ++i)
      if (symbols.name(s) == kNames[i]) return values[i];
    return std::nullopt;
  };
}

Dim build_dim(const Tree& tree, Symbols& symbols) {
  if (tree.op == Op::number) return tree.value;
  if (tree.op == Op::symbol) return symbol_of(tree.value, symbols);
  if (tree.op == Op::select)
    return select(build_condition(tree.children[0], symbols), build_dim(tree.children[1], symbols),
                  build_dim(tree.children[2], symbols));
  Dim a = build_dim(tree.children[0], symbols), b = build_dim(tree.children[1], symbols);
  switch (tree.op) {
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::mul:
      return a * b;
    case Op::floordiv:
      return floordiv(a, b);
    case Op::mod:
      return mod(a, b);
    case Op::min:
      return min(a, b);
    case Op::max:
      return max(a, b);
    default:
      return broadcast(a, b);
  }
}

Condition build_condition(const Tree& tree, Symbols& symbols) {
  if (tree.op == Op::negation) return !build_condition(tree.children[0], symbols);
  if (tree.op == Op::both || tree.op == Op::either) {
    Condition a = build_condition(tree.children[0], symbols), b = build_condition(tree.children[1], symbols);
    return tree.op == Op::both ? a && b : a || b;
  }
  Dim a = build_dim(tree.children[0], symbols), b = build_dim(tree.children[1], symbols);
  switch (tree.op) {
    case Op::eq:
      return Condition::eq(a, b);
    case Op::ne:
      return Condition::ne(a, b);
    case Op::ge:
      return Condition::ge(a, b);
    default:
      return Condition::divisible(a, b);
  }
}

std::vector<Tree> shrink(std::vector<Tree> trees, const std::function<bool(const std::vector<Tree>&)>& fails) {
  bool progress = true;
  for (int round = 0; round < 200 && progress; ++round) {
    progress = false;
    for (size_t t = 0; t < trees.size() && !progress; ++t) {
      size_t nodes = size_of(trees[t]);
      for (size_t n = 0; n < nodes && !progress; ++n) {
        for (size_t option = 0; !progress; ++option) {
          std::vector<Tree> candidate = trees;
          size_t index = 0;
          bool replaced = false;
          each_node(candidate[t], [&](Tree& node) {
            if (index++ != n) return false;
            auto options = smaller(node);
            if (option < options.size()) {
              node = Tree(options[option]);
              replaced = true;
            }
            return true;
          });
          if (!replaced) break;
          if (!fails(candidate)) continue;
          trees = std::move(candidate);
          progress = true;
        }
      }
    }
  }
  return trees;
}

}  // namespace anyshape::fuzz
