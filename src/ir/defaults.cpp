#include "ir/defaults.h"

#include <algorithm>
#include <iterator>

namespace anyshape {

std::vector<ValueId> optional_inputs(const Graph& graph) {
  std::vector<ValueId> out;
  std::copy_if(graph.inputs.begin(), graph.inputs.end(), std::back_inserter(out),
               [&](ValueId id) { return graph.values[id].is_initializer; });
  return out;
}

std::shared_ptr<const Graph> without_defaults(const Graph& graph, const std::vector<ValueId>& inputs) {
  auto out = std::make_shared<Graph>(graph);
  for (ValueId id : inputs) {
    Value& value = out->values[id];
    if (!value.declared) {
      value.declared.emplace();
      value.declared->kind = Fact::Kind::tensor;
      value.declared->dtype = value.constant->dtype;
    }
    value.constant.reset();
    value.is_initializer = false;
  }
  return out;
}

}  // namespace anyshape
