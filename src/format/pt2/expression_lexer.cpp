#include "format/pt2/expression_lexer.h"

#include <algorithm>
#include <array>

namespace anyshape::pt2 {
namespace {

constexpr size_t kLongestText = size_t{1} << 20;

constexpr std::array<std::string_view, 27> kExpressionLexerSigns = {
    "**", "//", "<<", ">>", "==", "!=", "<=", ">=", "(", ")", "[", "]", ",", ".",
    "=",  "+",  "-",  "*",  "/",  "%",  "<",  ">",  "~", "&", "|", "{", "}"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool in_name(char c) { return starts_name(c) || is_digit(c); }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> run() {
    if (text_.size() > kLongestText) return refuse("pt2.expression", "an expression of {} characters", text_.size());
    std::vector<Token> tokens;
    for (skip_space(); at_ < text_.size(); skip_space()) {
      TRY(Token token, next());
      tokens.push_back(std::move(token));
    }
    tokens.push_back({Token::Kind::end, {}, at_});
    return tokens;
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void skip_space() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++at_;
  }

  Result<Token> next() {
    const size_t start = at_;
    if (starts_name(peek())) {
      while (in_name(peek())) ++at_;
      return Token{Token::Kind::name, std::string(text_.substr(start, at_ - start)), start};
    }
    if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) return number();
    if (peek() == '\'' || peek() == '"') return quoted();
    const std::string_view rest = text_.substr(at_);
    const auto sign = std::find_if(kExpressionLexerSigns.begin(), kExpressionLexerSigns.end(),
                                   [&](auto s) { return rest.starts_with(s); });
    if (sign == kExpressionLexerSigns.end())
      return refuse("pt2.expression", "an unexpected character in column {}", at_ + 1);
    at_ += sign->size();
    return Token{Token::Kind::sign, std::string(*sign), start};
  }

  Result<Token> number() {
    const size_t start = at_;
    while (is_digit(peek())) ++at_;
    bool real = false;
    if (peek() == '.') {
      real = true;
      for (++at_; is_digit(peek());) ++at_;
    }
    const size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
      real = true;
      for (at_ += 1 + sign; is_digit(peek());) ++at_;
    }
    return Token{real ? Token::Kind::real : Token::Kind::integer, std::string(text_.substr(start, at_ - start)), start};
  }

  Result<Token> quoted() {
    const size_t start = at_;
    const char quote = text_[at_++];
    std::string out;
    for (; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (c == quote) {
        ++at_;
        return Token{Token::Kind::text, std::move(out), start};
      }
      if (c == '\\' && at_ + 1 < text_.size()) c = text_[++at_];
      out += c;
    }
    return refuse("pt2.expression", "the quote in column {} is never closed", start + 1);
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<std::vector<Token>> lex_expression(std::string_view text) { return Lexer(text).run(); }

}  // namespace anyshape::pt2
