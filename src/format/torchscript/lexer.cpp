#include "format/torchscript/lexer.h"

#include <array>

namespace anyshape::torchscript {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

constexpr std::array<std::string_view, 19> kPunctuation = {"**", "//", "<<", ">>", "<=", ">=", "==", "!=", "->", "...",
                                                           "(",  ")",  "[",  "]",  "{",  "}",  ",",  ":",  "."};
constexpr std::string_view kSingle = "+-*/%@&|^~<>=;";

class Lexer {
 public:
  Lexer(std::string_view source, std::string_view file) : source_(source), file_(file) {}

  Result<std::vector<Token>> run() {
    while (at_ < source_.size()) TRY_OK(line());
    for (; columns_.size() > 1; columns_.pop_back()) add(Token::Kind::dedent, 0);
    add(Token::Kind::end, 0);
    return std::move(tokens_);
  }

 private:
  tl::unexpected<Error> wrong(std::string_view what) const {
    return anyshape::at(fmt::format("{}:{}", file_, line_), refuse("script.syntax", "{}", what).value());
  }

  char peek(size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  void add(Token::Kind kind, size_t length) {
    tokens_.push_back({kind, line_, source_.substr(at_, length), {}});
    at_ += length;
  }

  // One logical line: its indentation, its tokens, its newline.
  Status line() {
    size_t column = 0;
    for (; peek() == ' ' || peek() == '\t'; ++at_) ++column;
    if (blank()) {
      skip_line();
      return {};
    }
    TRY_OK(indent(column));
    while (at_ < source_.size() && !(source_[at_] == '\n' && depth_ == 0)) TRY_OK(token());
    if (depth_ != 0) return wrong("a bracket is not closed");
    add(Token::Kind::newline, 0);
    skip_line();
    return {};
  }

  bool blank() const { return at_ >= source_.size() || peek() == '\n' || peek() == '\r' || peek() == '#'; }

  void skip_line() {
    while (at_ < source_.size() && source_[at_] != '\n') ++at_;
    if (at_ < source_.size()) ++at_;
    ++line_;
  }

  Status indent(size_t column) {
    if (column > columns_.back()) {
      if (columns_.size() > kMaxIndents) return wrong("blocks are nested too deeply");
      columns_.push_back(column);
      add(Token::Kind::indent, 0);
      return {};
    }
    for (; column < columns_.back(); columns_.pop_back()) add(Token::Kind::dedent, 0);
    if (column != columns_.back()) return wrong("the indentation matches no block around it");
    return {};
  }

  Status token() {
    const char c = source_[at_];
    if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '\n') {
      ++at_;
      ++line_;
    } else if (c == '#') {
      while (at_ < source_.size() && source_[at_] != '\n') ++at_;
    } else if (is_letter(c)) {
      size_t length = 1;
      while (is_letter(peek(length)) || is_digit(peek(length))) ++length;
      add(Token::Kind::name, length);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
    } else if (c == '"' || c == '\'') {
      return string(c);
    } else {
      return punctuation();
    }
    return {};
  }

  void number() {
    size_t length = 0;
    bool real = false;
    while (is_digit(peek(length))) ++length;
    if (peek(length) == '.') {
      real = true;
      for (++length; is_digit(peek(length));) ++length;
    }
    if (peek(length) == 'e' || peek(length) == 'E') {
      const size_t sign = peek(length + 1) == '-' || peek(length + 1) == '+' ? 1 : 0;
      if (is_digit(peek(length + 1 + sign))) {
        real = true;
        for (length += 1 + sign; is_digit(peek(length));) ++length;
      }
    }
    add(real ? Token::Kind::real : Token::Kind::integer, length);
    if (peek() == 'j') {
      tokens_.back().kind = Token::Kind::imaginary;
      ++at_;
    }
  }

  Status string(char quote) {
    const size_t begin = at_++;
    std::string text;
    while (peek() != quote) {
      if (at_ >= source_.size() || source_[at_] == '\n') return wrong("a string is not closed");
      if (source_[at_] == '\\') {
        TRY_OK(escape(text));
      } else {
        text.push_back(source_[at_++]);
      }
    }
    ++at_;
    tokens_.push_back({Token::Kind::text, line_, source_.substr(begin, at_ - begin), std::move(text)});
    return {};
  }

  Status escape(std::string& text) {
    constexpr std::string_view kNames = "abfnrtv\\'\"", kMeanings = "\a\b\f\n\r\t\v\\'\"";
    ++at_;
    const char c = peek();
    if (const size_t i = c == '\0' ? std::string_view::npos : kNames.find(c); i != std::string_view::npos) {
      text.push_back(kMeanings[i]);
      ++at_;
      return {};
    }
    const bool hex = c == 'x';
    if (hex) ++at_;
    unsigned value = 0;
    int digits = 0;
    for (const int most = hex ? 2 : 3; digits < most; ++digits, ++at_) {
      const int digit = digit_value(peek());
      if (digit < 0 || digit >= (hex ? 16 : 8)) break;
      value = value * (hex ? 16 : 8) + static_cast<unsigned>(digit);
    }
    if (digits == 0 || value > 255) return wrong("a string has an unknown escape");
    text.push_back(static_cast<char>(value));
    return {};
  }

  static int digit_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  }

  Status punctuation() {
    const std::string_view rest = source_.substr(at_);
    for (std::string_view mark : kPunctuation) {
      if (!rest.starts_with(mark)) continue;
      if (mark == "(" || mark == "[" || mark == "{") ++depth_;
      if ((mark == ")" || mark == "]" || mark == "}") && depth_-- == 0) return wrong("a bracket closes nothing");
      add(Token::Kind::punctuation, mark.size());
      return {};
    }
    if (kSingle.find(rest[0]) == std::string_view::npos) return wrong("a character means nothing here");
    add(Token::Kind::punctuation, 1);
    return {};
  }

  static constexpr size_t kMaxIndents = 200;

  std::string_view source_, file_;
  size_t at_ = 0;
  int line_ = 1;
  int depth_ = 0;
  std::vector<size_t> columns_ = {0};
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view source, std::string_view file) {
  return Lexer(source, file).run();
}

}  // namespace anyshape::torchscript
