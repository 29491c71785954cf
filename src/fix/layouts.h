#pragma once

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fix/targets.h"
#include "solve/solve.h"

namespace anyshape::fixes {

// The pieces that the axes of the values of a graph are made of. Reshapes join and cut them; other operators keep those
// of an axis that stays. Nodes are to be followed in their order.
class AxisLayouts {
 public:
  // `old_size`: of symbols that had one size. `before`: the model when they had it.
  AxisLayouts(const Typed& typed, const Typed& before, std::vector<std::pair<Dim, Dim>> old_size);
  AxisLayouts(const Graph& body, const Facts& facts, std::vector<std::pair<Dim, Dim>> old_size);

  const Graph& graph() const { return graph_; }
  const Facts& facts() const { return facts_; }
  // The sizes it had. REQUIRES: the value has dims.
  Dims old_sizes(ValueId id) const;
  // It had a rank before, and has none now.
  bool lost(ValueId id) const;
  // REQUIRES: the value has dims.
  Layouts of(ValueId id) const;
  bool varies(ValueId id) const;
  // What the axes of the node's first output are made of if it reshapes its first input; nullopt as in regroup.
  std::optional<Layouts> reshaped(const Node& node) const;
  void follow(const Node& node);

 private:
  Layout inherited(const Node& node, ValueId out, size_t axis) const;
  std::optional<Layouts> transposed(const Node& node) const;
  void note(ValueId id, Layouts layouts);
  const Fact* fact_before(ValueId id) const;

  const Graph& graph_;
  const Facts& facts_;
  std::vector<std::pair<Dim, Dim>> old_size_;
  std::unordered_map<std::string_view, const Fact*> before_;  // by name of value; empty for a body
  std::unordered_map<ValueId, Layouts> joined_;               // of values with an axis of several pieces
};

}  // namespace anyshape::fixes
