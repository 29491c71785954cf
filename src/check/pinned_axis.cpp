#include "check/rules.h"

namespace anyshape::rules {

void pinned_axis(const LintContext& context, Findings& out) {
  for (const AxisSymbol& axis : context.typed.axes()) {
    const auto size = context.world.simplify(axis.symbol).constant();
    if (!size) continue;
    const Reason* demand = context.demand(axis.symbol);
    const std::string node = demand ? demand->node : "";
    const InputAxis& first = axis.axes.front();
    out.add(node, fmt::format("{} is declared dynamic, but only {} is accepted", describe(axis), *size),
            fmt::format("anyshape fix --dynamic {}:{}={}, or export again with the size read from the input where {:?} "
                        "has a constant",
                        first.input, first.axis, axis.name, node));
  }
}

void anonymous_axis(const LintContext& context, Findings& out) {
  for (const AxisSymbol& axis : context.typed.axes()) {
    if (!axis.anonymous) continue;
    const InputAxis& first = axis.axes.front();
    out.add("", fmt::format("axis {} of {:?} has no name; it is called {} here", first.axis, first.input, axis.name),
            "give the axis a name when exporting");
  }
}

void assumed_unreadable(const LintContext& context, Findings& out) {
  for (const std::string& why : context.assumed.unreadable)
    out.add("", fmt::format("the metadata entry {} cannot be used: {}", kAssumedKey, why), "export the model again");
}

}  // namespace anyshape::rules
