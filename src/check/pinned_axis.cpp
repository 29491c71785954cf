#include <algorithm>

#include "base/printable.h"
#include "check/rules.h"

namespace anyshape::rules {
namespace {

std::string text_of(const InputAxis& axis, std::string_view name) {
  return fmt::format("{}:{}={}", axis.input, axis.axis, name);
}

using Nameless = std::vector<const AxisSymbol*>;

// By input.
std::vector<Nameless> nameless_axes(const Typed& typed) {
  std::vector<Nameless> out;
  for (const AxisSymbol& axis : typed.axes()) {
    if (!axis.anonymous) continue;
    const auto same_input = [&](const Nameless& all) {
      return all.front()->axes.front().input == axis.axes.front().input;
    };
    const auto group = std::find_if(out.begin(), out.end(), same_input);
    (group == out.end() ? out.emplace_back() : *group).push_back(&axis);
  }
  return out;
}

// "a, b and c". REQUIRES: two at least.
std::string listed(const std::vector<std::string>& words) {
  return fmt::format("{} and {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

}  // namespace

void pinned_axis(const LintContext& context, Findings& out) {
  for (const AxisSymbol& axis : context.typed.axes()) {
    const auto size = context.world.simplify(axis.symbol).constant();
    if (!size) continue;
    const Reason* demand = context.demand(axis.symbol);
    const std::string node = demand ? demand->node : "";
    const InputAxis& first = axis.axes.front();
    out.add(node, fmt::format("{} is declared dynamic, but only {} is accepted", describe(axis), *size),
            context.options.frees(first, axis.name)
                ? "make it dynamic: " + context.command("fix", "--dynamic " + shell_word(text_of(first, axis.name)))
                : fmt::format("export again with the size read from the input where {:?} has a constant, or declare "
                              "what is true: {}",
                              node,
                              context.command("fix", fmt::format("--freeze {}",
                                                                 shell_word(fmt::format("{}={}", axis.name, *size))))));
  }
}

void anonymous_axis(const LintContext& context, Findings& out) {
  for (const Nameless& axes : nameless_axes(context.typed)) {
    const InputAxis& first = axes.front()->axes.front();
    if (axes.size() == 1) {
      out.add(
          "",
          fmt::format("axis {} of {:?} has no name; it is called {} here", first.axis, first.input, axes.front()->name),
          "give it a name: " + context.command("fix", "--dynamic " + shell_word(text_of(first, "NAME"))));
      continue;
    }
    std::vector<std::string> numbers, names, given;
    for (const AxisSymbol* axis : axes) {
      numbers.push_back(fmt::format("{}", axis->axes.front().axis));
      names.push_back(axis->name);
      given.push_back(fmt::format("{0}=NAME{0}", numbers.back()));
    }
    const std::string words = fmt::format("{}:{}", first.input, fmt::join(given, ","));
    out.add("",
            fmt::format("axes {} of {:?} have no names; they are called {} here", listed(numbers), first.input,
                        listed(names)),
            "give them names: " + context.command("fix", "--dynamic " + shell_word(words)));
  }
}

void assumed_unreadable(const LintContext& context, Findings& out) {
  for (const std::string& why : context.assumed.unreadable)
    out.add("", fmt::format("the metadata entry {} cannot be used: {}", kAssumedKey, why), "export the model again");
}

}  // namespace anyshape::rules
