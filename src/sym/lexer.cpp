#include "sym/lexer.h"

#include <fmt/format.h>

#include "sym/limits.h"

namespace anyshape {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

class Lexer {
 public:
  Lexer(std::string_view text, std::string& error) : text_(text), error_(error) {}

  std::optional<std::vector<Token>> run() {
    std::vector<Token> tokens;
    for (;;) {
      while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
      Token token;
      token.column = at_ + 1;
      if (at_ == text_.size()) {
        tokens.push_back(token);
        return tokens;
      }
      if (tokens.size() >= limits::kParseTokens) return fail("the text is too long");
      if (!next(token)) return std::nullopt;
      tokens.push_back(std::move(token));
    }
  }

 private:
  char peek(size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  std::nullopt_t fail(std::string_view what) {
    error_ = fmt::format("column {}: {}", at_ + 1, what);
    return std::nullopt;
  }

  bool next(Token& token) {
    char c = text_[at_];
    if (is_digit(c)) return number(token);
    if (c == '\'') return quoted(token);
    if (is_letter(c)) {
      token.kind = Token::Kind::name;
      while (is_letter(peek(0)) || is_digit(peek(0)) || (peek(0) == '.' && (is_letter(peek(1)) || is_digit(peek(1)))))
        token.text += text_[at_++];
      return true;
    }
    return mark(token);
  }

  bool number(Token& token) {
    token.kind = Token::Kind::number;
    while (is_digit(peek(0))) {
      uint64_t digit = static_cast<uint64_t>(text_[at_] - '0');
      if (token.number > ((uint64_t{1} << 63) - digit) / 10) return fail("the number is too large"), false;
      token.number = token.number * 10 + digit;
      ++at_;
    }
    return true;
  }

  bool quoted(Token& token) {
    token.kind = Token::Kind::quoted;
    for (++at_; at_ < text_.size() && text_[at_] != '\''; ++at_) {
      char c = text_[at_];
      if (c == '\\') {
        c = peek(1);
        if (c == 'x' && hex(peek(2)) >= 0 && hex(peek(3)) >= 0) {
          c = static_cast<char>(hex(peek(2)) * 16 + hex(peek(3)));
          at_ += 2;
        } else if (c != '\'' && c != '\\') {
          return fail("unknown escape in a quoted name"), false;
        }
        ++at_;
      }
      token.text += c;
    }
    if (at_ >= text_.size()) return fail("the quote is not closed"), false;
    ++at_;
    if (token.text.empty()) return fail("a name cannot be empty"), false;
    return true;
  }

  bool mark(Token& token) {
    token.kind = Token::Kind::mark;
    for (std::string_view two : {"//", "==", "!=", ">=", "<=", ".."})
      if (text_.substr(at_, 2) == two) token.text = two;
    if (token.text.empty() && std::string_view("+-*%(){},<>?").find(text_[at_]) != std::string_view::npos)
      token.text = text_[at_];
    if (token.text.empty()) return fail(fmt::format("unexpected character '{}'", text_[at_])), false;
    at_ += token.text.size();
    return true;
  }

  std::string_view text_;
  std::string& error_;
  size_t at_ = 0;
};

}  // namespace

std::optional<std::vector<Token>> tokenize(std::string_view text, std::string& error) {
  return Lexer(text, error).run();
}

}  // namespace anyshape
