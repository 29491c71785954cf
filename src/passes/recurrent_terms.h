#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "passes/recurrent_cell.h"

namespace anyshape {

// Columns that are linear in the input of the step, its state, and the state behind the reset gate, plus a constant.
// Column j is sum_k from[s][j][k] * source_s[k] + bias[j].
struct Linear {
  enum Source : uint8_t { row, state, reset, sources };
  int64_t columns = 0;
  std::array<std::vector<float>, sources> from;  // empty: zero
  std::vector<float> bias;

  bool reads(Source s) const {
    return std::any_of(from[s].begin(), from[s].end(), [](float x) { return x != 0; });
  }
};

// What a value of the body is: linear, or an operator on such.
struct Term {
  enum class Kind : uint8_t { linear, memory, sigmoid, tanh, relu, mul, add, sub, one_minus };
  Kind kind = Kind::linear;
  Linear linear;
  const Term *a = nullptr, *b = nullptr;

  bool is(Kind of) const { return kind == of; }
};

// Reads values of a step as terms.
class TermReader {
 public:
  explicit TermReader(const Step& step) : step_(step) { widths_ = {step.inputs, step.units, step.units}; }

  const Term* read(ValueId id);
  // The gate of Linear::reset, once something was linear behind it.
  const Linear* reset() const { return reset_; }
  // The input of the step as a whole stands for the state behind the gate.
  bool is_state(const Term& term) const { return &term == state_; }

 private:
  const Term* keep(Term term);
  const Term* keep(std::optional<Linear> linear);
  const Term* keep(Term::Kind kind, const Term* a, const Term* b = nullptr) { return keep(Term{kind, {}, a, b}); }

  Linear zero(int64_t columns) const;
  std::vector<float>& block(Linear& linear, size_t source) const;
  Linear whole(Linear::Source source) const;
  const Term* make_term(ValueId id);
  const Term* of_node(const Node& node, ValueId id);
  const Term* unary(Term::Kind kind, const Node& node);

  // A term as a linear one: the state behind a gate is what it is linear in, too, for one gate.
  std::optional<Linear> linear(ValueId id);

  // linear * matrix[columns, n]; `turned`: the matrix is [n, columns].
  std::optional<Linear> times(const Linear& x, const Tensor& matrix, bool turned);
  std::optional<Linear> product(const Node& node);
  std::optional<Linear> general_product(const Node& node);
  static bool is_last(int64_t axis) { return axis == 1 || axis == -1; }

  std::optional<Linear> joined(const Node& node);
  std::optional<Linear> columns(const Linear& x, int64_t first, int64_t count) const;

  // Columns of a linear term, or of a function of one.
  const Term* part(const Term& of, int64_t first, int64_t count);
  static int64_t width(const Term& of);
  const Term* part_of_split(const Node& node, ValueId id);
  const Term* part_of_slice(const Node& node);
  std::optional<std::vector<int64_t>> ints(ValueId id) const;

  // A constant that is added to each row of a linear term, as one.
  std::optional<Linear> added(const Linear& to, ValueId id);
  std::optional<Linear> combined(const Linear& a, const Linear& b, float sign) const;
  bool is_one(ValueId id) const;
  const Term* sum(const Node& node, float sign);
  const Term* scaled_or_gated(const Node& node);

  const Step& step_;
  std::array<int64_t, Linear::sources> widths_{};
  std::unordered_map<ValueId, const Term*> known_;
  std::vector<std::unique_ptr<Term>> terms_;
  const Term* state_ = nullptr;
  const Linear* reset_ = nullptr;
  int64_t work_ = 0;
};

}  // namespace anyshape
