#include "mqh/expression.h"

#include <fmt/format.h>

#include <vector>

#include "sym/node.h"

namespace anyshape::mqh {
namespace {

using Text = std::optional<std::string>;

Text joined(const std::vector<Text>& parts, std::string_view mark) {
  std::string out;
  for (const Text& part : parts) {
    if (!part) return std::nullopt;
    out += out.empty() ? *part : fmt::format("{}{}", mark, *part);
  }
  return "(" + out + ")";
}

std::string_view function_of(AtomKind kind) {
  switch (kind) {
    case AtomKind::floordiv:
      return "FloorDiv";
    case AtomKind::min:
      return "Least";
    case AtomKind::max:
      return "Greatest";
    default:
      return "Broadcast";
  }
}

// f(a, f(b, c)).
Text nested_call(std::string_view function, const Dims& args, const Spelling& spelling) {
  Text out;
  for (size_t i = args.size(); i-- > 0;) {
    const Text arg = mql5_expression(args[i], spelling);
    if (!arg || (i + 1 < args.size() && !out)) return std::nullopt;
    out = i + 1 == args.size() ? *arg : fmt::format("{}({},{})", function, *arg, *out);
  }
  return out;
}

Text select_text(const Atom& atom, const Spelling& spelling) {
  const Text condition = mql5_condition(*atom.condition, spelling);
  const Text yes = mql5_expression(atom.args[0], spelling), no = mql5_expression(atom.args[1], spelling);
  if (!condition || !yes || !no) return std::nullopt;
  return fmt::format("({} ? {} : {})", *condition, *yes, *no);
}

Text atom_text(const Atom& atom, const Spelling& spelling) {
  if (atom.kind == AtomKind::select) return select_text(atom, spelling);
  if (atom.kind != AtomKind::symbol) return nested_call(function_of(atom.kind), atom.args, spelling);
  const auto it = spelling.find(dim_of(&atom));
  return it == spelling.end() ? std::nullopt : Text(it->second);
}

Text term_text(const Term& term, const Spelling& spelling) {
  std::vector<Text> factors;
  if (term.coefficient != 1) factors.push_back(fmt::format("{}", term.coefficient));
  for (const Atom* atom : term.monomial->atoms) factors.push_back(atom_text(*atom, spelling));
  return factors.size() == 1 ? factors[0] : joined(factors, "*");
}

Text relation_text(const Relation& relation, const Spelling& spelling) {
  const Text expr = mql5_expression(relation.expr, spelling), divisor = mql5_expression(relation.divisor, spelling);
  if (!expr || !divisor) return std::nullopt;
  switch (relation.kind) {
    case Relation::Kind::eq:
      return *expr + "==0";
    case Relation::Kind::ne:
      return *expr + "!=0";
    case Relation::Kind::ge:
      return *expr + ">=0";
    case Relation::Kind::divisible:
      return fmt::format("{}%{}==0", *expr, *divisor);
  }
  return std::nullopt;
}

}  // namespace

Text mql5_expression(Dim dim, const Spelling& spelling) {
  if (dim.is_unknown()) return std::nullopt;
  if (const auto number = dim.constant()) return fmt::format("{}", *number);
  std::vector<Text> terms;
  for (const Term& term : terms_of(dim)) terms.push_back(term_text(term, spelling));
  if (constant_of(dim) != 0) terms.push_back(fmt::format("{}", constant_of(dim)));
  return terms.size() == 1 ? terms[0] : joined(terms, "+");
}

Text mql5_condition(const Condition& condition, const Spelling& spelling) {
  if (condition.is_opaque()) return std::nullopt;
  if (condition.is_always()) return "true";
  if (condition.is_never()) return "false";
  std::vector<Text> cases;
  for (const Condition::Conjunction& all : condition.any_of()) {
    std::vector<Text> relations;
    for (const Relation& relation : all) relations.push_back(relation_text(relation, spelling));
    cases.push_back(joined(relations, " && "));
  }
  return cases.size() == 1 ? cases[0] : joined(cases, " || ");
}

const std::string_view kSizeFunctions = R"(
   // Rounded down, also below zero.
   static long       FloorDiv(const long a,const long b) { return(a>=0 ? a/b : -((b-1-a)/b)); }
   static long       Least(const long a,const long b)    { return(a<b ? a : b); }
   static long       Greatest(const long a,const long b) { return(a<b ? b : a); }
   static long       Broadcast(const long a,const long b) { return(a==1 ? b : a); }
)";

}  // namespace anyshape::mqh
