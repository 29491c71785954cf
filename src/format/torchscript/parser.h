#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "format/torchscript/lexer.h"
#include "format/torchscript/source.h"

namespace anyshape::torchscript {

// Walks over the tokens of one file.
class Cursor {
 public:
  Cursor(std::vector<Token> tokens, std::string_view file) : tokens_(std::move(tokens)), file_(file) {}

  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& next() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool is(std::string_view what) const { return peek().is(what); }
  bool is(Token::Kind kind) const { return peek().kind == kind; }
  bool take(std::string_view what);
  bool take(Token::Kind kind);
  Status expect(std::string_view what);
  Status expect(Token::Kind kind, std::string_view what);
  Result<std::string> identifier();

  std::string_view file() const { return file_; }
  tl::unexpected<Error> wrong(std::string_view what) const;
  tl::unexpected<Error> unexpected(std::string_view wanted) const;

 private:
  std::vector<Token> tokens_;
  std::string_view file_;
  size_t at_ = 0;
};

// One expression: what may stand as an argument of a call.
Result<Expr> parse_expr(Cursor& cursor);
// Expressions with commas between them are a tuple; `comma` says whether there was one.
Result<Expr> parse_expr_list(Cursor& cursor, bool* comma = nullptr);

}  // namespace anyshape::torchscript
