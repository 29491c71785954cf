#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace anyshape::torchscript {

// An expression of the Python subset that TorchScript archives hold. Type annotations are expressions too.
struct Expr {
  enum class Kind : uint8_t {
    none,
    boolean,  // integer is 0 or 1
    integer,
    real,       // inf and nan too
    imaginary,  // 2j
    text,
    name,
    attribute,  // args[0].text
    call,       // args[0](args[1], ...); keywords[i] names args[i + 1], "" where it is positional
    star,       // *args[0], only in a call
    subscript,  // args[0][args[1]]
    slice,      // args: start, stop, step; none where left out; only in a subscript
    list,
    tuple,
    dict,     // args: key, value, key, value, ...
    unary,    // text: - + ~ not
    binary,   // text: + - * / // % ** @ << >> & | ^
    compare,  // text: == != < <= > >= is "is not" in "not in"
    both,     // args[0] and args[1]
    either,   // args[0] or args[1]
    ternary,  // args[0] if args[1] else args[2]
  };
  Kind kind = Kind::none;
  int line = 0;
  int depth = 1;  // levels of nesting, itself included; at most kMaxNesting
  int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<Expr> args;
  std::vector<std::string> keywords;
};

inline constexpr int kMaxNesting = 200;

struct Function;

struct Statement {
  enum class Kind : uint8_t {
    pass,
    expression,  // value
    assign,      // targets = value; several targets take a tuple or list apart. annotation: `x : T = value`
    branch,      // if value: body else: otherwise
    repeat,      // while value: body
    iterate,     // for targets[0] in value: body
    give,        // return value
    raise,       // value may be none
    assertion,   // assert value, targets[0]
    forget,      // del targets
    scope,       // with value as targets: body
    define,      // a nested function
    leave,       // break
    next,        // continue
  };
  Kind kind = Kind::pass;
  int line = 0;
  std::vector<Expr> targets;
  bool unpack = false;  // one target with a comma after it still takes a tuple apart
  std::optional<Expr> annotation, value;
  std::vector<Statement> body, otherwise;
  std::shared_ptr<const Function> function;
};

struct Parameter {
  std::string name;
  std::optional<Expr> annotation, fallback;
};

struct Function {
  std::string name, file;
  int line = 0;
  std::vector<Parameter> parameters;
  std::optional<Expr> result;
  std::vector<Statement> body;
};

struct Attribute {
  std::string name;
  std::optional<Expr> annotation, value;  // value: of a constant (`k : Final[int] = 3`) or an enumerator (`RED = 1`)
};

struct Class {
  std::string name, base;  // base: Module, NamedTuple, Enum, Interface, ModuleInterface or empty
  std::vector<std::string> parameters, buffers, hooks;  // hooks: names of methods run before or after forward
  std::vector<Attribute> attributes;
  std::map<std::string, Function> methods;
};

struct Source {
  std::vector<Class> classes;
  std::vector<Function> functions;
};

// `file` is for messages and Function::file. Codes: script.syntax (the place is "FILE:LINE"), script.depth.
Result<Source> parse_source(std::string_view text, std::string_view file);
Result<Expr> parse_expression(std::string_view text);

// The expression in source form, for messages and tests.
std::string print(const Expr& expr);

}  // namespace anyshape::torchscript
