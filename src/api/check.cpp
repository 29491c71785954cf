#include "anyshape/check.h"

#include <algorithm>

#include "api/model_impl.h"
#include "api/target.h"
#include "base/effort.h"
#include "base/nearest.h"
#include "base/os/file.h"
#include "base/printable.h"
#include "base/work.h"
#include "check/report.h"
#include "check/shapes_text.h"
#include "ir/defaults.h"
#include "solve/budget.h"
#include "solve/contract.h"
#include "solve/explain.h"

namespace anyshape {
namespace {

Result<LintOptions> lint_options(const Model::Impl& model, const CheckOptions& options) {
  const Typed& typed = model.typed();
  LintOptions out;
  out.wanted = options.findings;
  out.batch_only = options.batch_only || !options.target.empty();
  if (!options.target.empty()) {
    TRY(out.of_target, target_findings(model, options.target));
  }
  for (const std::string& text : options.allow) {
    TRY(InputAxis axis, parse_allow(typed, text));
    out.allow.push_back(std::move(axis));
  }
  for (const std::string& text : options.ignore) TRY_OK(check_ignore(text));
  out.ignore = options.ignore;
  return out;
}

// The accepted set with the recorded conditions in it.
AcceptedSet with_assumed(const Model::Impl& model, const CheckOptions& options) {
  AcceptedSet set = model.accepted();
  if (options.ignore_assumed) return set;
  for (const Assumed::Entry& entry : model.assumed().entries)
    if (entry.text.binding)
      set.conditions.push_back(
          {entry.condition, {{"", "", "assumed.condition", "the exporter recorded this condition"}}});
  return set;
}

// The refusal of a shape at which a recorded condition does not hold.
std::optional<Verdict> assumed_refusal(const Model::Impl& model, const Shapes& shapes) {
  const Assumed::Entry* entry = violated(model.typed(), model.assumed(), shapes);
  if (!entry) return std::nullopt;
  Verdict verdict;
  verdict.kind = Verdict::Kind::refuse;
  verdict.code = "assumed.condition";
  verdict.place = entry->text.origin;
  verdict.sentence = assumed_sentence(entry->text);
  return verdict;
}

Answer ask(const Model::Impl& impl, const Shapes& shapes, const CheckOptions& options) {
  const Effort effort(budget::with_nodes(budget::kVerdict, impl.graph->nodes.size()));
  Answer answer = to_answer(*impl.graph, verdict(*impl.graph, shapes));
  const bool has_assumed = std::any_of(impl.file.proto.metadata_props.begin(), impl.file.proto.metadata_props.end(),
                                       [](const auto& entry) { return entry.key == kAssumedKey; });
  if (answer.kind != Answer::Kind::accept || options.ignore_assumed || !has_assumed) return answer;
  const auto refused = assumed_refusal(impl, shapes);
  return refused ? to_answer(*impl.graph, *refused) : answer;
}

Result<Proof> to_proof(const Model& model, const SetAnswer& answer) {
  if (answer.kind == SetAnswer::Kind::contradicted)
    return at(model.name(),
              system_error("check.contradiction",
                           "every shape asked for was proved to be accepted, but {} is refused by {}: {}. "
                           "This is a bug of anyshape; please report it with the file",
                           to_text(answer.shapes), answer.verdict.place, answer.verdict.sentence)
                  .value());
  Proof proof;
  proof.kind = answer.kind == SetAnswer::Kind::proved    ? Proof::Kind::proved
               : answer.kind == SetAnswer::Kind::refuted ? Proof::Kind::refuted
                                                         : Proof::Kind::unproved;
  proof.shapes = answer.shapes;
  proof.why = answer.why;
  if (proof.kind == Proof::Kind::refuted) proof.answer = to_answer(*model.impl().graph, answer.verdict);
  return proof;
}

AxisStory to_story(const Explanation& explanation) {
  AxisStory story;
  story.conclusion = explanation.conclusion;
  for (const ExplainStep& s : explanation.steps)
    story.steps.push_back({s.value, s.axis, s.entry, s.size, s.node, s.op, s.reason});
  return story;
}

// The optional inputs among these names.
std::vector<std::string> optional_among(const Graph& graph, const Shapes& shapes) {
  std::vector<std::string> out;
  for (ValueId id : anyshape::optional_inputs(graph))
    if (shapes.contains(graph.values[id].name)) out.push_back(graph.values[id].name);
  return out;
}

// Those that a `NAME=[...]` is about.
std::vector<std::string> optional_among(const Graph& graph, const std::vector<std::string>& wanted) {
  std::vector<std::string> out;
  for (ValueId id : anyshape::optional_inputs(graph)) {
    const std::string& input = graph.values[id].name;
    const auto names = [&](const std::string& text) {
      const size_t equal = text.rfind('=', text.find('['));
      return equal == input.size() && text.starts_with(input) && text.find('[') != std::string::npos;
    };
    if (std::any_of(wanted.begin(), wanted.end(), names)) out.push_back(input);
  }
  return out;
}

std::vector<std::string> input_names(const Graph& graph) {
  std::vector<std::string> names;
  for (ValueId id : graph.inputs) names.push_back(graph.values[id].name);
  return names;
}

}  // namespace

Result<Report> check(const Model& model, const CheckOptions& options) {
  const Model::Impl& impl = model.impl();
  TRY(const LintOptions lint, lint_options(impl, options));
  Report report = make_report(impl.typed(), impl.accepted(), impl.assumed(), lint);
  report.model = impl.name;
  report.opset = impl.opset();
  // Earlier versions list every weight as an input.
  constexpr int64_t kDefaultsSince = 4;
  if (impl.file.proto.ir_version.value_or(0) >= kDefaultsSince) report.optional_inputs = model.optional_inputs();
  if (report.error) report.error->place = at(impl.name, *report.error).value().place;
  TRY_OK(impl.going_on());
  return report;
}

Answer accepts(const Model& model, const Shapes& shapes, const CheckOptions& options) {
  const Model::Impl& impl = model.impl();
  if (const auto fed = optional_among(*impl.graph, shapes); !fed.empty())
    return accepts(*model.overriding(fed), shapes, options);
  const Answer answer = ask(impl, shapes, options);
  const Status going = Work::check();
  return going ? answer : Answer{Answer::Kind::unknown, going.error().code, {}, going.error().message, {}, {}};
}

Result<Proof> require(const Model& model, const std::vector<std::string>& wanted, const CheckOptions& options) {
  const Model::Impl& impl = model.impl();
  if (const auto fed = optional_among(*impl.graph, wanted); !fed.empty())
    return require(*model.overriding(fed), wanted, options);
  AlsoRefused also;
  if (!options.ignore_assumed) also = [&](const Shapes& shapes) { return assumed_refusal(impl, shapes); };
  TRY(const SetAnswer answer, prove_accepts(impl.typed(), with_assumed(impl, options), wanted, also));
  TRY_OK(impl.going_on());
  return to_proof(model, answer);
}

Shapes smallest_shapes(const Model& model, const Shapes& given) {
  const Model::Impl& impl = model.impl();
  return smallest_accepted(impl.typed(), with_assumed(impl, {}), given);
}

Result<Proof> against(const Model& model, const Model& old) {
  TRY(const SetAnswer answer,
      prove_covers(model.impl().typed(), model.impl().accepted(), old.impl().typed(), old.impl().accepted()));
  TRY_OK(model.impl().going_on());
  return to_proof(model, answer);
}

Result<std::pair<std::string, std::vector<int64_t>>> parse_shape(std::string_view text) {
  return parse_shape_text(text);
}

Result<std::vector<Shapes>> read_shapes_file(const std::filesystem::path& path) {
  TRY(const auto file, MappedFile::open(path));
  const auto bytes = file->bytes();
  return parse_shape_lines(path.string(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string nearest_input(const Model& model, std::string_view name) {
  return nearest(name, input_names(*model.impl().graph));
}

Status check_input_names(const Model& model, const Shapes& shapes) {
  const std::vector<std::string> names = input_names(*model.impl().graph);
  for (const auto& [input, sizes] : shapes) {
    if (std::find(names.begin(), names.end(), input) != names.end()) continue;
    Error error = usage("input.unknown", "the model has no input {:?}", input).value();
    error.place = model.name();
    const std::string near = nearest(input, names);
    if (!near.empty()) error.hint = to_text(Shapes{{near, sizes}});
    return tl::unexpected(std::move(error));
  }
  return {};
}

std::vector<RuleInfo> rules() {
  std::vector<RuleInfo> out;
  for (const LintRule& rule : lint_rules()) out.push_back(rule.info);
  return out;
}

Result<std::vector<AxisStory>> explain(const Model& model, std::string_view value) {
  const Typed& typed = model.impl().typed();
  TRY_OK(model.impl().going_on());
  std::vector<AxisStory> out;
  const auto rank = rank_of(typed, value);
  if (rank) {
    for (size_t axis = 0; axis < *rank; ++axis) {
      TRY(const Explanation one, explain(typed, value, static_cast<int64_t>(axis)));
      out.push_back(to_story(one));
    }
    return out;
  }
  const auto [name, axis] = split_axis(value);
  if (!axis) return tl::unexpected(rank.error());
  TRY(const Explanation one, explain(typed, name, *axis));
  out.push_back(to_story(one));
  return out;
}

std::string to_text(const AxisStory& story) {
  std::string out;
  for (const AxisStep& step : story.steps) {
    const std::string maker = step.node.empty() ? "" : fmt::format("  node {:?} ({})", step.node, step.op);
    out += line("{} {} {} = {}{}: {}", printable_name(step.value), step.entry ? "entry" : "axis", step.axis, step.size,
                maker, step.reason);
  }
  return out + line("{}", story.conclusion);
}

}  // namespace anyshape
