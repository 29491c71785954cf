#pragma once

#include <functional>

#include "base/temporary.h"
#include "ops/common.h"

// What the operators with bodies (If, Loop, Scan, SequenceMap) share: joining what two ways say about one value.
namespace anyshape::ops {

// The dim (or entry) of a value that is `a` one way and `b` the other.
using JoinDim = std::function<Dim(Dim a, Dim b)>;

struct Joiner {
  JoinDim dim;                   // asked only where the two differ
  std::optional<JoinDim> entry;  // absent: entries that differ are dropped
};

// What is true both ways. Ranks that differ leave the rank unknown; kinds or dtypes that differ are refused.
Result<Fact> join(InferContext& context, const Fact& a, const Fact& b, const Joiner& joiner);

// Provably the same dims and entries, as far as the facts say anything.
bool same(const InferContext& context, const Fact& a, const Fact& b);

// The fact with `fn` applied to every dim, entry, bound and length it holds.
Fact map_dims(const Fact& fact, const std::function<Dim(Dim)>& fn);

// The type of a sequence's items: dims that differ between them become Dim::unknown().
Result<Fact> common_item(InferContext& context, const Facts& items);
// How many items there are follows from shapes, or nothing says that it does not.
bool counted_by_shapes(const InferContext& context, const Fact& sequence);
// One item of that type: every unknown dim is a size of its own.
Fact any_item(InferContext& context, const Fact& item, bool from_shapes);

// What a refused body means: its path must not be taken. Where ONNX Runtime lets pass what is refused, nothing is
// certain of the node.
Status forbid(InferContext& context, const Condition& path, Error error);

// Symbols made inside a body come out of it without what was assumed there; sizes are never negative.
void assume_sizes(InferContext& context, const Facts& facts);

// The type a file declares for a value: numbers stay, every other dim is `fill`.
Fact declared_fact(const Value& value, Dim fill);

// One fact per iteration stacked on a new axis of that many entries.
Result<Fact> stack(InferContext& context, const Facts& parts, size_t axis, std::string_view code);

struct TensorType {
  DType dtype = DType::undefined;
  std::vector<int64_t> dims;
};

// For kernels that run a body again and again: the parts of each scan output, one per iteration.
class ScanParts {
 public:
  // `first`: index of the first scan output among the body's outputs. `rounds`: how many there will be, as far as one
  // can tell.
  ScanParts(const Graph& body, size_t first, int64_t rounds)
      : body_(body), first_(first), rounds_(rounds), columns_(body.outputs.size() - first) {}

  // Keeps what one iteration gave. Code "body.type" when a scan output is no tensor, those of kernels::stack where it
  // is another one than before.
  Status add(const std::vector<Datum>& outputs);
  size_t count() const { return columns_.size(); }
  // All iterations of an output on a new axis 0. REQUIRES: there was one.
  Result<Tensor> stacked(size_t i);
  // Each by itself, as long as this lives.
  Temporary<Tensor> parts(size_t i) const;
  // The outputs of a body that never ran: as the file declares them; where it does not give every size, as one run on
  // these inputs makes them; where that fails, sizes without a number are 0. Each without the axis of iterations.
  Result<std::vector<TensorType>> none(BodyRunner& bodies, std::vector<Datum> inputs) const;

 private:
  // Iterations one after the other in memory that grows, so that what the body gave is free for the next one; those of
  // elements that are not whole bytes by themselves.
  struct Column {
    Temporary<Tensor> apart;
    Tensor one;   // the type of an iteration
    Tensor rows;  // one axis of bytes
    int64_t filled = 0;
  };
  Status add(Column& column, const Tensor& tensor) const;
  Status grow(Column& column) const;

  const Graph& body_;
  size_t first_;
  int64_t rounds_;
  std::vector<Column> columns_;
};

// The only entry of a bool tensor. `code` of the error: "if.cond".
Result<bool> single_bool(const Tensor& tensor, std::string_view code);

// A tensor of that type with an axis of size 0 put in at `axis`.
Result<Tensor> no_parts(const TensorType& one, size_t axis);

}  // namespace anyshape::ops
