#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "sym/condition.h"
#include "sym/dim.h"

namespace anyshape {

// Expressions compiled to straight code over int64 registers: evaluating needs no Dims, allocates nothing and may be
// done by many threads at once.
class Formulas {
 public:
  using Register = uint32_t;
  // What has no value: overflow, a division by less than 1, sizes that do not broadcast. Every operation but select
  // keeps it.
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::min();

  enum class Op : uint8_t {
    add,
    multiply,
    floordiv,
    min,
    max,
    broadcast,
    select,     // a != 0 ? b : c
    equal,      // a == b
    at_least,   // a >= b
    divisible,  // a % b == 0
    both,       // a && b
    either,     // a || b
    negate,     // !a
    round_up,   // a to a multiple of b
  };
  struct Instruction {
    Op op;
    Register to, a, b, c;
  };

  // A register that the caller fills before evaluating.
  Register variable();
  Register constant(int64_t value);
  // The same operation on the same registers is computed once.
  Register apply(Op op, Register a, Register b = 0, Register c = 0);
  // The value of an expression whose symbols were all given to bind(). kNone where it has none.
  Register compile(Dim dim);
  // 1 where it holds, 0 where not. REQUIRES: not opaque.
  Register compile(const Condition& condition);
  // From here on the symbol is read from this register.
  void bind(Dim symbol, Register reg) { symbols_[symbol] = reg; }
  bool knows(Dim dim) const;
  bool knows(const Condition& condition) const;
  // The code so far; what is added later starts here.
  size_t position() const { return code_.size(); }

  size_t registers() const { return initial_.size(); }
  // Fills the constants. `registers` has registers() entries.
  void start(std::span<int64_t> registers) const;
  // Runs the instructions from..to - 1.
  void evaluate(std::span<int64_t> registers, size_t from, size_t to) const;
  // Forgets the expressions, keeps the code: no Dim is referred to afterwards.
  void seal();

 private:
  Register new_register(int64_t initial);
  Register relation(const Relation& relation);

  std::vector<Instruction> code_;
  std::vector<int64_t> initial_;
  std::unordered_map<int64_t, Register> constants_;
  std::unordered_map<Dim, Register> dims_, symbols_;
  std::map<std::tuple<Op, Register, Register, Register>, Register> applied_;
};

}  // namespace anyshape
