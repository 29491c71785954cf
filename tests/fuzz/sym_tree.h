#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "sym/condition.h"
#include "sym/dim.h"

// Expression and condition trees as they are written, before any canonical form: generated, evaluated without sym/,
// built through sym/, shrunk.
namespace anyshape::fuzz {

enum class Op {
  number,
  symbol,
  add,
  sub,
  mul,
  floordiv,
  mod,
  min,
  max,
  broadcast,
  select,  // expressions
  eq,
  ne,
  ge,
  divisible,
  both,
  either,
  negation,  // conditions
};

struct Tree {
  Op op = Op::number;
  int64_t value = 0;  // the number, or the index of the symbol
  std::vector<Tree> children;

  bool is_condition() const { return op >= Op::eq; }
};

struct Style {
  int symbols = 3;
  int depth = 3;
  int64_t largest = 12;  // number
  bool atoms = true;     // floordiv, min, max, select
  bool symbolic_divisors = false;
  bool broadcasts = false;
  bool products = true;
};

using Random = std::mt19937_64;
int64_t pick(Random& random, int64_t lo, int64_t hi);

Tree random_expression(Random& random, const Style& style, int depth);
Tree random_condition(Random& random, const Style& style, int depth);

// nullopt: undefined there (a divisor <= 0, a broadcast that fails) or overflow. A condition gives 0 or 1.
std::optional<int64_t> value_of(const Tree& tree, const std::vector<int64_t>& symbols);
std::string text_of(const Tree& tree);
Dim build_dim(const Tree& tree, Symbols& symbols);
Condition build_condition(const Tree& tree, Symbols& symbols);
Dim symbol_of(int64_t index, Symbols& symbols);
Binding binding_of(const std::vector<int64_t>& values, Symbols& symbols);

// The smallest trees found that still fail, by dropping sub-expressions one at a time.
std::vector<Tree> shrink(std::vector<Tree> trees, const std::function<bool(const std::vector<Tree>&)>& fails);

}  // namespace anyshape::fuzz
