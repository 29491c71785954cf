#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/printable.h"
#include "check/rules.h"

namespace anyshape::rules {
namespace {

constexpr size_t kMostSymbols = 32;  // pairs are compared

struct NamedAxis {
  std::string_view value;
  size_t axis;
  Dim size;
};

// The first axis of each size among those that carry one name.
struct NamedAxes {
  std::vector<NamedAxis> places;
  std::unordered_set<Dim> sizes;
};

// Every axis of a made value that carries a usable name, by name.
std::map<std::string_view, NamedAxes> named_axes(const Typed& typed) {
  std::map<std::string_view, NamedAxes> out;
  const Graph& graph = typed.graph();
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    const Value& value = graph.values[id];
    const Fact& fact = typed.facts()[id];
    if (value.producer == kNoValue || !value.declared || !value.declared->dims || !fact.dims) continue;
    if (value.declared->dims->size() != fact.dims->size()) continue;
    for (size_t i = 0; i < fact.dims->size(); ++i) {
      const DeclaredDim& dim = (*value.declared->dims)[i];
      if (dim.value || is_placeholder_name(dim.name)) continue;
      NamedAxes& all = out[dim.name];
      if (all.sizes.insert((*fact.dims)[i]).second) all.places.push_back({value.name, i, (*fact.dims)[i]});
    }
  }
  return out;
}

std::unordered_map<std::string_view, const AxisSymbol*> input_symbols(const Typed& typed) {
  std::unordered_map<std::string_view, const AxisSymbol*> out;
  for (const AxisSymbol& axis : typed.axes())
    if (!axis.anonymous) out.emplace(axis.name, &axis);
  return out;
}

}  // namespace

void equal_names(const LintContext& context, Findings& out) {
  const auto& axes = context.typed.axes();
  if (axes.size() > kMostSymbols) return;
  for (size_t i = 0; i < axes.size(); ++i)
    for (size_t k = i + 1; k < axes.size(); ++k) {
      if (context.world.simplify(axes[i].symbol).is_constant()) continue;
      if (!context.world.proves(Condition::eq(axes[i].symbol, axes[k].symbol))) continue;
      const Reason* demand = context.demand(axes[k].symbol);
      out.add(
          demand ? demand->node : "",
          fmt::format("{} and {} always have the same size", describe(axes[i]), describe(axes[k])),
          "give both one name: " + context.command("fix", "--rename " + shell_word(axes[k].name + "=" + axes[i].name)));
    }
}

void one_name_two_sizes(const LintContext& context, Findings& out) {
  const auto inputs = input_symbols(context.typed);
  for (const auto& [name, axes] : named_axes(context.typed)) {
    const auto& places = axes.places;
    const auto found = inputs.find(name);
    const AxisSymbol* input = found == inputs.end() ? nullptr : found->second;
    const Dim expected = input ? input->symbol : places.front().size;
    const auto differs = [&](const NamedAxis& place) { return may_differ(context, place.size, expected); };
    const auto other = std::find_if(places.begin(), places.end(), differs);
    // A number under a dynamic name is another rule's finding.
    if (other == places.end() || other->size.is_constant()) continue;
    const std::string first = input
                                  ? fmt::format("axis {} of {:?}", input->axes.front().axis, input->axes.front().input)
                                  : fmt::format("axis {} of {:?}", places.front().axis, places.front().value);
    out.add("",
            fmt::format("the name {} stands for {} at {}, but for {} at axis {} of {:?}", name, print(expected), first,
                        print(other->size), other->axis, other->value),
            "write what is true: " + context.command("infer"));
  }
}

}  // namespace anyshape::rules
