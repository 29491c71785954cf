#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lower/argument.h"
#include "lower/schema.h"

namespace anyshape::lower {

class Lowering;

// The arguments of one call, in the order and under the names of the schema; what was left out has its default.
// Accessors never fail: an argument that is of no use as the kind asked for makes the call refused, and a harmless
// value is given. Names that the schema lacks count as left out.
class Args {
 public:
  Args(Lowering& lowering, Schema schema, Arguments values)
      : lowering_(&lowering), schema_(std::move(schema)), values_(std::move(values)) {}

  const Schema& schema() const { return schema_; }
  const Arg& arg(std::string_view name) const;  // None where there is none
  Arg& arg_at(size_t i) { return values_[i]; }
  // Puts the present value of each tensor of the program in its place.
  void read_tensors();
  // The tensor of the program that was handed over: what an operator with side effects writes into. Null for others.
  Var variable(std::string_view name) const;
  // All tensors of the program among the arguments, but for those in lists.
  std::vector<Var> variables() const;
  Var self_variable() const { return variables_.empty() ? nullptr : variables_[0].lock(); }
  size_t size() const { return values_.size(); }
  bool has(std::string_view name) const { return !arg(name).is_none(); }
  bool is_tensor(std::string_view name) const { return arg(name).is_tensor(); }

  // Absent where the argument is None. A number becomes a constant of rank 0 (i64, f32 or bool).
  Ref tensor(std::string_view name) const;
  Ref self() const;                                              // the first argument
  Refs tensors(std::string_view name) const;                     // Tensor[], Tensor?[]: absent entries stay absent
  int64_t i(std::string_view name, int64_t fallback = 0) const;  // a number known now
  std::vector<int64_t> ints(std::string_view name) const;        // int[k]: repeated to k
  Dim dim(std::string_view name, Dim fallback = 0) const;        // may be symbolic
  Dims dims(std::string_view name) const;
  double f(std::string_view name, double fallback = 0) const;
  std::vector<double> floats(std::string_view name) const;
  bool flag(std::string_view name, bool fallback = false) const;
  std::string s(std::string_view name, std::string_view fallback = "") const;
  std::optional<DType> dtype(std::string_view name) const;

  // The same call with another tensor in the first place.
  Args with_self(Ref value) const;

 private:
  Lowering* lowering_;
  Schema schema_;
  Arguments values_;
  std::vector<std::weak_ptr<Variable>> variables_;  // per argument; empty: no tensor of the program
};

}  // namespace anyshape::lower
