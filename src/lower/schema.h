#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lower/argument.h"

namespace anyshape::lower {

// One parameter of an operator as PyTorch declares it.
struct Parameter {
  enum class Type : uint8_t { tensor, integer, real, scalar, boolean, dtype, text, ignored };
  std::string name;
  Type type = Type::tensor;
  bool list = false;
  bool optional = false;        // None is allowed
  bool optional_items = false;  // Tensor?[]
  int64_t repeat = 0;           // int[2]: one number stands for two
  bool keyword_only = false;
  std::optional<Arg> fallback;  // the default
};

struct Schema {
  std::string name, overload;  // "add", "Tensor"
  std::vector<Parameter> parameters;
  size_t results = 1;
  bool result_is_list = false;
};

// The name as the table holds it; empty: no operator has it.
std::string_view schema_name(std::string_view name);
// The schemas of `aten::name`, in PyTorch's order. Empty: PyTorch has no such operator.
std::vector<Schema> schemas_of(std::string_view name);
// "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor" without the namespace. nullopt: malformed.
std::optional<Schema> parse_schema(std::string_view text);

}  // namespace anyshape::lower
