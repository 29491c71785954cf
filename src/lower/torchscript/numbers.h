#pragma once

#include <optional>
#include <string_view>

#include "lower/torchscript/value.h"

namespace anyshape::lower::script {

// Python's numbers over a Lowering: sizes stay expressions, what only the running model knows becomes tensors of
// rank 0.
class Numbers {
 public:
  explicit Numbers(Lowering& lowering) : in_(lowering) {}

  // torch.NAME over numbers ("add", "floordiv", "lt", "sqrt", "__and__", ...). nullopt: no such operation, or some
  // argument is no number.
  Result<std::optional<Value>> call(std::string_view name, const Values& args);

  Result<Value> to_int(const Value& value);
  Result<Value> to_float(const Value& value);
  Result<Value> to_bool(const Value& value);
  // A tensor of one element as the number it holds.
  Result<Value> item(const Var& tensor);

  Value truth(const Condition& condition) const;
  Value negate(const Value& truth);
  // What a bool is, where that can be told now.
  std::optional<bool> decide(const Value& truth) const;
  // The value under the condition: a Condition for a bool that depends on sizes only.
  std::optional<Condition> condition(const Value& truth) const;
  std::optional<double> constant(const Value& number) const;

  // As a tensor of rank 0: i64, f64 or bool.
  Ref ref(const Value& number);
  // An integer that the running model knows.
  Value symbol(Ref integer);

 private:
  Result<std::optional<Value>> unary(std::string_view name, const Value& a);
  Result<std::optional<Value>> binary(std::string_view name, const Value& a, const Value& b);
  Result<std::optional<Value>> integers(std::string_view name, Dim a, Dim b);
  Result<std::optional<Value>> ratios(std::string_view name, const Ratio& a, const Ratio& b);
  Result<std::optional<Value>> doubles(std::string_view name, double a, double b);
  Result<std::optional<Value>> truths(std::string_view name, const Value& a, const Value& b);
  Result<Value> dynamic(std::string_view name, const Values& args);
  Value rounded(const Ratio& ratio, bool up) const;

  Lowering& in_;
};

}  // namespace anyshape::lower::script
