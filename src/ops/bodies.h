#pragma once

#include <functional>

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
// One item of that type: every unknown dim is a size of its own.
Fact any_item(InferContext& context, const Fact& item, bool from_shapes);

// Symbols made inside a body come out of it without what was assumed there; sizes are never negative.
void assume_sizes(InferContext& context, const Facts& facts);

// The type a file declares for a value: numbers stay, every other dim is `fill`.
Fact declared_fact(const Value& value, Dim fill);

// One fact per iteration stacked on a new axis of that many entries.
Result<Fact> stack(InferContext& context, const Facts& parts, size_t axis, std::string_view code);

}  // namespace anyshape::ops
