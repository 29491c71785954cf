#pragma once

#include <unordered_map>
#include <vector>

#include "ir/infer.h"
#include "sym/assumptions.h"

namespace anyshape {

// What a walk knows of the sizes that are no axes.
struct FreshSizes {
  const std::unordered_map<Dim, SymbolKind>& kinds;
  const std::vector<Condition>& bounds;

  SymbolKind kind(Dim symbol) const;
};

// What the node asks wherever the model runs: its condition, or another branch.
Condition whole(const Requirement& requirement);
// The condition and what bounds the data-dependent sizes in it, by axes or by each other.
Condition with_bounds(const FreshSizes& sizes, Condition condition);
// exists values for the data-dependent sizes: the condition without them. Opaque where it cannot be told, or is about
// sizes that no expression of the axes can write.
Projection without_data(const FreshSizes& sizes, const Assumptions& ground, Condition condition);

}  // namespace anyshape
