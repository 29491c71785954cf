#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <unordered_set>

#include "base/printable.h"
#include "base/running_command.h"
#include "check/rules.h"
#include "solve/rows.h"

namespace anyshape::rules {
namespace {

bool is_recurrent(const Node& node) {
  return node.domain.empty() && (node.type == "LSTM" || node.type == "GRU" || node.type == "RNN");
}

// Nodes, each counted once.
struct Count {
  size_t nodes = 0, last = 0;  // `last` counts from 1
  void add(size_t node) {
    nodes += last != node + 1;
    last = node + 1;
  }
};

// What a symbol does to the nodes of the main graph.
struct Effect {
  Count resized;                  // nodes with an output whose size it changes
  Count arithmetic;               // nodes that compute sizes from it
  std::string recurrent;          // a recurrent layer it is the time axis of
  std::string quadratic;          // a node with an output of two such axes
  ValueId last_sized = kNoValue;  // the last output with such an axis
  std::vector<std::string> outputs;
};

class Effects {
 public:
  explicit Effects(const Typed& typed) : typed_(typed) {
    const Graph& graph = typed.graph();
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      for (ValueId id : graph.nodes[n].out)
        if (id != kNoValue) add_output(n, id);
      if (is_recurrent(graph.nodes[n])) add_recurrent(graph.nodes[n]);
    }
    for (ValueId id : graph.outputs) add_given(id);
  }

  std::string consequence(Dim symbol) const;

 private:
  void add_output(size_t node, ValueId id) {
    const Fact& fact = typed_.facts()[id];
    for (Dim size : fact.dims.value_or(Dims()))
      for (Dim symbol : size.symbols()) {
        Effect& effect = effects_[symbol];
        effect.resized.add(node);
        if (effect.last_sized == id && effect.quadratic.empty())
          effect.quadratic = typed_.graph().label(typed_.graph().nodes[node]);
        effect.last_sized = id;
      }
    if (!fact.elements) return;
    for (Dim entry : *fact.elements)
      for (Dim symbol : entry.symbols()) effects_[symbol].arithmetic.add(node);
  }

  void add_recurrent(const Node& node) {
    const bool batch_first = node.integer("layout") == 1;
    const Fact* x = node.in.empty() || node.in[0] == kNoValue ? nullptr : &typed_.facts()[node.in[0]];
    if (!x || !x->dims || x->rank() != 3) return;
    for (Dim symbol : (*x->dims)[batch_first ? 1 : 0].symbols())
      if (Effect& effect = effects_[symbol]; effect.recurrent.empty()) effect.recurrent = typed_.graph().label(node);
  }

  void add_given(ValueId id) {
    std::unordered_set<Dim> symbols;
    for (Dim size : typed_.facts()[id].dims.value_or(Dims()))
      for (Dim symbol : size.symbols())
        if (symbols.insert(symbol).second) effects_[symbol].outputs.push_back(typed_.graph().values[id].name);
  }

  const Typed& typed_;
  std::unordered_map<Dim, Effect> effects_;
};

std::string Effects::consequence(Dim symbol) const {
  const auto found = effects_.find(symbol);
  const Effect effect = found == effects_.end() ? Effect() : found->second;
  std::string text =
      fmt::format("{} of {} nodes change size with it", effect.resized.nodes, typed_.graph().nodes.size());
  if (effect.arithmetic.nodes) text += fmt::format(", {} compute sizes from it at run time", effect.arithmetic.nodes);
  if (!effect.recurrent.empty()) text += fmt::format(", it is the time axis of {:?}", effect.recurrent);
  if (!effect.quadratic.empty()) text += fmt::format(", memory grows with its square at {:?}", effect.quadratic);
  if (effect.outputs.empty()) return text + ", no output does";
  return text + fmt::format(", outputs that do: {}", fmt::join(effect.outputs, ", "));
}

bool is_word_for_batch(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name.find("batch") != std::string::npos;
}

bool is_letter_for_batch(std::string_view name) { return name == "N" || name == "B" || name == "b" || name == "bs"; }

// By the word, else by a letter, which stands for other things beside the word.
std::vector<AxisSymbol> called_batch(const Typed& typed) {
  std::vector<AxisSymbol> words, letters;
  for (const AxisSymbol& axis : typed.axes()) {
    if (axis.anonymous) continue;
    if (is_word_for_batch(axis.name)) words.push_back(axis);
    if (is_letter_for_batch(axis.name)) letters.push_back(axis);
  }
  return words.empty() ? letters : words;
}

bool is_first(const AxisSymbol& axis) {
  return std::any_of(axis.axes.begin(), axis.axes.end(), [](const InputAxis& place) { return place.axis == 0; });
}

}  // namespace
}  // namespace anyshape::rules

namespace anyshape {

bool maybe_batch(const Typed& typed, const AxisSymbol& axis) {
  const auto called = rules::called_batch(typed);
  return rules::is_first(axis) ||
         std::any_of(called.begin(), called.end(), [&](const AxisSymbol& one) { return one.symbol == axis.symbol; });
}

std::vector<AxisSymbol> batch_symbols(const Typed& typed, const AcceptedSet& accepted) {
  const auto& axes = typed.axes();
  std::vector<AxisSymbol> first, proved, proved_first;
  if (auto called = rules::called_batch(typed); !called.empty()) return called;
  const std::vector<RowsProof> proofs = prove_rows(typed, accepted);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (rules::is_first(axes[i])) first.push_back(axes[i]);
    if (!proofs[i].independent) continue;
    proved.push_back(axes[i]);
    if (rules::is_first(axes[i])) proved_first.push_back(axes[i]);
  }
  if (first.empty() || !proved_first.empty()) return proved_first;
  return !proved.empty() ? proved : first;
}

}  // namespace anyshape

namespace anyshape::rules {

static std::string allowing(const LintOptions& options, const InputAxis& place) {
  const std::string words = "--allow " + shell_word(fmt::format("{}:{}", place.input, place.axis));
  return options.check_again.empty() ? running_command_with(words) : options.check_again + " " + words;
}

void batch_only(const LintContext& context, Findings& out) {
  if (!context.options.batch_only) return;
  const Effects effects(context.typed);
  const std::vector<AxisSymbol> batch = batch_symbols(context.typed, context.accepted);
  for (const AxisSymbol& axis : context.typed.axes()) {
    if (std::any_of(batch.begin(), batch.end(), [&](const AxisSymbol& one) { return one.symbol == axis.symbol; }))
      continue;
    for (const InputAxis& place : axis.axes) {
      const auto waived = [&](const InputAxis& a) { return a.input == place.input && a.axis == place.axis; };
      if (std::any_of(context.options.allow.begin(), context.options.allow.end(), waived)) continue;
      const Reason* demand = context.demand(axis.symbol);
      out.add(demand ? demand->node : "",
              fmt::format("axis {} of {:?} ({}) is dynamic outside the batch axis: {}", place.axis, place.input,
                          axis.name, effects.consequence(axis.symbol)),
              fmt::format("{}, or allow it: {}", context.command("fix", "--freeze " + shell_word(axis.name + "=N")),
                          allowing(context.options, place)));
    }
  }
}

}  // namespace anyshape::rules
