#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "format/torchscript/parser.h"

namespace anyshape::torchscript {

bool Cursor::take(std::string_view what) {
  if (!is(what)) return false;
  next();
  return true;
}

bool Cursor::take(Token::Kind kind) {
  if (!is(kind)) return false;
  next();
  return true;
}

Status Cursor::expect(std::string_view what) {
  if (take(what)) return {};
  return unexpected(what);
}

Status Cursor::expect(Token::Kind kind, std::string_view what) {
  if (take(kind)) return {};
  return unexpected(what);
}

tl::unexpected<Error> Cursor::wrong(std::string_view what) const {
  return at(fmt::format("{}:{}", file_, peek().line), refuse("script.syntax", "{}", what).value());
}

tl::unexpected<Error> Cursor::unexpected(std::string_view wanted) const {
  const Token& token = peek();
  const bool visible = token.kind != Token::Kind::newline && !token.spelling.empty();
  return wrong(fmt::format("expected {} before {}", wanted, visible ? token.spelling : "the end of the line"));
}

namespace {

using Kind = Expr::Kind;

constexpr std::array<std::string_view, 27> kKeywords = {
    "if", "else",   "elif",     "for",    "while",  "in",   "is",     "not",   "and",
    "or", "return", "raise",    "assert", "del",    "pass", "def",    "class", "with",
    "as", "break",  "continue", "lambda", "import", "from", "global", "yield", "async"};

bool is_keyword(std::string_view name) {
  return std::find(kKeywords.begin(), kKeywords.end(), name) != kKeywords.end();
}

struct Operator {
  std::string_view text;
  int level;  // binds tighter when larger
};

constexpr int kCompare = 3, kUnary = 10;
constexpr std::array kOperators = {
    Operator{"or", 1},        Operator{"and", 2},       Operator{"==", kCompare},  Operator{"!=", kCompare},
    Operator{"<", kCompare},  Operator{"<=", kCompare}, Operator{">", kCompare},   Operator{">=", kCompare},
    Operator{"in", kCompare}, Operator{"is", kCompare}, Operator{"not", kCompare}, Operator{"|", 4},
    Operator{"^", 5},         Operator{"&", 6},         Operator{"<<", 7},         Operator{">>", 7},
    Operator{"+", 8},         Operator{"-", 8},         Operator{"*", 9},          Operator{"/", 9},
    Operator{"//", 9},        Operator{"%", 9},         Operator{"@", 9},          Operator{"**", 11}};

template <class... Exprs>
std::vector<Expr> exprs(Exprs&&... parts) {
  std::vector<Expr> list;
  list.reserve(sizeof...(parts));
  (list.push_back(std::forward<Exprs>(parts)), ...);
  return list;
}

class Parser {
 public:
  explicit Parser(Cursor& cursor) : in_(cursor) {}

  Result<Expr> ternary() {
    if (++nesting_ > 2 * kMaxNesting) return deep();
    TRY(Expr value, operation(1));
    if (in_.take("if")) {
      TRY(Expr condition, operation(1));
      TRY_OK(in_.expect("else"));
      TRY(Expr otherwise, ternary());
      value = join(Kind::ternary, {}, exprs(std::move(value), std::move(condition), std::move(otherwise)));
    }
    --nesting_;
    return checked(std::move(value));
  }

  Result<Expr> list(bool* comma) {
    TRY(Expr first, ternary());
    if (comma != nullptr) *comma = in_.is(",");
    if (!in_.is(",")) return first;
    std::vector<Expr> items = exprs(std::move(first));
    while (in_.take(",") && starts()) {
      TRY(Expr item, ternary());
      items.push_back(std::move(item));
    }
    return checked(join(Kind::tuple, {}, std::move(items)));
  }

 private:
  tl::unexpected<Error> deep() const {
    return at(fmt::format("{}:{}", in_.file(), in_.peek().line),
              refuse("script.depth", "an expression nests more than {} levels", kMaxNesting).value());
  }

  Expr leaf(Kind kind, std::string text = {}) const {
    Expr expr;
    expr.kind = kind;
    expr.line = in_.peek().line;
    expr.text = std::move(text);
    return expr;
  }

  Expr join(Kind kind, std::string text, std::vector<Expr> args) const {
    Expr expr = leaf(kind, std::move(text));
    for (const Expr& arg : args) expr.depth = std::max(expr.depth, arg.depth + 1);
    if (!args.empty()) expr.line = args[0].line;
    expr.args = std::move(args);
    return expr;
  }

  Result<Expr> checked(Expr expr) const {
    if (expr.depth > kMaxNesting) return deep();
    return expr;
  }

  // Whether an expression may begin here.
  bool starts() const {
    const Token& token = in_.peek();
    if (token.kind == Token::Kind::name) return token.spelling == "not" || !is_keyword(token.spelling);
    if (token.kind != Token::Kind::punctuation) {
      return token.kind == Token::Kind::integer || token.kind == Token::Kind::real ||
             token.kind == Token::Kind::imaginary || token.kind == Token::Kind::text;
    }
    constexpr std::array<std::string_view, 7> kOpen = {"(", "[", "{", "-", "+", "~", "..."};
    return std::find(kOpen.begin(), kOpen.end(), token.spelling) != kOpen.end();
  }

  const Operator* binary(int least) const {
    for (const Operator& op : kOperators) {
      if (op.level < least || !in_.is(op.text)) continue;
      if (op.text == "not" && !in_.peek(1).is("in")) return nullptr;
      return &op;
    }
    return nullptr;
  }

  std::string spelled(const Operator& op) {
    in_.next();
    if (op.text == "not") {
      in_.next();
      return "not in";
    }
    return op.text == "is" && in_.take("not") ? "is not" : std::string(op.text);
  }

  Result<Expr> operation(int least) {
    if (++nesting_ > 2 * kMaxNesting) return deep();
    TRY(Expr left, unary());
    while (const Operator* op = binary(least)) {
      std::string text = spelled(*op);
      // ** binds to the right, every other operator to the left.
      TRY(Expr right, operation(op->level == 11 ? 11 : op->level + 1));
      if (op->level == kCompare && binary(kCompare) != nullptr && binary(kCompare)->level == kCompare) {
        return in_.wrong("a chain of comparisons");
      }
      Kind kind = op->level == kCompare ? Kind::compare : Kind::binary;
      if (op->level < kCompare) kind = op->level == 1 ? Kind::either : Kind::both;
      if (op->level < kCompare) text.clear();
      TRY(left, checked(join(kind, std::move(text), exprs(std::move(left), std::move(right)))));
    }
    --nesting_;
    return left;
  }

  Result<Expr> unary() {
    if (in_.take("not")) return wrap("not", operation(kCompare));
    for (std::string_view op : {"-", "+", "~"}) {
      if (!in_.take(op)) continue;
      if (op == "-" && in_.is(Token::Kind::integer) && in_.peek().spelling == "9223372036854775808") {
        Expr lowest = leaf(Kind::integer);
        in_.next();
        lowest.integer = std::numeric_limits<int64_t>::min();
        return lowest;
      }
      return wrap(std::string(op), operation(kUnary));
    }
    TRY(Expr value, atom());
    return postfix(std::move(value));
  }

  Result<Expr> wrap(std::string op, Result<Expr> operand) {
    if (!operand) return operand;
    if (op == "-" && operand->kind == Kind::integer && operand->integer != std::numeric_limits<int64_t>::min()) {
      operand->integer = -operand->integer;
      return operand;
    }
    if (op == "-" && (operand->kind == Kind::real || operand->kind == Kind::imaginary)) {
      operand->real = -operand->real;
      return operand;
    }
    return checked(join(Kind::unary, std::move(op), exprs(*std::move(operand))));
  }

  Result<Expr> postfix(Expr value) {
    while (true) {
      if (in_.take(".")) {
        TRY(std::string name, in_.identifier());
        value = join(Kind::attribute, std::move(name), exprs(std::move(value)));
      } else if (in_.take("(")) {
        TRY(value, call(std::move(value)));
      } else if (in_.take("[")) {
        TRY(Expr index, subscript());
        value = join(Kind::subscript, {}, exprs(std::move(value), std::move(index)));
      } else {
        return value;
      }
      if (value.depth > kMaxNesting) return deep();
    }
  }

  Result<Expr> call(Expr callee) {
    std::vector<Expr> args = exprs(std::move(callee));
    std::vector<std::string> keywords;
    while (!in_.take(")")) {
      std::string keyword;
      if (in_.is(Token::Kind::name) && in_.peek(1).is("=")) {
        keyword = in_.next().spelling;
        in_.next();
      }
      const bool star = keyword.empty() && in_.take("*");
      TRY(Expr arg, ternary());
      if (star) arg = join(Kind::star, {}, exprs(std::move(arg)));
      args.push_back(std::move(arg));
      keywords.push_back(std::move(keyword));
      if (!in_.take(",") && !in_.is(")")) return in_.unexpected(")");
    }
    Expr value = join(Kind::call, {}, std::move(args));
    value.keywords = std::move(keywords);
    return value;
  }

  Result<Expr> subscript() {
    TRY(Expr first, index());
    if (in_.take("]")) return first;
    std::vector<Expr> items = exprs(std::move(first));
    while (!in_.take("]")) {
      TRY_OK(in_.expect(","));
      if (in_.take("]")) break;
      TRY(Expr item, index());
      items.push_back(std::move(item));
    }
    return join(Kind::tuple, {}, std::move(items));
  }

  Result<Expr> index() {
    std::vector<Expr> parts;
    bool slice = false;
    while (true) {
      if (in_.is(":") || in_.is("]") || in_.is(",")) {
        parts.push_back(leaf(Kind::none));
      } else {
        TRY(Expr part, ternary());
        parts.push_back(std::move(part));
      }
      if (!in_.take(":")) break;
      slice = true;
    }
    if (parts.size() > 3) return in_.wrong("a slice has more than three parts");
    if (!slice && parts[0].kind == Kind::none && !in_.is("]")) return in_.unexpected("an index");
    if (!slice) return std::move(parts[0]);
    while (parts.size() < 3) parts.push_back(leaf(Kind::none));
    return join(Kind::slice, {}, std::move(parts));
  }

  Result<Expr> atom() {
    const Token& token = in_.peek();
    switch (token.kind) {
      case Token::Kind::text:
        return text();
      case Token::Kind::integer:
      case Token::Kind::real:
      case Token::Kind::imaginary:
        return number();
      case Token::Kind::name:
        return name();
      default:
        break;
    }
    if (in_.take("(")) return parenthesised();
    if (in_.take("[")) return items(Kind::list, "]");
    if (in_.take("{")) return items(Kind::dict, "}");
    if (in_.take("...")) return leaf(Kind::name, "...");
    return in_.unexpected("an expression");
  }

  // Neighbouring literals are one string.
  Result<Expr> text() {
    Expr value = leaf(Kind::text);
    while (in_.is(Token::Kind::text)) value.text += in_.next().text;
    return value;
  }

  Result<Expr> number() {
    const Token& token = in_.peek();
    Expr value = leaf(token.kind == Token::Kind::integer ? Kind::integer : Kind::real);
    if (token.kind == Token::Kind::imaginary) value.kind = Kind::imaginary;
    const char* end = token.spelling.data() + token.spelling.size();
    const auto outcome = value.kind == Kind::integer ? std::from_chars(token.spelling.data(), end, value.integer)
                                                     : std::from_chars(token.spelling.data(), end, value.real);
    if (outcome.ec == std::errc::result_out_of_range && value.kind != Kind::integer) {
      value.real = token.spelling.find("e-") == std::string_view::npos ? std::numeric_limits<double>::infinity() : 0;
    } else if (outcome.ec != std::errc() || outcome.ptr != end) {
      return in_.wrong(fmt::format("{} does not fit 64 bits", token.spelling));
    }
    in_.next();
    return value;
  }

  Result<Expr> name() {
    const std::string_view spelling = in_.peek().spelling;
    if (is_keyword(spelling)) return in_.unexpected("an expression");
    Expr value = leaf(Kind::name, std::string(spelling));
    if (spelling == "None") value = leaf(Kind::none);
    if (spelling == "True" || spelling == "False") {
      value = leaf(Kind::boolean);
      value.integer = spelling == "True" ? 1 : 0;
    }
    if (spelling == "inf" || spelling == "nan") {
      value = leaf(Kind::real);
      value.real =
          spelling == "inf" ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    }
    in_.next();
    return value;
  }

  Result<Expr> parenthesised() {
    if (in_.take(")")) return leaf(Kind::tuple);
    TRY(Expr value, list(nullptr));
    TRY_OK(in_.expect(")"));
    return value;
  }

  Result<Expr> items(Kind kind, std::string_view close) {
    std::vector<Expr> values;
    while (!in_.take(close)) {
      TRY(Expr item, ternary());
      values.push_back(std::move(item));
      if (kind == Kind::dict) {
        TRY_OK(in_.expect(":"));
        TRY(Expr value, ternary());
        values.push_back(std::move(value));
      }
      if (!in_.take(",") && !in_.is(close)) return in_.unexpected(close);
    }
    return join(kind, {}, std::move(values));
  }

  Cursor& in_;
  int nesting_ = 0;
};

}  // namespace

Result<std::string> Cursor::identifier() {
  if (!is(Token::Kind::name)) return unexpected("a name");
  return std::string(next().spelling);
}

Result<Expr> parse_expr(Cursor& cursor) { return Parser(cursor).ternary(); }
Result<Expr> parse_expr_list(Cursor& cursor, bool* comma) { return Parser(cursor).list(comma); }

Result<Expr> parse_expression(std::string_view text) {
  TRY(auto tokens, tokenize(text, "expression"));
  Cursor cursor(std::move(tokens), "expression");
  TRY(Expr value, parse_expr_list(cursor));
  cursor.take(Token::Kind::newline);
  if (!cursor.is(Token::Kind::end)) return cursor.unexpected("the end");
  return value;
}

}  // namespace anyshape::torchscript
