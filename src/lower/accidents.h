#pragma once

#include <string_view>
#include <vector>

#include "lower/lowering.h"

namespace anyshape::lower {

// What PyTorch decides while it captures an operator, although the operator decides it anew at every size: whether an
// end lies beyond the axis a slice cuts, whether a padding is 0, whether a size is 1. A guard that says just that tells
// nothing of the model.
class Accidents {
 public:
  explicit Accidents(Lowering& lowering) : l_(lowering) {}

  // Before an ATen operator is lowered; what it takes in the order of its schema.
  void note_call(std::string_view name, const Arguments& arguments);
  void note_sizes(const Dims& dims);
  // Whether the condition holds at the very sizes at which one of those decisions does. Found by trying sizes from 2
  // on.
  bool explain(const Condition& condition) const;

 private:
  void note(const Condition& condition);
  void note_slice(const Arguments& arguments);

  Lowering& l_;
  std::vector<Condition> all_;
};

}  // namespace anyshape::lower
