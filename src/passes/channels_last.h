#pragma once

#include <optional>
#include <vector>

#include "passes/draft.h"

// Parts of the pass `channels-last`: how nodes work on values whose channels are the last axis.
namespace anyshape::channels_last {

struct Form {
  Node node;                 // with operands and outputs of the plain one
  std::vector<size_t> move;  // which inputs have their channels last
  bool begins = false;       // a chain
  bool ends = true;          // may be the last of one: what it gives is no larger than what it reads
};

// Nothing where the engine has no kernel for the node in that form.
std::optional<Form> form_of(const Draft& draft, const Node& node);

// [n, c, spatial...] as [n, spatial..., c].
Dims moved(const Dims& dims);

}  // namespace anyshape::channels_last
