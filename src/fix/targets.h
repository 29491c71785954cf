#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "sym/assumptions.h"

namespace anyshape::fixes {

// A Reshape whose zeros do not mean "as the input at this place".
bool zero_is_a_size(const Node& reshape);

// A constant target (0: as the input at this place, -1: the rest) by which Reshape, without allowzero, turns sizes
// `from` into `to` wherever the two have as many elements. nullopt: there is none. With `known`, one for empty tensors,
// too.
std::optional<std::vector<int64_t>> constant_target(const Dims& from, const Dims& to, const Assumptions* known);

// A factor of an axis: the size it had, and the one it has now. Where these differ it is one whole: nothing is known of
// an order within it.
struct Piece {
  Dim was, now;

  bool varies() const { return !(was == now); }
  friend bool operator==(const Piece&, const Piece&) = default;
};

// The pieces of each axis, outermost first; the size of an axis is their product.
using Layout = std::vector<Piece>;
using Layouts = std::vector<Layout>;

Dims sizes_now(const Layouts& layouts);

// What a reshape to `old_to`, made for the sizes the pieces had, means for the sizes they have now: the axes of the
// result. nullopt: it cuts through a piece that varies, or nothing tells into which axis a piece went that had size 1.
std::optional<Layouts> regroup(const Layouts& from, const Dims& old_to);

}  // namespace anyshape::fixes
