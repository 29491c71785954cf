#include "solve/rows.h"

#include <algorithm>
#include <unordered_map>

#include "base/effort.h"
#include "solve/budget.h"
#include "solve/full_sizes.h"
#include "solve/rows_rule.h"

namespace anyshape {
namespace {

using Kind = RowFlow::Kind;
using Flows = std::vector<RowFlow>;

constexpr std::string_view kNoRule = "nothing is known of how the operator treats rows";
constexpr std::string_view kNoRank = "an input has no known number of axes";
constexpr std::string_view kTwoAxes = "more than one axis of an input counts the rows";
constexpr std::string_view kMixes = "it may put rows together";
constexpr std::string_view kCounts = "it computes with the number of rows";
constexpr std::string_view kDraws = "it draws numbers for all rows together";
constexpr std::string_view kChooses = "which of its bodies run, or how often, hangs on the rows";
constexpr std::string_view kCarries =
    "what its body hands on from one iteration to the next does not keep the rows apart";
constexpr std::string_view kNotWalked = "the sizes inside its body are not known";
constexpr std::string_view kHangs = "what it demands hangs on the number of rows";

// Of a glance at so many values.
int64_t steps_for(size_t values) { return 1 + static_cast<int64_t>(values / 8); }

// The rows of one symbol through a graph and its bodies.
class RowWalk {
 public:
  RowWalk(const Typed& typed, const FullSizes& sizes, Dim rows) : typed_(typed), sizes_(sizes), rows_(rows) {}

  // Flows of the required inputs and of the captures that the caller has filled in become those of all values.
  void run(const Graph& graph, const Facts& facts, Flows& flows) {
    for (const Node& node : graph.nodes) visit(graph, node, facts, flows);
  }
  RowFlow given(const Graph& graph, const Fact& fact) const;
  // The sizes agree with what is said of a value.
  bool agrees(const Fact& fact, const RowLayout& layout, bool counted) const;

 private:
  bool is_fixed(const Fact& fact) const;
  bool on_axes_only(Dim dim) const;
  RowFlow mixed(const Graph& graph, const Node& node, std::string_view why) const {
    return {Kind::mixed, {}, &graph, &node, why};
  }
  void visit(const Graph& graph, const Node& node, const Facts& facts, Flows& flows);
  void apply(const Graph& graph, const Node& node, const Facts& facts, Flows& flows);
  void fill(const Node& node, const RowFlow& flow, Flows& flows) const {
    for (ValueId id : node.out)
      if (id != kNoValue) flows[id] = flow;
  }
  std::optional<Flows> run_body(const Flows& outer, const Graph& body, const Flows& inputs);
  void call_bodies(const Graph& graph, const Node& node, const Facts& facts, Flows& flows);
  void call_function(const Graph& graph, const Node& node, Flows& flows);
  void call_if(const Graph& graph, const Node& node, Flows& flows);
  void call_loop(const Graph& graph, const Node& node, Flows& flows);
  void call_scan(const Graph& graph, const Node& node, const Facts& facts, Flows& flows);
  const RowFlow* not_kept(const Flows& before, const Flows& after, size_t first, size_t count) const;

  const Typed& typed_;
  const FullSizes& sizes_;
  Dim rows_;
};

bool RowWalk::on_axes_only(Dim dim) const {
  if (dim.is_constant()) return true;
  for (Dim symbol : dim.symbols())
    if (symbol == rows_ || typed_.kind(symbol) != SymbolKind::axis) return false;
  return true;
}

// The entries are known, and the rows have no part in them.
bool RowWalk::is_fixed(const Fact& fact) const {
  if (fact.constant) return true;
  return fact.elements && std::all_of(fact.elements->begin(), fact.elements->end(),
                                      [&](Dim entry) { return !entry.is_unknown() && on_axes_only(entry); });
}

RowFlow RowWalk::given(const Graph& graph, const Fact& fact) const {
  if (!fact.is_tensor() || !fact.dims) return {Kind::mixed, {}, &graph, nullptr, kNoRank};
  std::optional<size_t> axis;
  for (size_t i = 0; i < fact.dims->size(); ++i) {
    if (!(*fact.dims)[i].mentions(rows_)) continue;
    if (axis || (*fact.dims)[i] != rows_) return {Kind::mixed, {}, &graph, nullptr, kTwoAxes};
    axis = i;
  }
  return axis ? RowFlow{Kind::rows, {*axis, 1, 1}} : RowFlow();
}

bool RowWalk::agrees(const Fact& fact, const RowLayout& layout, bool counted) const {
  if (!fact.is_tensor() || !fact.dims || layout.axis >= fact.rank()) return false;
  const Dim size = layout.outer * rows_ * layout.inner;
  if (size.is_unknown() || layout.outer.mentions(rows_) || layout.inner.mentions(rows_)) return false;
  for (size_t i = 0; i < fact.rank(); ++i) {
    const Dim dim = (*fact.dims)[i];
    if (i == layout.axis ? dim != size : dim.is_unknown() || dim.mentions(rows_)) return false;
    // A size that is computed from their number may be anything.
    if (counted && i != layout.axis && !on_axes_only(dim)) return false;
  }
  return !counted || (on_axes_only(layout.outer) && on_axes_only(layout.inner));
}

void RowWalk::visit(const Graph& graph, const Node& node, const Facts& facts, Flows& flows) {
  Effort::step(steps_for(node.in.size() + node.out.size()));
  const bool has_bodies = node.body || node.has_graph_attribute();
  if (has_bodies)
    call_bodies(graph, node, facts, flows);
  else
    apply(graph, node, facts, flows);
  for (ValueId id : node.out)
    if (id != kNoValue && is_fixed(facts[id])) flows[id] = {};
}

void RowWalk::apply(const Graph& graph, const Node& node, const Facts& facts, Flows& flows) {
  bool rows = false, counts = false;
  for (ValueId id : node.in) {
    if (id == kNoValue) continue;
    if (flows[id].kind == Kind::mixed) return fill(node, flows[id], flows);
    rows |= flows[id].kind == Kind::rows;
    counts |= flows[id].kind == Kind::count;
  }
  const RowTreatment* treatment = row_treatment(node);
  if (draws_at_random(node, facts)) return fill(node, mixed(graph, node, kDraws), flows);
  if (node.domain.empty() && (node.type == "Shape" || node.type == "Size"))
    return fill(node, {rows || counts ? Kind::count : Kind::same}, flows);
  if (!node.op) return fill(node, mixed(graph, node, kNoRule), flows);
  if (!rows && !counts) return fill(node, {}, flows);
  const RowCall call(node, facts, flows, rows_);
  for (size_t i = 0; i < node.out.size(); ++i) {
    if (node.out[i] == kNoValue) continue;
    const auto layout = treatment ? treatment->rule(call, i) : std::nullopt;
    RowFlow& flow = flows[node.out[i]];
    if (layout && agrees(facts[node.out[i]], *layout, counts))
      flow = {Kind::rows, *layout};
    else if (!rows)
      flow = {Kind::count};
    else
      flow = mixed(graph, node, counts && treatment ? kCounts : treatment ? kMixes : kNoRule);
  }
}

void RowWalk::call_bodies(const Graph& graph, const Node& node, const Facts& facts, Flows& flows) {
  for (ValueId id : node.in)
    if (id != kNoValue && flows[id].kind == Kind::mixed) return fill(node, flows[id], flows);
  if (node.body) return call_function(graph, node, flows);
  if (node.domain.empty() && node.type == "If") return call_if(graph, node, flows);
  if (node.domain.empty() && node.type == "Loop") return call_loop(graph, node, flows);
  if (node.domain.empty() && node.type == "Scan" && node.version >= 9) return call_scan(graph, node, facts, flows);
  fill(node, mixed(graph, node, kNoRule), flows);
}

// The flows of its outputs; nullopt: its sizes are not known.
std::optional<Flows> RowWalk::run_body(const Flows& outer, const Graph& body, const Flows& inputs) {
  const Facts* facts = sizes_.body(body);
  const auto required = body.required_inputs();
  if (!facts || required.size() != inputs.size()) return std::nullopt;
  Effort::step(steps_for(body.values.size()));
  Flows flows(body.values.size());
  for (const auto& capture : body.captures) flows[capture.inner] = outer[capture.outer];
  for (size_t i = 0; i < inputs.size(); ++i) flows[required[i]] = inputs[i];
  run(body, *facts, flows);
  Flows out;
  for (ValueId id : body.outputs) out.push_back(flows[id]);
  return out;
}

void RowWalk::call_function(const Graph& graph, const Node& node, Flows& flows) {
  Flows inputs;
  for (size_t i = 0; i < node.body->required_inputs().size(); ++i)
    inputs.push_back(i < node.in.size() && node.in[i] != kNoValue ? flows[node.in[i]] : RowFlow());
  const auto out = run_body({}, *node.body, inputs);
  if (!out) return fill(node, mixed(graph, node, kNotWalked), flows);
  for (size_t i = 0; i < node.out.size() && i < out->size(); ++i)
    if (node.out[i] != kNoValue) flows[node.out[i]] = (*out)[i];
}

void RowWalk::call_if(const Graph& graph, const Node& node, Flows& flows) {
  if (node.in.empty() || flows[node.in[0]].kind != Kind::same) return fill(node, mixed(graph, node, kChooses), flows);
  std::vector<Flows> branches;
  bool known = true;
  for_each_body(node, [&](const Graph& body) {
    auto out = run_body(flows, body, {});
    known = known && out && out->size() >= node.out.size();
    if (known) branches.push_back(std::move(*out));
  });
  if (!known || branches.empty()) return fill(node, mixed(graph, node, kNotWalked), flows);
  for (size_t i = 0; i < node.out.size(); ++i) {
    if (node.out[i] == kNoValue) continue;
    RowFlow& flow = flows[node.out[i]] = branches.front()[i];
    for (const Flows& branch : branches) {
      if (flow.kind == Kind::mixed) break;
      const bool agree = branch[i].kind == flow.kind && branch[i].layout == flow.layout;
      if (!agree) flow = branch[i].kind == Kind::mixed ? branch[i] : mixed(graph, node, kMixes);
    }
  }
}

// What is handed on has to have the rows as it came: the flow of a value that has not. The carried values are the last
// `count` of those before.
const RowFlow* RowWalk::not_kept(const Flows& before, const Flows& after, size_t first, size_t count) const {
  for (size_t i = 0; i < count; ++i) {
    const RowFlow &came = before[before.size() - count + i], &goes = after[first + i];
    if (goes.kind == Kind::mixed || came.kind != goes.kind || came.layout != goes.layout) return &goes;
  }
  return nullptr;
}

// Outputs: the carried values, then what is collected along a new axis 0.
void RowWalk::call_loop(const Graph& graph, const Node& node, Flows& flows) {
  const auto is_same = [&](size_t i) {
    return i >= node.in.size() || node.in[i] == kNoValue || flows[node.in[i]].kind == Kind::same;
  };
  if (!is_same(0) || !is_same(1)) return fill(node, mixed(graph, node, kChooses), flows);
  const size_t carried = node.in.size() < 2 ? 0 : node.in.size() - 2;
  Flows inputs(2 + carried);
  for (size_t i = 0; i < carried; ++i)
    if (node.in[i + 2] != kNoValue) inputs[i + 2] = flows[node.in[i + 2]];
  std::optional<Flows> out;
  for_each_body(node, [&](const Graph& body) { out = run_body(flows, body, inputs); });
  if (!out || out->size() < 1 + carried) return fill(node, mixed(graph, node, kNotWalked), flows);
  if (out->front().kind != Kind::same) return fill(node, mixed(graph, node, kChooses), flows);
  if (const RowFlow* after = not_kept(inputs, *out, 1, carried))
    return fill(node, after->kind == Kind::mixed ? *after : mixed(graph, node, kCarries), flows);
  for (size_t i = 0; i < node.out.size() && i + 1 < out->size(); ++i) {
    if (node.out[i] == kNoValue) continue;
    RowFlow& flow = flows[node.out[i]] = (*out)[i + 1];
    if (i >= carried && flow.kind == Kind::rows) ++flow.layout.axis;
  }
}

// The axis that an attribute of Scan has for a value, 0 where it has none.
std::optional<size_t> scan_axis(const Node& node, std::string_view attribute, size_t index, const Fact& fact) {
  if (!fact.has_rank()) return std::nullopt;
  const Attribute* found = node.attribute(attribute);
  const auto* axes = found ? std::get_if<std::vector<int64_t>>(&found->value) : nullptr;
  const int64_t axis = axes && index < axes->size() ? (*axes)[index] : 0;
  const auto rank = static_cast<int64_t>(fact.rank());
  if (axis < -rank || axis >= rank) return std::nullopt;
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

// An entry along the axis; nullopt: how many there are hangs on the rows.
std::optional<RowFlow> entry_along(std::optional<size_t> axis, RowFlow flow) {
  if (flow.kind == Kind::same) return flow;
  if (flow.kind != Kind::rows || !axis || flow.layout.axis == *axis) return std::nullopt;
  if (flow.layout.axis > *axis) --flow.layout.axis;
  return flow;
}

// Such entries, put together again.
RowFlow collected_along(size_t axis, RowFlow flow) {
  if (flow.kind == Kind::rows && axis <= flow.layout.axis) ++flow.layout.axis;
  return flow;
}

// Inputs and outputs: the carried values, then what is cut or collected along an axis.
void RowWalk::call_scan(const Graph& graph, const Node& node, const Facts& facts, Flows& flows) {
  const auto scanned = static_cast<size_t>(std::max<int64_t>(node.integer("num_scan_inputs"), 0));
  if (scanned > node.in.size()) return fill(node, mixed(graph, node, kNotWalked), flows);
  const size_t carried = node.in.size() - scanned;
  Flows inputs;
  for (size_t i = 0; i < node.in.size(); ++i) inputs.push_back(node.in[i] == kNoValue ? RowFlow() : flows[node.in[i]]);
  const Flows states(inputs.begin(), inputs.begin() + static_cast<ptrdiff_t>(carried));
  for (size_t i = carried; i < node.in.size(); ++i) {
    if (node.in[i] == kNoValue) return fill(node, mixed(graph, node, kNotWalked), flows);
    const auto entry = entry_along(scan_axis(node, "scan_input_axes", i - carried, facts[node.in[i]]), inputs[i]);
    if (!entry) return fill(node, mixed(graph, node, kChooses), flows);
    inputs[i] = *entry;
  }
  std::optional<Flows> out;
  for_each_body(node, [&](const Graph& body) { out = run_body(flows, body, inputs); });
  if (!out || out->size() < std::max(carried, node.out.size()))
    return fill(node, mixed(graph, node, kNotWalked), flows);
  if (const RowFlow* after = not_kept(states, *out, 0, carried))
    return fill(node, after->kind == Kind::mixed ? *after : mixed(graph, node, kCarries), flows);
  for (size_t i = 0; i < node.out.size(); ++i) {
    if (node.out[i] == kNoValue) continue;
    RowFlow& flow = flows[node.out[i]] = (*out)[i];
    if (i < carried || flow.kind != Kind::rows) continue;
    const auto axis = scan_axis(node, "scan_output_axes", i - carried, facts[node.out[i]]);
    flow = axis ? collected_along(*axis, flow) : mixed(graph, node, kNoRank);
  }
}

// A node whose demand on several rows is not that on one: what it does may hang on their number.
const Requirement* hangs_on_count(const Typed& typed, const FullSizes& sizes, Dim rows) {
  for (const Requirement& one : typed.requirements()) {
    if (one.recorded || !one.condition.mentions(rows)) continue;
    const Condition alone = substitute(one.condition, {{rows, Dim(1)}});
    if (!sizes.follows(one.condition, alone) || !sizes.follows(alone, one.condition)) return &one;
  }
  return nullptr;
}

Reason mixing_reason(const RowFlow& flow) {
  constexpr const char* kCode = "rows.mixed";
  if (!flow.by) return {"", "", kCode, std::string(flow.why)};
  return {flow.graph->label(*flow.by), flow.by->type, kCode, std::string(flow.why)};
}

RowsProof unproved(Reason why) { return {false, std::move(why), {}}; }

RowsProof prove(const Typed& typed, const FullSizes& sizes, Dim rows) {
  const Graph& graph = typed.graph();
  Effort::step(steps_for(graph.values.size()));
  RowWalk walk(typed, sizes, rows);
  Flows flows(graph.values.size());
  const auto required = graph.required_inputs();
  for (size_t i = 0; i < required.size(); ++i) {
    RowFlow& flow = flows[required[i]] = walk.given(graph, typed.input_facts()[i]);
    if (flow.kind == Kind::mixed) return unproved(mixing_reason(flow));
  }
  walk.run(graph, sizes.main(), flows);
  RowsProof out{true, {}, {}};
  for (ValueId id : graph.outputs) {
    const RowFlow& flow = flows[id];
    if (flow.kind == Kind::mixed) return unproved(mixing_reason(flow));
    const bool in_order = flow.kind == Kind::same || (flow.kind == Kind::rows && flow.layout.outer == Dim(1) &&
                                                      walk.agrees(sizes.main()[id], flow.layout, false));
    if (!in_order) {
      const uint32_t maker = graph.values[id].producer;
      const Node* node = maker == kNoValue ? nullptr : &graph.nodes[maker];
      return unproved({node ? graph.label(*node) : "", node ? node->type : "", "rows.mixed",
                       fmt::format("the output {:?} {}", graph.values[id].name,
                                   flow.kind == Kind::count ? "is made of the number of rows"
                                                            : "does not have one row after the other")});
    }
    out.outputs.push_back(flow.kind == Kind::rows ? std::optional(flow.layout) : std::nullopt);
  }
  if (const Requirement* one = hangs_on_count(typed, sizes, rows))
    return unproved({one->node, one->op, "rows.mixed", std::string(kHangs)});
  return out;
}

Condition joined(const Condition::Conjunction& all) {
  Condition out;
  for (const Relation& one : all) out = out && Condition::of(one);
  return out;
}

// Equalities that hold wherever the model takes a shape without an empty axis.
std::vector<Relation> equalities(const Typed& typed, const AcceptedSet& accepted) {
  const auto full = typed.ground();
  for (const AxisSymbol& axis : typed.axes()) full->assume(Condition::ge(axis.symbol, 1));
  std::vector<Relation> out;
  for (const AcceptedCondition& one : accepted.conditions) {
    const auto& any = one.condition.any_of();
    const auto possible = [&](const auto& all) { return any.size() == 1 || full->prove(joined(all)) != Tri::no; };
    if (one.condition.is_opaque() || std::count_if(any.begin(), any.end(), possible) != 1) continue;
    for (const Relation& relation : *std::find_if(any.begin(), any.end(), possible))
      if (relation.kind == Relation::Kind::eq) out.push_back(relation);
    if (Effort::tired()) break;
  }
  return out;
}

// Those that hold whichever rows there are: they say nothing of their number.
std::vector<Condition> without(const std::vector<Relation>& all, Dim rows) {
  std::vector<Condition> out;
  for (const Relation& relation : all)
    if (!relation.expr.mentions(rows)) out.push_back(Condition::of(relation));
  Effort::step(steps_for(all.size()));
  return out;
}

}  // namespace

std::vector<RowsProof> prove_rows(const Typed& typed, const AcceptedSet& accepted) {
  const Effort effort(budget::with_nodes(budget::kRows, typed.graph().nodes.size()));
  std::vector<RowsProof> out;
  const Reason refused{"", "", "rows.mixed", "the model takes no shape"};
  const Reason tired{"", "", std::string(kBudgetCode), "the work budget was spent before it was told"};
  if (typed.refusal() || typed.cut_short()) {
    out.assign(typed.axes().size(), unproved(typed.refusal() ? refused : tired));
    return out;
  }
  const std::vector<Relation> all = equalities(typed, accepted);
  std::optional<FullSizes> sizes;
  std::vector<Condition> known;
  for (const AxisSymbol& axis : typed.axes()) {
    if (Effort::tired()) {
      out.push_back(unproved(tired));
      continue;
    }
    auto holding = without(all, axis.symbol);
    if (!sizes || holding != known) sizes.emplace(typed, known = std::move(holding));
    out.push_back(prove(typed, *sizes, axis.symbol));
  }
  return out;
}

}  // namespace anyshape
