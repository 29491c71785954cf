#include "solve/explain.h"

#include <algorithm>
#include <charconv>

#include "base/nearest.h"
#include "base/running_command.h"

namespace anyshape {
namespace {

constexpr size_t kMostSteps = 200;

using Scope = Spot::Scope;

class Explainer {
 public:
  explicit Explainer(const Typed& typed) : typed_(typed) {}

  std::optional<std::pair<Scope, ValueId>> find(std::string_view name) const;
  AxisStory run(Spot spot);
  SizeCause cause(const Spot& spot) const;

 private:
  const Fact& fact(const Spot& spot) const { return (*spot.scope.facts)[spot.value]; }
  const Value& value(const Spot& spot) const { return spot.scope.graph->values[spot.value]; }
  Dim size(const Spot& spot) const;
  SizeCause cause_of_source(const Spot& spot) const;
  SizeCause cause_of_axis(const Spot& spot, const Node& node) const;
  SizeCause cause_of_entry(const Spot& spot, const Node& node) const;
  std::optional<SizeCause> from_target(const Spot& spot, const Node& node) const;
  std::optional<Spot> body_result(const Spot& spot, const Node& node) const;
  std::optional<Scope> outer_scope(const Scope& inner) const;
  std::optional<Spot> related_axis(const Spot& spot, const Node& node) const;
  std::optional<Spot> related_entry(const Spot& spot, const Node& node) const;
  std::string conclude(Dim asked, const Spot& last) const;

  const Typed& typed_;
};

std::string words(const Spot& spot) {
  return fmt::format("{} {} of {:?}", spot.entry ? "entry" : "axis", spot.index,
                     spot.scope.graph->values[spot.value].name);
}

SizeCause ends(std::string reason) { return {std::move(reason), "", false, std::nullopt}; }

// `before`, the words of the next spot, `after`.
SizeCause leads_to(std::string before, const Spot& next, std::string after = "") {
  return {std::move(before), std::move(after), true, next};
}

bool share_symbol(Dim a, Dim b) {
  const auto symbols = a.symbols();
  return std::any_of(symbols.begin(), symbols.end(), [&](Dim s) { return b.mentions(s); });
}

std::string join_ints(const std::vector<int64_t>& values) { return fmt::format("{}", fmt::join(values, "x")); }

const std::vector<int64_t>* ints(const Node& node, std::string_view name) {
  const Attribute* attribute = node.attribute(name);
  return attribute ? std::get_if<std::vector<int64_t>>(&attribute->value) : nullptr;
}

// The attributes that shape a window, as far as they are given.
std::string window(const Node& node) {
  std::string out;
  for (const auto& [name, word] : {std::pair("kernel_shape", "window"), std::pair("strides", "stride"),
                                   std::pair("dilations", "dilation"), std::pair("pads", "padding")})
    if (const auto* values = ints(node, name)) out += fmt::format(", {} {}", word, join_ints(*values));
  return out;
}

std::optional<std::pair<Scope, ValueId>> Explainer::find(std::string_view name) const {
  if (const auto id = typed_.graph().find(name)) return std::pair(Scope{&typed_.graph(), &typed_.facts()}, *id);
  for (const auto& [graph, facts] : typed_.bodies())
    if (const auto id = graph->find(name)) return std::pair(Scope{graph, &facts}, *id);
  return std::nullopt;
}

Dim Explainer::size(const Spot& spot) const {
  const Fact& known = fact(spot);
  if (spot.entry) return known.elements && spot.index < known.elements->size() ? (*known.elements)[spot.index] : 0;
  return known.dims && spot.index < known.dims->size() ? (*known.dims)[spot.index] : Dim(0);
}

std::optional<Scope> Explainer::outer_scope(const Scope& inner) const {
  const auto holds = [&](const Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
      bool held = node.body.get() == inner.graph;
      for_each_body(node, [&](const Graph& body) { held |= &body == inner.graph; });
      return held;
    });
  };
  if (holds(typed_.graph())) return Scope{&typed_.graph(), &typed_.facts()};
  for (const auto& [graph, facts] : typed_.bodies())
    if (holds(*graph)) return Scope{graph, &facts};
  return std::nullopt;
}

// A value no node of its graph makes.
SizeCause Explainer::cause_of_source(const Spot& spot) const {
  const Dim here = size(spot);
  if (value(spot).is_initializer)
    return ends(spot.entry ? fmt::format("the constant {} in the file", print(here)) : "a constant of the file");
  for (const Graph::Capture& capture : spot.scope.graph->captures) {
    const auto outer = capture.inner == spot.value ? outer_scope(spot.scope) : std::nullopt;
    if (outer)
      return {"taken from the graph around this body", "", false, Spot{*outer, capture.outer, spot.index, spot.entry}};
  }
  if (spot.scope.graph != &typed_.graph()) return ends("an input of the body");
  return ends(here.is_constant() ? fmt::format("input axis, declared as {}", print(here)) : "input axis, dynamic");
}

// The axis of an input whose size is this one, or is part of it.
std::optional<Spot> Explainer::related_axis(const Spot& spot, const Node& node) const {
  const Dim here = size(spot);
  const size_t rank = fact(spot).dims->size();
  std::optional<Spot> best;
  int best_score = 0;
  for (ValueId id : node.in) {
    if (id == kNoValue || !(*spot.scope.facts)[id].dims) continue;
    const Dims& dims = *(*spot.scope.facts)[id].dims;
    const bool weights = (*spot.scope.facts)[id].from_shapes;
    for (size_t k = 0; k < dims.size(); ++k) {
      const bool same = dims[k] == here;
      if (!same && (here.is_constant() || !share_symbol(here, dims[k]))) continue;
      const bool aligned = k == spot.index || rank - spot.index == dims.size() - k;
      const int score = (same ? 8 : 4) + (aligned ? 2 : 0) + (weights == here.is_constant() ? 1 : 0);
      if (score > best_score) {
        best_score = score;
        best = Spot{spot.scope, id, k, false};
      }
    }
  }
  return best;
}

std::optional<Spot> Explainer::related_entry(const Spot& spot, const Node& node) const {
  const Dim here = size(spot);
  std::optional<Spot> best;
  int best_score = 0;
  for (ValueId id : node.in) {
    if (id == kNoValue || !(*spot.scope.facts)[id].elements) continue;
    const Dims& entries = *(*spot.scope.facts)[id].elements;
    for (size_t k = 0; k < entries.size(); ++k) {
      const int score = (entries[k] == here ? 4 : share_symbol(here, entries[k]) ? 2 : 0);
      if (score == 0) continue;
      if (score + (k == spot.index) > best_score) {
        best_score = score + (k == spot.index);
        best = Spot{spot.scope, id, k, true};
      }
    }
  }
  return best;
}

// Operators whose output dims are the entries of one input.
std::optional<SizeCause> Explainer::from_target(const Spot& spot, const Node& node) const {
  const bool reshape = node.type == "Reshape", expand = node.type == "Expand", made = node.type == "ConstantOfShape";
  if (!node.domain.empty() || (!reshape && !expand && !made)) return std::nullopt;
  const size_t port = made ? 0 : 1;
  if (node.in.size() <= port || node.in[port] == kNoValue) return std::nullopt;
  const Fact& target = (*spot.scope.facts)[node.in[port]];
  const size_t rank = fact(spot).dims->size();
  if (!target.elements) return ends("the target shape is not known before the model runs");
  const size_t missing = rank - std::min(rank, target.elements->size());
  if (spot.index < missing) return std::nullopt;
  const Spot entry{spot.scope, node.in[port], spot.index - missing, true};
  const auto number = size(entry).constant();
  if (reshape && number == -1) {
    const Dims& in = *(*spot.scope.facts)[node.in[0]].dims;
    auto related = related_axis(spot, node);
    if (related && related->value != node.in[0]) related.reset();
    return SizeCause{fmt::format("the target's -1: what is left of the {} elements of {:?}", print(product(in)),
                                 spot.scope.graph->values[node.in[0]].name),
                     "", false, related};
  }
  if (reshape && number == 0) return std::nullopt;
  if (expand && number == 1) return std::nullopt;
  if (number && (target.constant || target.from_shapes))
    return SizeCause{fmt::format("the target's literal {}", *number), "", false, entry};
  return leads_to("the target's ", entry);
}

// A value made by a body: the body's own output.
std::optional<Spot> Explainer::body_result(const Spot& spot, const Node& node) const {
  if (!node.body) return std::nullopt;
  const auto facts = typed_.bodies().find(node.body.get());
  if (facts == typed_.bodies().end()) return std::nullopt;
  for (size_t i = 0; i < node.out.size() && i < node.body->outputs.size(); ++i)
    if (node.out[i] == spot.value)
      return Spot{{node.body.get(), &facts->second}, node.body->outputs[i], spot.index, spot.entry};
  return std::nullopt;
}

SizeCause Explainer::cause_of_axis(const Spot& spot, const Node& node) const {
  const Dim here = size(spot);
  if (auto inside = body_result(spot, node)) return {"made inside the function", "", false, inside};
  if (auto target = from_target(spot, node)) return *std::move(target);
  for (Dim symbol : here.symbols()) {
    if (typed_.kind(symbol) == SymbolKind::axis) continue;
    const auto knows = [&](ValueId id) {
      if (id == kNoValue || !(*spot.scope.facts)[id].dims) return false;
      const Dims& dims = *(*spot.scope.facts)[id].dims;
      return std::any_of(dims.begin(), dims.end(), [&](Dim d) { return d.mentions(symbol); });
    };
    if (std::none_of(node.in.begin(), node.in.end(), knows))
      return ends(typed_.kind(symbol) == SymbolKind::data ? "its size depends on the data"
                                                          : "its size cannot be written");
  }
  if (const auto related = related_axis(spot, node)) {
    const bool same = size(*related) == here;
    if (same) return leads_to("the same as ", *related);
    return leads_to("made from ", *related, fmt::format(", which is {}{}", print(size(*related)), window(node)));
  }
  if (const auto entry = related_entry(spot, node)) return leads_to("given by ", *entry);
  return ends(fmt::format("made by this node{}", window(node)));
}

SizeCause Explainer::cause_of_entry(const Spot& spot, const Node& node) const {
  if (auto inside = body_result(spot, node)) return {"made inside the function", "", false, inside};
  if (node.type == "Constant") return ends(fmt::format("the constant {} in the file", print(size(spot))));
  if (node.type == "Shape" && node.domain.empty() && !node.in.empty() && node.in[0] != kNoValue) {
    const auto& dims = (*spot.scope.facts)[node.in[0]].dims;
    const int64_t rank = dims ? static_cast<int64_t>(dims->size()) : 0, first = node.integer("start");
    const int64_t skipped = std::clamp<int64_t>(first < 0 ? first + rank : first, 0, rank);
    const Spot axis{spot.scope, node.in[0], spot.index + static_cast<size_t>(skipped), false};
    if (dims && axis.index < dims->size()) return leads_to("reads ", axis);
  }
  if (const auto entry = related_entry(spot, node)) {
    const bool same = size(*entry) == size(spot);
    return leads_to(same ? "the same as " : "computed from ", *entry);
  }
  return ends("computed by this node");
}

SizeCause Explainer::cause(const Spot& spot) const {
  const uint32_t producer = value(spot).producer;
  if (producer == kNoValue) return cause_of_source(spot);
  const Node& node = spot.scope.graph->nodes[producer];
  return spot.entry ? cause_of_entry(spot, node) : cause_of_axis(spot, node);
}

std::string Explainer::conclude(Dim asked, const Spot& last) const {
  if (const auto number = asked.constant()) {
    if (value(last).is_initializer || value(last).producer != kNoValue)
      return fmt::format("static: {} comes from {}", *number, words(last));
    return fmt::format("static: the file declares {}", words(last));
  }
  if (asked.is_unknown()) return "dynamic: it is not the same in every step of the loop";
  std::vector<std::string> causes;
  for (Dim symbol : asked.symbols()) {
    const std::string name(typed_.symbols().name(symbol));
    const auto is_axis = [&](const AxisSymbol& axis) { return axis.symbol == symbol; };
    const auto axis = std::find_if(typed_.axes().begin(), typed_.axes().end(), is_axis);
    if (axis != typed_.axes().end())
      causes.push_back(
          fmt::format("{} is axis {} of input {:?}", name, axis->axes.front().axis, axis->axes.front().input));
    else if (typed_.kind(symbol) == SymbolKind::data)
      causes.push_back(fmt::format("{} depends on the data", name));
    else
      causes.push_back(fmt::format("{} follows from the shapes in a way that cannot be written", name));
  }
  return fmt::format("dynamic: {}", fmt::join(causes, ", "));
}

AxisStory Explainer::run(Spot spot) {
  AxisStory out;
  const Dim asked = size(spot);
  while (true) {
    const SizeCause step = cause(spot);
    const uint32_t producer = value(spot).producer;
    const Node* node = producer == kNoValue ? nullptr : &spot.scope.graph->nodes[producer];
    out.steps.push_back({value(spot).name, spot.index, spot.entry, print(size(spot)),
                         node ? spot.scope.graph->label(*node) : "", node ? node->type : "", step.reason()});
    if (!step.next || out.steps.size() == kMostSteps) break;
    spot = *step.next;
  }
  out.conclusion = conclude(asked, spot);
  return out;
}

std::vector<std::string> value_names(const Typed& typed) {
  std::vector<std::string> names;
  for (const Value& value : typed.graph().values) names.push_back(value.name);
  for (const auto& [graph, facts] : typed.bodies())
    for (const Value& value : graph->values) names.push_back(value.name);
  return names;
}

Result<std::pair<Scope, ValueId>> find_value(const Typed& typed, std::string_view value) {
  if (const auto found = Explainer(typed).find(value)) return *found;
  Error error = usage("explain.value", "the model has no value {:?}", value).value();
  if (const std::string near = nearest(value, value_names(typed)); !near.empty())
    error.hint = corrected_command({"", value, near}, near);
  return tl::unexpected(std::move(error));
}

}  // namespace

std::string SizeCause::reason() const { return names_next ? before + words(*next) + after : before; }

SizeCause cause_of(const Typed& typed, const Spot& spot) { return Explainer(typed).cause(spot); }

Result<size_t> rank_of(const Typed& typed, std::string_view value) {
  TRY(const auto found, find_value(typed, value));
  const Fact& fact = (*found.first.facts)[found.second];
  if (!fact.dims) return usage("explain.value", "nothing is known about the axes of {:?}", value);
  return fact.dims->size();
}

std::pair<std::string_view, std::optional<int64_t>> split_axis(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {text, std::nullopt};
  int64_t axis = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, axis);
  if (error != std::errc() || stop != end) return {text, std::nullopt};
  return {text.substr(0, colon), axis};
}

Result<AxisStory> explain_axis(const Typed& typed, std::string_view value, int64_t axis) {
  TRY(const auto found, find_value(typed, value));
  TRY(const size_t rank, rank_of(typed, value));
  const auto axes = static_cast<int64_t>(rank);
  if (axis < -axes || axis >= axes)
    return usage("explain.axis", "{:?} has {} axes, there is no axis {}", value, rank, axis);
  return Explainer(typed).run({found.first, found.second, static_cast<size_t>(axis < 0 ? axis + axes : axis), false});
}

Result<std::vector<AxisStory>> explain_axes(const Typed& typed, std::string_view text) {
  std::vector<AxisStory> out;
  const auto rank = rank_of(typed, text);
  const auto [value, only] = rank ? std::pair(text, std::optional<int64_t>()) : split_axis(text);
  if (!rank && !only) return tl::unexpected(rank.error());
  const int64_t first = only.value_or(0), last = only ? *only : static_cast<int64_t>(*rank) - 1;
  for (int64_t axis = first; axis <= last; ++axis) {
    TRY(AxisStory one, explain_axis(typed, value, axis));
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace anyshape
