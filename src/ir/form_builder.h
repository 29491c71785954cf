#pragma once

#include "ir/graph_builder.h"

namespace anyshape {

// Operators in today's terms, written as the opset in force wants them. Axes may be negative.
class FormBuilder : public GraphBuilder {
 public:
  using GraphBuilder::GraphBuilder;

  Ref squeeze(Ref x, std::vector<int64_t> axes);
  Ref unsqueeze(Ref x, std::vector<int64_t> axes);
  // type: ReduceSum, ReduceMean, ReduceMax, ... No axes: over all.
  Ref reduce(std::string_view type, Ref x, std::vector<int64_t> axes, bool keepdims);
  Ref transpose(Ref x, std::vector<int64_t> order);
  Ref concat(const Refs& parts, int64_t axis);
  Ref cast(Ref x, DType dtype);
  Ref gather(Ref x, Ref indices, int64_t axis);
  Ref clip(Ref x, Ref lo, Ref hi);  // either may be absent; rank 0, of x's type
  Ref softmax(Ref x, int64_t axis, bool logarithm = false);

 protected:
  ~FormBuilder() = default;

 private:
  Ref turned_weight(Ref x);
};

}  // namespace anyshape
