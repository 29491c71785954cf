#include <algorithm>
#include <array>
#include <charconv>

#include "format/pt2/expression.h"
#include "format/pt2/expression_heads.h"
#include "format/pt2/expression_lexer.h"
#include "format/pt2/paths.h"

namespace anyshape::pt2 {
namespace {

constexpr int kDepth = 200;  // under ASan 400 levels took more than 8 MB of stack
// Chains like a//b//c nest to the left without recursion.
constexpr int kChained = 1000;
constexpr size_t kNodes = size_t{1} << 18;

using Kind = Expression::Kind;

struct Infix {
  std::string_view sign, name;
  int level;
};

constexpr int kExpressionParseNot = 3, kCompare = 4, kUnary = 10, kPower = 11;
constexpr std::array kInfix = {
    Infix{"or", "or", 1},        Infix{"and", "and", 2},      Infix{"==", "eq", kCompare}, Infix{"!=", "ne", kCompare},
    Infix{"<=", "le", kCompare}, Infix{">=", "ge", kCompare}, Infix{"<", "lt", kCompare},  Infix{">", "gt", kCompare},
    Infix{"|", "or", 5},         Infix{"&", "and", 6},        Infix{"<<", "LShift", 7},    Infix{">>", "RShift", 7},
    Infix{"+", "add", 8},        Infix{"-", "sub", 8},        Infix{"*", "mul", 9},        Infix{"/", "truediv", 9},
    Infix{"//", "floordiv", 9},  Infix{"%", "mod", 9},        Infix{"**", "pow", kPower},
};

size_t count_nodes(const Expression& e) {
  size_t count = 1;
  for (const Expression& arg : e.args) count += count_nodes(arg);
  return count;
}

// Python's expressions; what srepr writes are calls among them.
class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Result<Expression> run() {
    TRY(Expression out, expression(0));
    if (peek().kind != Token::Kind::end) return unexpected();
    return out;
  }

 private:
  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool is(std::string_view text, size_t ahead = 0) const {
    const Token& token = peek(ahead);
    return (token.kind == Token::Kind::sign || token.kind == Token::Kind::name) && token.text == text;
  }
  bool take(std::string_view text) {
    if (!is(text)) return false;
    ++at_;
    return true;
  }
  Status expect(std::string_view text) {
    if (!take(text)) return unexpected();
    return {};
  }
  tl::unexpected<Error> unexpected() const {
    const Token& token = peek();
    if (token.kind == Token::Kind::end) return refuse("pt2.expression", "the expression ends too early");
    return refuse("pt2.expression", "{:?} in column {} is not expected", token.text, token.column + 1);
  }
  static tl::unexpected<Error> too_large() {
    return refuse("pt2.expression_limit", "the expression is nested too deeply or has too many parts");
  }

  const Infix* infix(int level) const {
    if (peek().kind != Token::Kind::sign && peek().kind != Token::Kind::name) return nullptr;
    const auto matches = [&](const Infix& i) { return i.sign == peek().text && i.level >= level; };
    const auto* it = std::find_if(kInfix.begin(), kInfix.end(), matches);
    return it == kInfix.end() ? nullptr : it;
  }

  // Everything that binds at least as tightly as `level`.
  Result<Expression> expression(int level) {
    if (++depth_ > kDepth) return too_large();
    TRY(Expression left, prefix());
    for (bool first = true; const Infix* op = infix(level); first = false) {
      ++at_;
      if (!first && !joins(*op, left) && ++chained_ > kChained) return too_large();
      if (op->level == kCompare) {
        TRY(left, comparison(op->name, std::move(left)));
        continue;
      }
      TRY(Expression right, expression(op->level == kPower ? kPower : op->level + 1));
      left = join(op->name, std::move(left), std::move(right));
    }
    --depth_;
    return left;
  }

  static bool joins(const Infix& op, const Expression& left) {
    const std::string_view name = op.name == "sub" ? "add" : op.name;
    return left.kind == Kind::call && left.name == name &&
           (name == "add" || name == "mul" || name == "or" || name == "and");
  }

  static Expression join(std::string_view name, Expression left, Expression right) {
    if (name == "sub") return join("add", std::move(left), call_of("neg", {std::move(right)}));
    if (joins({{}, name, 0}, left)) {
      left.args.push_back(std::move(right));
      return left;
    }
    return apply_head(name, {std::move(left), std::move(right)});
  }

  // a < b < c is a < b and b < c.
  Result<Expression> comparison(std::string_view name, Expression left) {
    TRY(Expression right, expression(kCompare + 1));
    const Infix* next = infix(kCompare);
    if (next == nullptr || next->level != kCompare) return call_of(name, {std::move(left), std::move(right)});
    copied_ += count_nodes(right);
    if (copied_ > kNodes || ++depth_ > kDepth) return too_large();
    Expression first = call_of(name, {std::move(left), right});
    ++at_;
    TRY(Expression rest, comparison(next->name, std::move(right)));
    --depth_;
    return call_of("and", {std::move(first), std::move(rest)});
  }

  Result<Expression> prefix() {
    if (take("not")) {
      TRY(Expression operand, expression(kExpressionParseNot));
      return call_of("not", {std::move(operand)});
    }
    if (take("~")) {
      TRY(Expression operand, expression(kUnary));
      return call_of("not", {std::move(operand)});
    }
    if (take("+")) return expression(kUnary);
    if (!take("-")) return primary();
    const bool literal = peek().kind == Token::Kind::integer || peek().kind == Token::Kind::real;
    TRY(Expression operand, expression(kPower));
    if (literal && operand.kind == Kind::integer) return integer_of(-operand.integer);
    if (literal && operand.kind == Kind::real) {
      operand.real = -operand.real;
      return operand;
    }
    return call_of("neg", {std::move(operand)});
  }

  Result<Expression> primary() {
    const Token token = peek();
    ++at_;
    if (token.kind == Token::Kind::integer) return integer(token.text);
    if (token.kind == Token::Kind::real) return real(token.text);
    if (token.kind == Token::Kind::name) return named(token.text);
    if (token.kind == Token::Kind::sign && token.text == "(") return bracketed(")", "tuple");
    if (token.kind == Token::Kind::sign && token.text == "[") return bracketed("]", "list");
    --at_;
    return unexpected();
  }

  // An integer past int64 is a symbol that nobody knows.
  static Expression integer(const std::string& text) {
    Expression out;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.integer);
    if (error == std::errc() && end == text.data() + text.size()) return out;
    return symbol(text);
  }

  static Result<Expression> real(const std::string& text) {
    Expression out;
    out.kind = Kind::real;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.real);
    if (error != std::errc() || end != text.data() + text.size()) {
      return refuse("pt2.expression", "{:?} is no number", text);
    }
    return out;
  }

  static Expression symbol(std::string name) {
    Expression out;
    out.kind = Kind::symbol;
    out.name = std::move(name);
    return out;
  }

  Result<Expression> bracketed(std::string_view close, std::string_view several) {
    TRY(auto items, arguments(close));
    if (items.size() == 1 && close == ")") return std::move(items[0]);
    return call_of(several, std::move(items));
  }

  // Up to and with `close`; named ones are left out.
  Result<std::vector<Expression>> arguments(std::string_view close) {
    std::vector<Expression> out;
    while (!take(close)) {
      const bool keyword = peek().kind == Token::Kind::name && is("=", 1);
      if (keyword) at_ += 2;
      TRY(Expression value, expression(0));
      if (!keyword) out.push_back(std::move(value));
      if (!is(close)) TRY_OK(expect(","));
    }
    return out;
  }

  // A name, a function's call, or a place in the inputs: s77, math.floor(...), L['x'].size()[1], x.size(1).
  Result<Expression> named(std::string path) {
    if ((path == "Symbol" || path == "Dummy") && is("(")) return quoted_symbol();
    if (path == "Float" && is("(") && peek(1).kind == Token::Kind::text) return quoted_real();
    if (path == "L" && is("[") && peek(1).kind == Token::Kind::text) {
      path = argument_path(peek(1).text);
      at_ += 2;
      TRY_OK(expect("]"));
    }
    while (true) {
      if (is("(")) return called(path);
      if (take("[")) {
        TRY(std::string step, subscript());
        path += step;
      } else if (is(".") && peek(1).kind == Token::Kind::name) {
        const std::string member = peek(1).text;
        at_ += 2;
        if (member == "size" || member == "stride" || member == "shape") return extent(path, member);
        path += "." + member;
      } else {
        return constant_or_symbol(std::move(path));
      }
    }
  }

  static Expression constant_or_symbol(std::string path) {
    Expression out = symbol(std::move(path));
    const bool yes = out.name == "True" || out.name == "true", no = out.name == "False" || out.name == "false";
    if (!yes && !no) return out;
    out.kind = Kind::boolean;
    out.integer = yes ? 1 : 0;
    out.name.clear();
    return out;
  }

  Result<Expression> called(const std::string& head) {
    ++at_;
    TRY(auto args, arguments(")"));
    if (head == "Integer" && args.size() == 1) return std::move(args[0]);
    return apply_head(head, std::move(args));
  }

  Result<std::string> subscript() {
    const Token token = peek();
    std::string step;
    if (token.kind == Token::Kind::text) {
      ++at_;
      step = key_step(token.text);
    } else {
      TRY(const int64_t index, signed_integer());
      step = fmt::format("[{}]", index);
    }
    TRY_OK(expect("]"));
    return step;
  }

  Result<int64_t> signed_integer() {
    const bool minus = take("-");
    if (peek().kind != Token::Kind::integer) return unexpected();
    const Expression value = integer(peek().text);
    if (value.kind != Kind::integer) return unexpected();
    ++at_;
    return minus ? -value.integer : value.integer;
  }

  // After ".size": "()[1]" or "(1)"; after ".shape": "[1]".
  Result<Expression> extent(const std::string& path, const std::string& member) {
    const bool shape = member == "shape";
    if (!shape) TRY_OK(expect("("));
    std::string_view close = ")";
    if (shape || take(")")) {
      TRY_OK(expect("["));
      close = "]";
    }
    TRY(const int64_t axis, signed_integer());
    TRY_OK(expect(close));
    Expression out = symbol(path);
    if (member == "stride") return call_of("stride", {std::move(out), integer_of(axis)});
    out.kind = Kind::size;
    out.integer = axis;
    return out;
  }

  // Symbol('s77', positive=True, integer=True)
  Result<Expression> quoted_symbol() {
    ++at_;
    if (peek().kind != Token::Kind::text) return unexpected();
    Expression out = symbol(peek().text);
    ++at_;
    while (!take(")")) {
      TRY_OK(expect(","));
      if (is(")")) continue;
      const bool sign = is("positive") || is("nonnegative");
      ++at_;
      TRY_OK(expect("="));
      if (sign && is("True")) out.integer = 1;
      TRY(Expression ignored, expression(0));
      static_cast<void>(ignored);
    }
    return out;
  }

  // Float('0.5', precision=53)
  Result<Expression> quoted_real() {
    ++at_;
    std::string text = peek().text;
    const bool minus = text.starts_with('-');
    TRY(Expression out, real(minus ? text.substr(1) : text));
    if (minus) out.real = -out.real;
    ++at_;
    if (!is(")")) TRY_OK(expect(","));
    TRY(const auto rest, arguments(")"));
    static_cast<void>(rest);
    return out;
  }

  std::vector<Token> tokens_;
  size_t at_ = 0, copied_ = 0;
  int depth_ = 0, chained_ = 0;
};

Result<Expression> parse(std::string_view text) {
  TRY(auto tokens, lex_expression(text));
  return Parser(std::move(tokens)).run();
}

}  // namespace

Result<Expression> parse_srepr(std::string_view text) { return parse(text); }
Result<Expression> parse_python(std::string_view text) { return parse(text); }

}  // namespace anyshape::pt2
