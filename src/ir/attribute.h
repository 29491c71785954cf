#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/box.h"
#include "base/special_members.h"
#include "ir/fact.h"
#include "tensor/tensor.h"

namespace anyshape {

class Graph;

struct SparseTensor {
  Tensor values, indices;
  std::vector<int64_t> dims;
};

struct Attribute {
  using Value = std::variant<std::monostate, int64_t, float, std::string, Box<Tensor>, Box<SparseTensor>, Box<Fact>,
                             std::shared_ptr<Graph>, std::vector<int64_t>, std::vector<float>, std::vector<std::string>,
                             std::vector<Tensor>, std::vector<Fact>, std::vector<std::shared_ptr<Graph>>>;
  std::string name;
  Value value;

  ANYSHAPE_SPECIAL_MEMBERS(Attribute);
  Attribute(std::string of_name, Value of_value);
};

Attribute attr(std::string_view name, int64_t value);
Attribute attr(std::string_view name, double value);
Attribute attr(std::string_view name, std::string_view value);
Attribute attr(std::string_view name, std::vector<int64_t> value);
Attribute attr(std::string_view name, std::vector<double> value);
Attribute attr(std::string_view name, Tensor value);
Attribute attr(std::string_view name, std::shared_ptr<Graph> value);
inline Attribute attr(std::string_view name, int value) { return attr(name, int64_t{value}); }
inline Attribute attr(std::string_view name, bool value) { return attr(name, int64_t{value}); }
inline Attribute attr(std::string_view name, const char* value) { return attr(name, std::string_view(value)); }

}  // namespace anyshape
