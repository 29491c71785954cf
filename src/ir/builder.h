#pragma once

#include "ir/form_builder.h"

namespace anyshape {

// Sizes back to tensors, and the operators that take sizes: they are given as expressions, and become constants, parts
// of a Shape or arithmetic in the graph.
class Builder : public FormBuilder {
 public:
  using FormBuilder::FormBuilder;

  Ref size(Dim dim);                      // i64[1]
  Ref scalar(Dim dim);                    // i64[]
  Ref shape(const Dims& dims);            // i64[n]
  Ref truth(const Condition& condition);  // bool[]
  // True where some value gives the size, or has it as an axis: no arithmetic is needed.
  bool has_size(Dim dim) const { return scopes_.known_size(dim) || scopes_.source_of(dim); }
  // The symbol's value is this integer tensor of one entry.
  void define(Dim symbol, Ref value);

  Ref reshape(Ref x, Dims target);  // one entry may be -1: what is left of the count
  Ref expand(Ref x, Dims target);
  Ref full(const Dims& dims, const Tensor& value);  // value has one element
  Ref pad(Ref x, const Dims& before_and_after, Ref value, std::string_view mode = "constant");
  Refs split(Ref x, int64_t axis, const Dims& sizes);
  // start and end as Python reads them; INT64_MAX is the end. step != 0.
  Ref slice(Ref x, int64_t axis, Dim start, Dim end, int64_t step = 1);
  // The same place on an axis of `size` entries, as a number where it is one from the front or from the end.
  Dim position(Dim at, Dim size) const;
  std::pair<Ref, Ref> topk(Ref x, Dim k, int64_t axis, bool largest, bool sorted);
};

}  // namespace anyshape
