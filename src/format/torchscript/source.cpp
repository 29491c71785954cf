#include "format/torchscript/source.h"

#include "base/work.h"
#include "format/torchscript/parser.h"

namespace anyshape::torchscript {
namespace {

class FileParser {
 public:
  FileParser(std::vector<Token> tokens, std::string_view file) : in_(std::move(tokens), file) {}

  Result<Source> run() {
    Source source;
    while (!in_.is(Token::Kind::end)) {
      if (in_.take("class")) {
        TRY(Class made, class_definition());
        source.classes.push_back(std::move(made));
      } else if (in_.take("def")) {
        TRY(Function made, function());
        source.functions.push_back(std::move(made));
      } else {
        TRY_OK(preamble());
      }
    }
    return source;
  }

 private:
  // Old archives begin with `op_version_set = 1` and imports of each other.
  Status preamble() {
    if (!in_.is("import") && !in_.is("op_version_set")) return in_.unexpected("class or def");
    while (!in_.is(Token::Kind::newline)) in_.next();
    in_.next();
    return {};
  }

  Status open_block() {
    TRY_OK(in_.expect(":"));
    TRY_OK(in_.expect(Token::Kind::newline, "the end of the line"));
    return in_.expect(Token::Kind::indent, "an indented block");
  }

  Result<Class> class_definition() {
    Class made;
    TRY(made.name, in_.identifier());
    if (in_.take("(")) {
      TRY(made.base, in_.identifier());
      TRY_OK(in_.expect(")"));
    }
    TRY_OK(open_block());
    while (!in_.take(Token::Kind::dedent)) TRY_OK(member(made));
    return made;
  }

  Status member(Class& made) {
    if (in_.take("def")) {
      TRY(Function method, function());
      std::string name = method.name;
      made.methods.insert_or_assign(std::move(name), std::move(method));
      return {};
    }
    if (in_.take("pass")) return in_.expect(Token::Kind::newline, "the end of the line");
    TRY(Statement statement, simple());
    return attribute(made, std::move(statement));
  }

  Status attribute(Class& made, Statement statement) {
    if (statement.kind != Statement::Kind::assign || statement.targets.size() != 1) return {};
    Expr& target = statement.targets[0];
    if (target.kind == Expr::Kind::subscript && target.args[0].text == "__annotations__" &&
        target.args[1].kind == Expr::Kind::text) {
      made.attributes.push_back({target.args[1].text, std::move(statement.value), std::nullopt});
      return {};
    }
    if (target.kind != Expr::Kind::name) return in_.wrong("a class has an attribute without a name");
    if (target.text.starts_with("__") && target.text.ends_with("__")) {
      return names(made, target.text, statement.value);
    }
    made.attributes.push_back({target.text, std::move(statement.annotation), std::move(statement.value)});
    return {};
  }

  Status names(Class& made, std::string_view which, const std::optional<Expr>& value) {
    std::vector<std::string>* list = nullptr;
    if (which == "__parameters__") list = &made.parameters;
    if (which == "__buffers__") list = &made.buffers;
    if (which == "__forward_hooks__" || which == "__forward_pre_hooks__") list = &made.hooks;
    if (list == nullptr || !value) return {};
    for (const Expr& item : value->args) list->push_back(item.text);
    return {};
  }

  Result<Function> function() {
    Function made;
    made.file = in_.file();
    made.line = in_.peek().line;
    TRY(made.name, in_.identifier());
    TRY_OK(in_.expect("("));
    while (!in_.take(")")) {
      TRY(Parameter parameter, this->parameter());
      made.parameters.push_back(std::move(parameter));
      if (!in_.take(",") && !in_.is(")")) return in_.unexpected(")");
    }
    if (in_.take("->")) {
      TRY(made.result, parse_expr(in_));
    }
    TRY(made.body, block());
    return made;
  }

  Result<Parameter> parameter() {
    Parameter made;
    in_.take("*");
    TRY(made.name, in_.identifier());
    if (in_.take(":")) {
      TRY(made.annotation, parse_expr(in_));
    }
    if (in_.take("=")) {
      TRY(made.fallback, parse_expr(in_));
    }
    return made;
  }

  Result<std::vector<Statement>> block() {
    TRY_OK(open_block());
    std::vector<Statement> statements;
    while (!in_.take(Token::Kind::dedent)) {
      TRY_OK(Work::check());
      TRY(Statement made, statement());
      statements.push_back(std::move(made));
    }
    return statements;
  }

  Statement begin(Statement::Kind kind) const {
    Statement made;
    made.kind = kind;
    made.line = in_.peek().line;
    return made;
  }

  Result<Statement> statement() {
    Statement made = begin(Statement::Kind::define);
    if (in_.take("if")) return branch(made.line);
    if (in_.take("while")) return repeat(made.line);
    if (in_.take("for")) return iterate(made.line);
    if (in_.take("with")) return scope(made.line);
    if (in_.take("def")) {
      TRY(Function inner, function());
      made.function = std::make_shared<const Function>(std::move(inner));
      return made;
    }
    return simple();
  }

  Result<Statement> branch(int line) {
    Statement made;
    made.kind = Statement::Kind::branch;
    made.line = line;
    TRY(made.value, parse_expr(in_));
    TRY(made.body, block());
    const int other = in_.peek().line;
    if (in_.take("elif")) {
      if (++chained_ > kMaxNesting) return in_.wrong("too many branches in a chain");
      TRY(Statement inner, branch(other));
      --chained_;
      made.otherwise.push_back(std::move(inner));
    } else if (in_.take("else")) {
      TRY(made.otherwise, block());
    }
    return made;
  }

  Result<Statement> repeat(int line) {
    Statement made;
    made.kind = Statement::Kind::repeat;
    made.line = line;
    TRY(made.value, parse_expr(in_));
    TRY(made.body, block());
    return made;
  }

  Result<Statement> iterate(int line) {
    Statement made;
    made.kind = Statement::Kind::iterate;
    made.line = line;
    do {
      Expr target;
      target.kind = Expr::Kind::name;
      target.line = line;
      TRY(target.text, in_.identifier());
      made.targets.push_back(std::move(target));
    } while (in_.take(",") && !in_.is("in"));
    TRY_OK(in_.expect("in"));
    TRY(made.value, parse_expr_list(in_));
    TRY(made.body, block());
    return made;
  }

  Result<Statement> scope(int line) {
    Statement made;
    made.kind = Statement::Kind::scope;
    made.line = line;
    TRY(made.value, parse_expr(in_));
    if (in_.take("as")) {
      TRY(Expr target, parse_expr(in_));
      made.targets.push_back(std::move(target));
    }
    TRY(made.body, block());
    return made;
  }

  Result<Statement> simple() {
    TRY(Statement made, unfinished());
    in_.take(";");
    TRY_OK(in_.expect(Token::Kind::newline, "the end of the line"));
    return made;
  }

  Result<Statement> unfinished() {
    using Kind = Statement::Kind;
    const int line = in_.peek().line;
    auto of = [&](Kind kind) {
      Statement made;
      made.kind = kind;
      made.line = line;
      return made;
    };
    if (in_.take("pass")) return of(Kind::pass);
    if (in_.take("break")) return of(Kind::leave);
    if (in_.take("continue")) return of(Kind::next);
    if (in_.take("return")) return valued(of(Kind::give));
    if (in_.take("raise")) return valued(of(Kind::raise));
    if (in_.take("assert")) return asserted(of(Kind::assertion));
    if (in_.take("del")) return targeted(of(Kind::forget));
    return assignment(of(Kind::assign));
  }

  Result<Statement> valued(Statement made) {
    if (in_.is(Token::Kind::newline)) return made;
    TRY(made.value, parse_expr_list(in_));
    return made;
  }

  Result<Statement> asserted(Statement made) {
    TRY(made.value, parse_expr(in_));
    if (in_.take(",")) {
      TRY(Expr message, parse_expr(in_));
      made.targets.push_back(std::move(message));
    }
    return made;
  }

  Result<Statement> targeted(Statement made) {
    bool comma = false;
    TRY(Expr targets, parse_expr_list(in_, &comma));
    spread(made, std::move(targets), comma);
    return made;
  }

  static void spread(Statement& made, Expr targets, bool comma) {
    made.unpack = comma;
    if (comma) {
      made.targets = std::move(targets.args);
    } else {
      made.targets.push_back(std::move(targets));
    }
  }

  Result<Statement> assignment(Statement made) {
    bool comma = false;
    TRY(Expr first, parse_expr_list(in_, &comma));
    if (in_.take(":")) {
      TRY(made.annotation, parse_expr(in_));
    } else if (!in_.is("=")) {
      made.kind = Statement::Kind::expression;
      made.value = std::move(first);
      return made;
    }
    spread(made, std::move(first), comma);
    if (in_.take("=")) {
      TRY(made.value, parse_expr_list(in_));
    }
    return made;
  }

  Cursor in_;
  int chained_ = 0;
};

}  // namespace

Result<Source> parse_source(std::string_view text, std::string_view file) {
  TRY(auto tokens, tokenize(text, file));
  return FileParser(std::move(tokens), file).run();
}

}  // namespace anyshape::torchscript
