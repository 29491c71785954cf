#include <fmt/format.h>

#include <functional>

#include "sym/condition.h"
#include "sym/lexer.h"
#include "sym/limits.h"

namespace anyshape {
namespace {

constexpr uint64_t kMinMagnitude = uint64_t{1} << 63;

// Recursive descent. After a failure `error_` is set and every function returns at once with a value nobody reads.
class Parser {
 public:
  Parser(std::vector<Token> tokens, Symbols& symbols) : tokens_(std::move(tokens)), symbols_(symbols) {}

  std::optional<Dim> whole_dim(std::string& error) {
    Dim dim = sum();
    return finish(dim, error);
  }

  std::optional<Condition> whole_condition(std::string& error) {
    Condition condition = disjunction(true);
    return finish(condition, error);
  }

 private:
  template <class T>
  std::optional<T> finish(T value, std::string& error) {
    if (token().kind != Token::Kind::end) fail("the text should end here");
    error = error_;
    return failed() ? std::nullopt : std::optional(std::move(value));
  }

  const Token& token(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool failed() const { return !error_.empty(); }
  bool is(std::string_view text, size_t ahead = 0) const {
    const Token& t = token(ahead);
    return (t.kind == Token::Kind::mark || t.kind == Token::Kind::name) && t.text == text;
  }
  bool accept(std::string_view text) {
    if (failed() || !is(text)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text)) fail(fmt::format("'{}' expected", text));
  }
  void fail(std::string_view what) {
    if (!failed()) error_ = fmt::format("column {}: {}", token().column, what);
  }

  Dim sum() {
    Dim left = term();
    while (!failed()) {
      if (accept("+"))
        left = left + term();
      else if (accept("-"))
        left = left - term();
      else
        break;
    }
    return left;
  }

  Dim term() {
    Dim left = factor();
    while (!failed()) {
      if (accept("*"))
        left = left * factor();
      else if (accept("//"))
        left = floordiv(left, divisor());
      else if (accept("%"))
        left = mod(left, divisor());
      else
        break;
    }
    return left;
  }

  Dim divisor() {
    Dim d = factor();
    if (d.constant() && *d.constant() <= 0) fail("the divisor must be positive");
    return d;
  }

  Dim factor() {
    if (++depth_ > limits::kParseDepth) fail("nested too deeply");
    Dim value = 0;
    if (!failed()) value = accept("-") ? negative() : primary();
    --depth_;
    return value;
  }

  Dim negative() {
    if (token().kind == Token::Kind::number && token().number == kMinMagnitude) {
      ++at_;
      return INT64_MIN;
    }
    return -factor();
  }

  Dim primary() {
    const Token t = token();
    if (t.kind == Token::Kind::number) {
      if (t.number == kMinMagnitude) fail("the number is too large");
      ++at_;
      return static_cast<int64_t>(t.number & ~kMinMagnitude);
    }
    if (t.kind == Token::Kind::name && is("(", 1)) return call(t.text);
    if (t.kind == Token::Kind::quoted || (t.kind == Token::Kind::name && !reserved(t.text))) {
      ++at_;
      return symbols_.symbol(t.text);
    }
    if (accept("?")) return Dim::unknown();
    if (!accept("(")) {
      fail("a number, a name or '(' expected");
      return 0;
    }
    Dim inner = sum();
    expect(")");
    return inner;
  }

  static bool reserved(std::string_view word) {
    for (std::string_view r : {"and", "or", "not", "in", "always", "never", "opaque"})
      if (word == r) return true;
    return false;
  }

  Dim call(const std::string& function) {
    at_ += 2;
    if (function == "select") return select_call();
    Dim (*fold)(Dim, Dim) = nullptr;
    for (auto [name, f] : std::initializer_list<std::pair<const char*, Dim (*)(Dim, Dim)>>{
             {"min", min}, {"max", max}, {"broadcast", broadcast}, {"ceildiv", ceildiv}})
      if (function == name) fold = f;
    if (!fold) {
      at_ -= 2;
      fail(fmt::format("unknown function '{}'", function));
      return 0;
    }
    Dim value = sum();
    if (!is(",")) fail("a second argument expected");
    while (accept(",")) {
      Dim next = sum();
      value = fold(value, next);
    }
    expect(")");
    return value;
  }

  Dim select_call() {
    Condition condition = disjunction(false);
    expect(",");
    Dim a = sum();
    expect(",");
    Dim b = sum();
    expect(")");
    return select(condition, a, b);
  }

  Condition disjunction(bool commas) {
    Condition left = conjunction(commas);
    while (accept("or")) left = left || conjunction(commas);
    return left;
  }

  Condition conjunction(bool commas) {
    Condition left = single();
    while (!failed() && (accept("and") || (commas && accept(",")))) left = left && single();
    return left;
  }

  Condition single() {
    if (++depth_ > limits::kParseDepth) fail("nested too deeply");
    Condition condition;
    if (!failed()) condition = unnested();
    --depth_;
    return condition;
  }

  Condition unnested() {
    if (accept("always")) return Condition::always();
    if (accept("never")) return Condition::never();
    if (accept("opaque")) return Condition::opaque();
    if (accept("not")) return !single();
    if (is("(") && holds_condition()) {
      ++at_;
      Condition inner = disjunction(true);
      expect(")");
      return inner;
    }
    return comparison();
  }

  // Whether the parenthesis at hand encloses a condition: a comparison stands in it, outside of calls.
  bool holds_condition() const {
    int open = 0, call_at = 0;
    for (size_t i = at_; i < tokens_.size(); ++i) {
      const Token& t = tokens_[i];
      if (t.kind == Token::Kind::mark && t.text == "(") {
        ++open;
        bool called = i > at_ && tokens_[i - 1].kind == Token::Kind::name && !reserved(tokens_[i - 1].text);
        if (called && !call_at) call_at = open;
      } else if (t.kind == Token::Kind::mark && t.text == ")") {
        if (open == call_at) call_at = 0;
        if (--open == 0) return false;
      } else if (!call_at && t.kind == Token::Kind::name && reserved(t.text)) {
        return true;
      } else if (!call_at && t.kind == Token::Kind::mark && (comparator(t.text) || t.text == ">" || t.text == "<")) {
        return true;
      }
    }
    return false;
  }

  static bool comparator(std::string_view text) { return text == "==" || text == "!=" || text == ">=" || text == "<="; }

  Condition comparison() {
    Dim left = sum();
    if (accept("in")) return membership(left);
    Condition all;
    bool some = false;
    for (;;) {
      Condition (*make)(Dim, Dim) = nullptr;
      for (auto [mark, f] :
           std::initializer_list<std::pair<const char*, Condition (*)(Dim, Dim)>>{{"==", Condition::eq},
                                                                                  {"!=", Condition::ne},
                                                                                  {">=", Condition::ge},
                                                                                  {"<=", Condition::le},
                                                                                  {">", Condition::gt},
                                                                                  {"<", Condition::lt}})
        if (!make && accept(mark)) make = f;
      if (!make) break;
      Dim right = sum();
      all = all && make(left, right);
      left = right;
      some = true;
    }
    if (!some) fail("a comparison expected");
    return all;
  }

  Condition membership(Dim subject) {
    if (accept("{")) {
      Condition any = Condition::never();
      do any = any || Condition::eq(subject, sum());
      while (accept(","));
      expect("}");
      return any;
    }
    Dim low = sum();
    expect("..");
    Dim high = sum();
    return Condition::ge(subject, low) && Condition::le(subject, high);
  }

  std::vector<Token> tokens_;
  Symbols& symbols_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string error_;
};

template <class T>
std::optional<T> parse(std::string_view text, Symbols& symbols, std::string* error,
                       std::optional<T> (Parser::*whole)(std::string&)) {
  std::string message;
  std::optional<T> result;
  if (auto tokens = tokenize(text, message)) result = (Parser(*tokens, symbols).*whole)(message);
  if (error) *error = message;
  return result;
}

}  // namespace

std::optional<Dim> parse_dim(std::string_view text, Symbols& symbols, std::string* error) {
  return parse<Dim>(text, symbols, error, &Parser::whole_dim);
}

std::optional<Condition> parse_condition(std::string_view text, Symbols& symbols, std::string* error) {
  return parse<Condition>(text, symbols, error, &Parser::whole_condition);
}

}  // namespace anyshape
