#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "passes/draft.h"

namespace anyshape {

// Who makes and who reads each value of a draft. Holds as long as no node is added, dropped or moved; a node may be
// replaced by one that makes the same outputs.
struct Readers {
  explicit Readers(const Draft& draft) : uses(draft.uses()), producers(draft.producers()), pinned(draft.pinned()) {}

  // Nobody but one node reads it, once.
  bool is_private(ValueId id) const { return uses[id] == 1 && !pinned.contains(id); }

  std::vector<uint32_t> uses, producers;
  std::unordered_set<ValueId> pinned;
};

// An activation, which is a node or several: x * Sigmoid(x) is one, too.
struct FoundActivation {
  std::string name;           // as in the attribute `activation` of fused operators
  std::vector<float> params;  // `activation_params`
  ValueId in = kNoValue;      // has the sizes of the output
  std::vector<uint32_t> nodes;
  uint32_t reads = 0;  // how often these nodes read `in`
};

// The activation whose last node this is: Relu, Clip, LeakyRelu, Sigmoid, Tanh, Gelu, GeluTanh, Silu or HardSwish of
// f32. Nobody else reads what its other nodes make, and no rule of theirs is asked at run time.
std::optional<FoundActivation> find_activation(const Draft& draft, const Readers& readers, uint32_t last);

}  // namespace anyshape
