#include "format/pt2/expression_heads.h"

#include <algorithm>

namespace anyshape::pt2 {
namespace {

struct Head {
  std::string_view written;  // by PyTorch
  std::string_view name;     // ours
  size_t least, most;        // arguments
};

constexpr size_t kAny = SIZE_MAX;

// Sorted by `written`.
constexpr Head kHeads[] = {
    {"Abs", "abs", 1, 1},
    {"Add", "add", 1, kAny},
    {"And", "and", 1, kAny},
    {"CeilToInt", "ceil", 1, 1},
    {"CleanDiv", "floordiv", 2, 2},
    {"Eq", "eq", 2, 2},
    {"Equality", "eq", 2, 2},
    {"FloatPow", "pow", 2, 2},
    {"FloatTrueDiv", "truediv", 2, 2},
    {"FloorDiv", "floordiv", 2, 2},
    {"FloorToInt", "floor", 1, 1},
    {"Ge", "ge", 2, 2},
    {"GreaterThan", "ge", 2, 2},
    {"Gt", "gt", 2, 2},
    {"IntTrueDiv", "truediv", 2, 2},
    {"Le", "le", 2, 2},
    {"LessThan", "le", 2, 2},
    {"Lt", "lt", 2, 2},
    {"Max", "max", 1, kAny},
    {"Min", "min", 1, kAny},
    {"Mod", "mod", 2, 2},
    {"Mul", "mul", 1, kAny},
    {"Ne", "ne", 2, 2},
    {"Not", "not", 1, 1},
    {"Or", "or", 1, kAny},
    {"Pow", "pow", 2, 2},
    {"PowByNatural", "pow", 2, 2},
    {"PythonMod", "mod", 2, 2},
    {"RoundToInt", "round", 1, 1},
    {"StrictGreaterThan", "gt", 2, 2},
    {"StrictLessThan", "lt", 2, 2},
    {"ToFloat", "to_float", 1, 1},
    {"TruncToFloat", "trunc", 1, 1},
    {"TruncToInt", "trunc", 1, 1},
    {"Unequality", "ne", 2, 2},
    {"abs", "abs", 1, 1},
    {"ceil", "ceil", 1, 1},
    {"ceiling", "ceil", 1, 1},
    {"float", "to_float", 1, 1},
    {"floor", "floor", 1, 1},
    {"int", "trunc", 1, 1},
    {"math.ceil", "ceil", 1, 1},
    {"math.fabs", "abs", 1, 1},
    {"math.floor", "floor", 1, 1},
    {"math.trunc", "trunc", 1, 1},
    {"max", "max", 1, kAny},
    {"min", "min", 1, kAny},
    {"operator.floordiv", "floordiv", 2, 2},
    {"operator.mod", "mod", 2, 2},
    {"round", "round", 1, 1},
    {"torch.sym_float", "to_float", 1, 1},
    {"torch.sym_int", "trunc", 1, 1},
    {"torch.sym_max", "max", 1, kAny},
    {"torch.sym_min", "min", 1, kAny},
    {"torch.sym_not", "not", 1, 1},
    {"trunc", "trunc", 1, 1},
};
static_assert(std::is_sorted(std::begin(kHeads), std::end(kHeads),
                             [](const Head& a, const Head& b) { return a.written < b.written; }));

bool is_always(const Expression& e) { return e.kind == Expression::Kind::boolean && e.integer == 1; }

Expression shifted(Expression value, std::string_view operation, Expression by) {
  Expression factor = call_of("pow", {integer_of(2), std::move(by)});
  return call_of(operation, {std::move(value), std::move(factor)});
}

// Piecewise(ExprCondPair(value, condition), ...) as value, condition, ..., last value.
Expression piecewise(std::vector<Expression> pairs) {
  Expression out = call_of("piecewise", {});
  for (Expression& pair : pairs) {
    const bool last = is_always(pair.args[1]);
    out.args.push_back(std::move(pair.args[0]));
    if (last) break;
    out.args.push_back(std::move(pair.args[1]));
  }
  return out;
}

bool are_pairs(const std::vector<Expression>& args) {
  return !args.empty() && std::all_of(args.begin(), args.end(), [](const Expression& e) {
    return e.kind == Expression::Kind::call && (e.name == "ExprCondPair" || e.name == "tuple") && e.args.size() == 2;
  });
}

// Heads that are more than another name.
std::optional<Expression> rewritten(std::string_view head, std::vector<Expression>& args) {
  if ((head == "Where" || head == "torch.sym_ite") && args.size() == 3) {
    return call_of("piecewise", {std::move(args[1]), std::move(args[0]), std::move(args[2])});
  }
  if (head == "Piecewise" && are_pairs(args)) return piecewise(std::move(args));
  if (head == "ModularIndexing" && args.size() == 3) {
    Expression quotient = call_of("floordiv", {std::move(args[0]), std::move(args[1])});
    return call_of("mod", {std::move(quotient), std::move(args[2])});
  }
  if (head == "CeilDiv" && args.size() == 2) {
    Expression flipped = call_of("floordiv", {call_of("neg", {std::move(args[0])}), std::move(args[1])});
    return call_of("neg", {std::move(flipped)});
  }
  if (head == "LShift" && args.size() == 2) return shifted(std::move(args[0]), "mul", std::move(args[1]));
  if (head == "RShift" && args.size() == 2) return shifted(std::move(args[0]), "floordiv", std::move(args[1]));
  if (head == "torch.sym_sum" && args.size() == 1 && args[0].name == "list" && !args[0].args.empty()) {
    return call_of("add", std::move(args[0].args));
  }
  if (head == "Identity" && args.size() == 1) return std::move(args[0]);
  if (head == "Rational" && args.size() == 2) {
    return call_of("mul", {std::move(args[0]), call_of("pow", {std::move(args[1]), integer_of(-1)})});
  }
  return std::nullopt;
}

}  // namespace

Expression integer_of(int64_t value) {
  Expression out;
  out.integer = value;
  return out;
}

Expression call_of(std::string_view name, std::vector<Expression> args) {
  Expression out;
  out.kind = Expression::Kind::call;
  out.name = name;
  out.args = std::move(args);
  return out;
}

Expression apply_head(std::string_view head, std::vector<Expression> args) {
  if (auto out = rewritten(head, args)) return *std::move(out);
  const auto by_name = [](const Head& h, std::string_view name) { return h.written < name; };
  const auto* it = std::lower_bound(std::begin(kHeads), std::end(kHeads), head, by_name);
  const bool known =
      it != std::end(kHeads) && it->written == head && args.size() >= it->least && args.size() <= it->most;
  return call_of(known ? it->name : head, std::move(args));
}

}  // namespace anyshape::pt2
