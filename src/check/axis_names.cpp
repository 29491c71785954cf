#include <algorithm>
#include <map>
#include <unordered_set>

#include "check/rules.h"

namespace anyshape::rules {
namespace {

constexpr size_t kMostSymbols = 32;  // pairs are compared

struct NamedAxis {
  std::string value;
  size_t axis;
  Dim size;
};

// Every axis of a made value that carries a usable name, by name.
std::map<std::string, std::vector<NamedAxis>> named_axes(const Typed& typed) {
  std::map<std::string, std::vector<NamedAxis>> out;
  const Graph& graph = typed.graph();
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    const Value& value = graph.values[id];
    const Fact& fact = typed.facts()[id];
    if (value.producer == kNoValue || !value.declared || !value.declared->dims || !fact.dims) continue;
    if (value.declared->dims->size() != fact.dims->size()) continue;
    for (size_t i = 0; i < fact.dims->size(); ++i) {
      const DeclaredDim& dim = (*value.declared->dims)[i];
      if (!dim.value && !is_placeholder_name(dim.name)) out[dim.name].push_back({value.name, i, (*fact.dims)[i]});
    }
  }
  return out;
}

const AxisSymbol* input_symbol(const Typed& typed, std::string_view name) {
  for (const AxisSymbol& axis : typed.axes())
    if (!axis.anonymous && axis.name == name) return &axis;
  return nullptr;
}

}  // namespace

void equal_names(const LintContext& context, Findings& out) {
  const auto& axes = context.typed.axes();
  if (axes.size() > kMostSymbols) return;
  for (size_t i = 0; i < axes.size(); ++i)
    for (size_t k = i + 1; k < axes.size(); ++k) {
      if (context.world.simplify(axes[i].symbol).is_constant()) continue;
      if (!context.world.proves(Condition::eq(axes[i].symbol, axes[k].symbol))) continue;
      const Because* demand = narrowest_demand(context.accepted, axes[k].symbol);
      out.add(demand ? demand->node : "",
              fmt::format("{} and {} always have the same size", describe(axes[i]), describe(axes[k])),
              "give both axes one name");
    }
}

void one_name_two_sizes(const LintContext& context, Findings& out) {
  for (const auto& [name, places] : named_axes(context.typed)) {
    const AxisSymbol* input = input_symbol(context.typed, name);
    const Dim expected = input ? input->symbol : places.front().size;
    std::unordered_set<Dim> tried;
    const auto differs = [&](const NamedAxis& place) {
      return tried.insert(place.size).second && may_differ(context, place.size, expected);
    };
    const auto other = std::find_if(places.begin(), places.end(), differs);
    // A number under a dynamic name is another rule's finding.
    if (other == places.end() || other->size.is_constant()) continue;
    const std::string first = input
                                  ? fmt::format("axis {} of {:?}", input->axes.front().axis, input->axes.front().input)
                                  : fmt::format("axis {} of {:?}", places.front().axis, places.front().value);
    out.add("",
            fmt::format("the name {} stands for {} at {}, but for {} at axis {} of {:?}", name, print(expected), first,
                        print(other->size), other->axis, other->value),
            fmt::format("anyshape infer MODEL -o OUT writes what is true, or rename the axis of {:?}", other->value));
  }
}

}  // namespace anyshape::rules
