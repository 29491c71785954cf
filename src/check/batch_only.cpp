#include <algorithm>
#include <cctype>

#include "check/rules.h"

namespace anyshape::rules {
namespace {

bool mentions(const Fact& fact, Dim symbol) {
  return fact.dims && std::any_of(fact.dims->begin(), fact.dims->end(), [&](Dim d) { return d.mentions(symbol); });
}

bool has_entry_of(const Fact& fact, Dim symbol) {
  return fact.elements &&
         std::any_of(fact.elements->begin(), fact.elements->end(), [&](Dim d) { return d.mentions(symbol); });
}

bool is_recurrent(const Node& node) {
  return node.domain.empty() && (node.type == "LSTM" || node.type == "GRU" || node.type == "RNN");
}

// What a symbol does to the nodes of the main graph.
struct Effect {
  size_t resized = 0;     // nodes with an output whose size it changes
  size_t arithmetic = 0;  // nodes that compute sizes from it
  std::string recurrent;  // a recurrent layer it is the time axis of
  std::string quadratic;  // a node with an output of two such axes
  std::vector<std::string> outputs;
};

void add_node(const Typed& typed, const Node& node, Dim symbol, Effect& effect) {
  const auto fact = [&](ValueId id) -> const Fact* { return id == kNoValue ? nullptr : &typed.facts()[id]; };
  const auto any_output = [&](auto test) {
    return std::any_of(node.out.begin(), node.out.end(), [&](ValueId id) { return fact(id) && test(*fact(id)); });
  };
  effect.resized += any_output([&](const Fact& f) { return mentions(f, symbol); });
  effect.arithmetic += any_output([&](const Fact& f) { return has_entry_of(f, symbol); });
  if (is_recurrent(node) && effect.recurrent.empty()) {
    const auto* layout = node.attribute("layout");
    const bool batch_first =
        layout && std::holds_alternative<int64_t>(layout->value) && std::get<int64_t>(layout->value) == 1;
    const Fact* x = node.in.empty() ? nullptr : fact(node.in[0]);
    if (x && x->dims && x->rank() == 3 && (*x->dims)[batch_first ? 1 : 0].mentions(symbol))
      effect.recurrent = typed.graph().label(node);
  }
  if (effect.quadratic.empty() && any_output([&](const Fact& f) {
        return f.dims && std::count_if(f.dims->begin(), f.dims->end(), [&](Dim d) { return d.mentions(symbol); }) > 1;
      }))
    effect.quadratic = typed.graph().label(node);
}

Effect effect_of(const Typed& typed, Dim symbol) {
  Effect effect;
  for (const Node& node : typed.graph().nodes) add_node(typed, node, symbol, effect);
  for (ValueId id : typed.graph().outputs)
    if (mentions(typed.facts()[id], symbol)) effect.outputs.push_back(typed.graph().values[id].name);
  return effect;
}

std::string consequence(const Typed& typed, Dim symbol) {
  const Effect effect = effect_of(typed, symbol);
  std::string text = fmt::format("{} of {} nodes change size with it", effect.resized, typed.graph().nodes.size());
  if (effect.arithmetic) text += fmt::format(", {} compute sizes from it at run time", effect.arithmetic);
  if (!effect.recurrent.empty()) text += fmt::format(", it is the time axis of {:?}", effect.recurrent);
  if (!effect.quadratic.empty()) text += fmt::format(", memory grows with its square at {:?}", effect.quadratic);
  if (effect.outputs.empty()) return text + ", no output does";
  return text + fmt::format(", outputs that do: {}", fmt::join(effect.outputs, ", "));
}

bool sounds_like_batch(std::string name) {
  if (name == "N" || name == "B") return true;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name == "b" || name == "bs" || name.find("batch") != std::string::npos;
}

// The axes called so, or, where no axis is, every axis 0.
bool is_batch(const Typed& typed, const AxisSymbol& axis) {
  const auto called_batch = [](const AxisSymbol& a) { return !a.anonymous && sounds_like_batch(a.name); };
  if (std::any_of(typed.axes().begin(), typed.axes().end(), called_batch)) return called_batch(axis);
  return std::any_of(axis.axes.begin(), axis.axes.end(), [](const InputAxis& place) { return place.axis == 0; });
}

}  // namespace

void batch_only(const LintContext& context, Findings& out) {
  if (!context.options.batch_only) return;
  for (const AxisSymbol& axis : context.typed.axes()) {
    if (is_batch(context.typed, axis)) continue;
    for (const InputAxis& place : axis.axes) {
      const auto waived = [&](const InputAxis& a) { return a.input == place.input && a.axis == place.axis; };
      if (std::any_of(context.options.allow.begin(), context.options.allow.end(), waived)) continue;
      const Because* demand = narrowest_demand(context.accepted, axis.symbol);
      out.add(demand ? demand->node : "",
              fmt::format("axis {} of {:?} ({}) is dynamic outside the batch axis: {}", place.axis, place.input,
                          axis.name, consequence(context.typed, axis.symbol)),
              fmt::format("export with this axis fixed, or allow it: --allow {}:{}", place.input, place.axis));
    }
  }
}

}  // namespace anyshape::rules
