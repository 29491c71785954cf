#include "check/ask.h"

#include <algorithm>

#include "base/among.h"
#include "base/effort.h"
#include "base/work.h"
#include "check/lint.h"
#include "check/report.h"
#include "ir/defaults.h"
#include "solve/budget.h"
#include "solve/contract.h"

namespace anyshape {
namespace {

// The inputs with a default that `asks` says are asked about.
template <class Asks>
std::vector<std::string> optional_asked(const Graph& graph, Asks asks) {
  std::vector<std::string> out;
  for (ValueId id : optional_inputs(graph))
    if (asks(graph.values[id].name)) out.push_back(graph.values[id].name);
  return out;
}

// The accepted set with the recorded conditions in it.
AcceptedSet with_recorded(const CheckedModel& model) {
  AcceptedSet set = model.accepted();
  for (const Assumed::Entry& entry : model.assumed().entries)
    if (entry.text.binding)
      set.conditions.push_back(
          {entry.condition, {{"", "", std::string(kAssumedCode), "the exporter recorded this condition"}}});
  return set;
}

// The refusal of a shape at which a recorded condition does not hold.
std::optional<Answer> recorded_refusal(const CheckedModel& model, const Shapes& shapes) {
  const Assumed& assumed = model.assumed();
  const Assumed::Entry* entry = assumed.entries.empty() ? nullptr : violated(model.typed(), assumed, shapes);
  if (!entry) return std::nullopt;
  return Answer{
      Answer::Kind::refuse, std::string(kAssumedCode), entry->text.origin, assumed_sentence(entry->text), {}, {}};
}

// What refuses the model at every shape. The walk with numbers looks at no branch that is not taken.
std::optional<Answer> refusal_of_all(const CheckedModel& model) {
  const auto& nodes = model.graph->nodes;
  const auto has_bodies = [](const Node& node) { return node.body || node.has_graph_attribute(); };
  if (std::none_of(nodes.begin(), nodes.end(), has_bodies) || !model.typed().refusal()) return std::nullopt;
  const Error& error = *model.typed().refusal();
  return Answer{Answer::Kind::refuse, error.code, error.place, error.message, {}, {}};
}

}  // namespace

Answer ask(const CheckedModel& model, const Shapes& shapes, Recorded recorded) {
  const auto fed = optional_asked(*model.graph, [&](const std::string& name) { return shapes.contains(name); });
  if (!fed.empty()) return ask(*model.overriding(fed), shapes, recorded);
  const Effort effort(budget::with_nodes(budget::kVerdict, model.graph->nodes.size()));
  Answer answer = to_answer(*model.graph, walk_shape(*model.graph, shapes));
  if (answer.kind == Answer::Kind::accept)
    if (auto refused = refusal_of_all(model)) answer = *std::move(refused);
  if (answer.kind == Answer::Kind::accept && recorded == Recorded::binds)
    if (auto refused = recorded_refusal(model, shapes)) answer = *std::move(refused);
  const Status going = Work::check();
  return going ? answer : Answer{Answer::Kind::unknown, going.error().code, {}, going.error().message, {}, {}};
}

Result<Proof> ask_all(const CheckedModel& model, const std::vector<std::string>& wanted, Recorded recorded) {
  std::vector<std::string_view> inputs;
  for (const std::string& text : wanted) inputs.push_back(wanted_input(text));
  const auto fed = optional_asked(*model.graph, [&](const std::string& name) { return among(name, inputs); });
  if (!fed.empty()) return ask_all(*model.overriding(fed), wanted, recorded);
  if (recorded == Recorded::ignored) return prove_accepts(model.typed(), model.accepted(), wanted);
  return prove_accepts(model.typed(), with_recorded(model), wanted,
                       [&](const Shapes& shapes) { return recorded_refusal(model, shapes); });
}

Shapes smallest_shapes(const CheckedModel& model, const Shapes& given) {
  return smallest_accepted(model.typed(), with_recorded(model), given);
}

Status check_batch_only(const CheckedModel& model, const std::vector<std::string>& allow, std::string_view code) {
  LintOptions policy;
  policy.batch_only = true;
  policy.model.clear();
  for (const std::string& text : allow) {
    TRY(InputAxis axis, parse_allow(model.typed(), text));
    policy.allow.push_back(std::move(axis));
  }
  const auto findings =
      lint_by({find_rule(kBatchOnlyRule), 1}, model.typed(), model.accepted(), model.assumed(), policy);
  TRY_OK(Work::check());
  if (findings.empty()) return {};
  return tl::unexpected(
      Error{Error::Kind::refused, std::string(code), {}, findings.front().message, findings.front().fix});
}

}  // namespace anyshape
