#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "sym/condition.h"
#include "sym/dim.h"

namespace anyshape::pt2 {

// A size, a number or a truth value as PyTorch writes it: sympy's `srepr` ("Mul(Integer(2), Symbol('s77', ...))"), its
// infix form ("2*s77"), or a guard in Python ("L['x'].size()[1] >= 9").
struct Expression {
  enum class Kind : uint8_t {
    integer,
    real,
    boolean,  // integer is 0 or 1
    symbol,   // `name`, also an input that is a number (L['n']); integer is 1 where it is declared not negative
    size,     // axis `integer` of the input `name`, written as in ExportedProgram::input_paths: L['d']['k'] is d['k']
    call,     // `name` of `args`: add mul pow floordiv truediv mod min max neg abs floor ceil trunc round to_float
              // eq ne lt le gt ge and or not piecewise; anything else under PyTorch's own name
  };
  Kind kind = Kind::integer;
  int64_t integer = 0;
  double real = 0;
  std::string name;
  std::vector<Expression> args;
};

// Codes: pt2.expression; pt2.expression_limit past the bounds of depth and length.
Result<Expression> parse_srepr(std::string_view text);   // srepr, and infix where it is none
Result<Expression> parse_python(std::string_view text);  // guards_code

// What the leaves stand for. nullopt: not known.
using Leaf = std::function<std::optional<Dim>(const Expression& symbol_or_size)>;

// The expression as a Dim; arithmetic with fractions is exact where its result is an integer (trunc(0.5*s) is s//2 for
// s >= 0). A symbolic divisor is taken to be >= 1, as by floordiv of sym/. nullopt where it has no form as a Dim, or
// where the doubles that PyTorch computes with could differ from the exact result.
std::optional<Dim> to_dim(const Expression& expression, const Leaf& leaf);
std::optional<Condition> to_condition(const Expression& expression, const Leaf& leaf);

// Infix, for messages: "s77//2 + 1", "x.size(1) >= 9".
std::string print(const Expression& expression);

}  // namespace anyshape::pt2
