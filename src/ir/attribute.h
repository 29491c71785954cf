#pragma once

#include <cstdint>
#include <memory>
#include <string>
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

}  // namespace anyshape
