#include "check/report.h"

#include <algorithm>
#include <set>

#include "base/effort.h"
#include "solve/budget.h"

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

// The shortest way to write a size that the assumptions allow.
Dim simplest(const Assumptions& known, Dim dim) {
  if (dim.is_constant() || dim.is_symbol()) return dim;
  for (Dim symbol : dim.symbols())
    if (known.proves(Condition::eq(dim, symbol))) return symbol;
  const Dim simpler = known.simplify(dim);
  return print(simpler).size() < print(dim).size() ? simpler : dim;
}

}  // namespace

ValueType value_type(std::string_view value_name, const Fact& fact) {
  ValueType out;
  out.name = std::string(value_name);
  out.type = print(fact.type_only());
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
  report.error = never_error(typed, accepted);
  if (options.wanted) report.findings = lint(typed, accepted, assumed, options);
  return report;
}

}  // namespace anyshape
