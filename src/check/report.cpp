#include "check/report.h"

#include <algorithm>
#include <set>

#include "base/effort.h"
#include "solve/budget.h"
#include "solve/rows.h"

namespace anyshape {
namespace {

// Each of them once.
std::vector<Reason> distinct(const std::vector<Reason>& all) {
  std::vector<Reason> out;
  std::set<Reason> seen;
  for (const Reason& one : all)
    if (seen.insert(one).second) out.push_back(one);
  return out;
}

std::vector<ConditionText> to_conditions(const Typed& typed, const std::vector<AcceptedCondition>& all) {
  std::vector<ConditionText> out;
  for (const AcceptedCondition& one : all) {
    ConditionText text{print(one.condition), {}, distinct(one.because)};
    for (Dim symbol : one.condition.symbols()) text.symbols.emplace_back(typed.symbols().name(symbol));
    out.push_back(std::move(text));
  }
  return out;
}

bool mentions(const Fact& fact, Dim symbol) {
  const auto in = [&](Dim dim) {
    const auto symbols = dim.symbols();
    return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
  };
  return (fact.dims && std::any_of(fact.dims->begin(), fact.dims->end(), in)) ||
         (fact.elements && std::any_of(fact.elements->begin(), fact.elements->end(), in));
}

// The first node with the symbol in a size or an entry of an output, in the graph or a body; null: none has it.
const Node* maker(const Typed& typed, const Graph& graph, const Facts& facts, Dim symbol) {
  for (const Node& node : graph.nodes) {
    const Node* inside = nullptr;
    for_each_body(node, [&](const Graph& body) {
      const auto known = typed.bodies().find(&body);
      if (!inside && known != typed.bodies().end()) inside = maker(typed, body, known->second, symbol);
    });
    if (inside) return inside;
    for (ValueId id : node.out)
      if (id != kNoValue && id < facts.size() && mentions(facts[id], symbol)) return &node;
  }
  return nullptr;
}

bool has_label(const Graph& graph, const std::string& label) {
  const auto inside = [&](const Node& node) {
    bool found = graph.label(node) == label;
    for_each_body(node, [&](const Graph& body) { found = found || has_label(body, label); });
    return found;
  };
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), inside);
}

// The nodes with a body that has all of these nodes, the outer ones first.
void find_around(const Graph& graph, const std::set<std::string>& labels,
                 std::vector<std::pair<std::string, std::string>>& out) {
  for (const Node& node : graph.nodes)
    if (node.has_graph_attribute()) {
      std::set<std::string> left = labels;
      for_each_body(node, [&](const Graph& body) {
        std::erase_if(left, [&](const std::string& label) { return has_label(body, label); });
      });
      if (!left.empty()) continue;
      out.emplace_back(graph.label(node), node.type);
      for_each_body(node, [&](const Graph& body) { find_around(body, labels, out); });
    }
}

// The node whose branch or loop a symbol decides that is in no value: the only one around all that is asked under it.
std::optional<std::pair<std::string, std::string>> decided_by(const Typed& typed, Dim symbol) {
  std::set<std::string> asking;
  for (const Requirement& r : typed.requirements())
    if (r.path.mentions(symbol)) asking.insert(r.node);
  std::vector<std::pair<std::string, std::string>> around;
  if (!asking.empty()) find_around(typed.graph(), asking, around);
  return around.size() == 1 ? std::optional(around.front()) : std::nullopt;
}

// What conditions speak of beside axes, each once.
std::vector<OtherSymbol> other_symbols(const Typed& typed, const std::vector<AcceptedCondition>& conditions) {
  std::vector<OtherSymbol> out;
  std::set<std::string> seen;
  for (const AcceptedCondition& one : conditions)
    for (Dim symbol : one.condition.symbols()) {
      const SymbolKind kind = typed.kind(symbol);
      std::string name(typed.symbols().name(symbol));
      if (kind == SymbolKind::axis || !seen.insert(name).second) continue;
      OtherSymbol& other = out.emplace_back();
      other.name = std::move(name);
      other.on_data = kind == SymbolKind::data;
      if (const Node* node = maker(typed, typed.graph(), typed.facts(), symbol)) {
        other.node = typed.graph().label(*node);
        other.op = node->type;
      } else if (const auto decided = decided_by(typed, symbol)) {
        std::tie(other.node, other.op) = *decided;
      }
    }
  return out;
}

Accepted to_accepted(const Typed& typed, const AcceptedSet& set) {
  Accepted out;
  const auto never = [](const AcceptedCondition& c) { return c.condition.is_never(); };
  out.never = typed.refusal().has_value() || std::any_of(set.conditions.begin(), set.conditions.end(), never);
  if (!typed.refusal()) out.conditions = to_conditions(typed, set.conditions);
  out.one_shape = std::all_of(typed.input_facts().begin(), typed.input_facts().end(),
                              [](const Fact& fact) { return fact.numeric_dims().has_value(); });
  out.exact = set.exact;
  out.not_exact_because = distinct(set.not_exact_because);
  if (typed.largest_axis()) out.largest_axis = typed.largest_axis();
  out.on_data = to_conditions(typed, set.on_data);
  out.others = other_symbols(typed, set.on_data);
  return out;
}

std::string declared_dim(const DeclaredDim& dim) {
  if (dim.value) return fmt::format("{}", *dim.value);
  return std::string(dim.name.empty() ? std::string_view("?") : std::string_view(dim.name));
}

// The error of a model that takes no shape at all.
std::optional<Error> never_error(const Typed& typed, const AcceptedSet& accepted) {
  if (typed.refusal()) return typed.refusal();
  for (const AcceptedCondition& one : accepted.conditions) {
    if (!one.condition.is_never()) continue;
    const Reason& reason = one.because.back();
    return Error{Error::Kind::refused, reason.code, fmt::format("node {:?}", reason.node), reason.sentence, {}};
  }
  return std::nullopt;
}

std::vector<RowsOf> to_rows(const Typed& typed, const AcceptedSet& accepted) {
  std::vector<RowsOf> out;
  const std::vector<RowsProof> proofs = prove_rows(typed, accepted);
  for (size_t i = 0; i < proofs.size(); ++i) {
    const AxisSymbol& axis = typed.axes()[i];
    RowsOf& one = out.emplace_back();
    one.symbol = axis.name;
    one.independent = proofs[i].independent;
    one.mixed_by = proofs[i].mixed_by;
    one.maybe_batch = maybe_batch(typed, axis);
    for (size_t k = 0; k < proofs[i].outputs.size(); ++k)
      if (const auto& layout = proofs[i].outputs[k])
        one.outputs.push_back(
            {typed.graph().values[typed.graph().outputs[k]].name, layout->axis, print(layout->inner)});
  }
  return out;
}

// The shortest way to write a size that the assumptions allow.
Dim simplest(const Assumptions& known, Dim dim) {
  if (dim.is_constant() || dim.is_symbol()) return dim;
  for (Dim symbol : dim.symbols())
    if (known.proves(Condition::eq(dim, symbol))) return symbol;
  const Dim simpler = known.simplify(dim);
  return print(simpler).size() < print(dim).size() ? simpler : dim;
}

ValueType::Kind kind_of(Fact::Kind kind) {
  using Kind = ValueType::Kind;
  switch (kind) {
    case Fact::Kind::tensor:
      return Kind::tensor;
    case Fact::Kind::sparse_tensor:
      return Kind::sparse_tensor;
    case Fact::Kind::sequence:
      return Kind::sequence;
    case Fact::Kind::optional:
      return Kind::optional;
    case Fact::Kind::map:
      return Kind::map;
    case Fact::Kind::unknown:
      break;
  }
  return Kind::unknown;
}

}  // namespace

ValueType value_type(std::string_view value_name, const Fact& fact) {
  ValueType out;
  out.name = std::string(value_name);
  out.type = print(fact.type_only());
  out.kind = kind_of(fact.kind);
  if (!fact.is_tensor()) return out;
  if (fact.dtype != DType::undefined) out.dtype = std::string(name(fact.dtype));
  if (!fact.dims) return out;
  out.dims.emplace();
  for (Dim dim : *fact.dims) out.dims->push_back(print(dim));
  return out;
}

ValueType declared_type(const Value& value) {
  ValueType out;
  out.name = value.name;
  Fact fact;
  out.type = print(fact);
  if (!value.declared) return out;
  fact.kind = value.declared->kind;
  out.kind = kind_of(fact.kind);
  fact.dtype = value.declared->dtype;
  if (value.declared->item) {
    Value item;
    item.declared = *value.declared->item;
    out.type = fmt::format("{}({})", fact.kind == Fact::Kind::sequence ? "seq" : "optional", declared_type(item).type);
    return out;
  }
  if (!fact.is_tensor() || !value.declared->dims) {
    out.type = print(fact);
    return out;
  }
  out.dtype = std::string(name(fact.dtype));
  out.dims.emplace();
  for (const DeclaredDim& dim : *value.declared->dims) out.dims->push_back(declared_dim(dim));
  out.type = fmt::format("{}[{}]", out.dtype, fmt::join(*out.dims, ", "));
  return out;
}

std::vector<ValueType> input_types(const Typed& typed) {
  std::vector<ValueType> out;
  const auto required = typed.graph().required_inputs();
  for (size_t i = 0; i < required.size(); ++i)
    out.push_back(value_type(typed.graph().values[required[i]].name, typed.input_facts()[i]));
  return out;
}

Facts output_facts(const Typed& typed, const AcceptedSet& accepted) {
  const Effort effort(budget::with_nodes(budget::kReport, typed.graph().nodes.size()));
  const auto known = typed.ground();
  for (const AcceptedCondition& c : accepted.conditions) known->assume(c.condition);
  Facts out;
  for (ValueId id : typed.graph().outputs) {
    Fact& fact = out.emplace_back(typed.facts()[id]);
    if (!fact.dims || typed.refusal()) continue;
    for (Dim& dim : *fact.dims) dim = simplest(*known, dim);
  }
  return out;
}

std::vector<ValueType> output_types(const Typed& typed, const AcceptedSet& accepted) {
  std::vector<ValueType> out;
  for (const Fact& fact : output_facts(typed, accepted))
    out.push_back(value_type(typed.graph().values[typed.graph().outputs[out.size()]].name, fact));
  return out;
}

Answer to_answer(const Graph& graph, Walked walked) {
  Answer answer = std::move(walked.answer);
  answer.data_conditions = distinct(answer.data_conditions);
  answer.leniencies = distinct(answer.leniencies);
  for (size_t i = 0; i < walked.outputs.size() && i < graph.outputs.size(); ++i)
    answer.outputs.push_back(value_type(graph.values[graph.outputs[i]].name, walked.outputs[i]));
  return answer;
}

Report make_report(const Typed& typed, const AcceptedSet& accepted, const Assumed& assumed,
                   const LintOptions& options) {
  Report report;
  report.nodes = static_cast<int64_t>(typed.graph().nodes.size());
  report.inputs = input_types(typed);
  report.outputs = output_types(typed, accepted);
  report.accepted = to_accepted(typed, accepted);
  report.data_conditions = distinct(typed.data_conditions());
  for (const Assumed::Entry& entry : assumed.entries) report.assumed.push_back(entry.text);
  report.rows = to_rows(typed, accepted);
  report.error = never_error(typed, accepted);
  if (options.wanted) report.findings = lint(typed, accepted, assumed, options);
  return report;
}

}  // namespace anyshape
