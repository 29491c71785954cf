#include "check/lint.h"

#include <algorithm>

#include "base/effort.h"
#include "base/nearest.h"
#include "base/running_command.h"
#include "check/rules.h"
#include "solve/budget.h"
#include "solve/explain.h"

namespace anyshape {
namespace {

constexpr int kSamples = 400;

std::unordered_map<Dim, const Reason*> demands_of(const AcceptedSet& accepted) {
  std::unordered_map<Dim, const Reason*> out;
  for (const AcceptedCondition& c : accepted.conditions)
    for (Dim symbol : c.condition.symbols())
      if (!c.because.empty()) out.emplace(symbol, &c.because.back());
  return out;
}

bool is_ignored(const Finding& finding, const std::vector<Ignored>& ignore) {
  return std::any_of(ignore.begin(), ignore.end(), [&](const Ignored& one) {
    return one.rule == finding.rule && (!one.node || *one.node == finding.node);
  });
}

bool only_axis_symbols(const Typed& typed, Dim dim) {
  const auto symbols = dim.symbols();
  return !dim.is_unknown() &&
         std::all_of(symbols.begin(), symbols.end(), [&](Dim s) { return typed.kind(s) == SymbolKind::axis; });
}

// Sizes worth trying, drawn by a fixed sequence.
class Draw {
 public:
  int64_t next() {
    static constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 32, 33, 64, 120, 128, 224, 256};
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return kSizes[(state_ >> 33) % std::size(kSizes)];
  }

 private:
  uint64_t state_ = 1;
};

}  // namespace

std::vector<Finding> lint_by(std::span<const LintRule> rules, const Typed& typed, const AcceptedSet& accepted,
                             const Assumed& assumed, const LintOptions& options) {
  std::vector<Finding> findings;
  if (typed.refusal()) return findings;
  const Effort effort(budget::with_nodes(budget::kReport, typed.graph().nodes.size()));
  const auto world = accepted_world(typed, accepted);
  const LintContext context{typed, accepted, assumed, options, *world, demands_of(accepted)};
  for (const LintRule& rule : rules) {
    Findings out(rule.info.id, rule.info.severity, findings);
    rule.run(context, out);
  }
  return findings;
}

std::vector<Finding> lint(const Typed& typed, const AcceptedSet& accepted, const Assumed& assumed,
                          const LintOptions& options) {
  std::vector<Finding> findings = lint_by(lint_rules(), typed, accepted, assumed, options);
  if (!typed.refusal()) findings.insert(findings.end(), options.of_target.begin(), options.of_target.end());
  std::erase_if(findings, [&](const Finding& f) { return is_ignored(f, options.ignore); });
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return findings;
}

const LintRule* find_rule(std::string_view id) {
  const auto& rules = lint_rules();
  const auto it = std::find_if(rules.begin(), rules.end(), [&](const LintRule& rule) { return rule.info.id == id; });
  return it == rules.end() ? nullptr : &*it;
}

std::string command(const LintOptions& options, std::string_view verb, std::string_view arguments) {
  if (options.model.empty()) return running_command_with(arguments);
  return fmt::format("anyshape {} {} -o {}{}{}", verb, options.model, options.fixed, arguments.empty() ? "" : " ",
                     arguments);
}

Result<InputAxis> parse_allow(const Typed& typed, std::string_view text) {
  const auto [input, given] = split_axis(text);
  if (!given) return usage("check.allow", "{:?} is not NAME:AXIS", text);
  const int64_t axis = *given;
  std::vector<std::string> names;
  const auto required = typed.graph().required_inputs();
  for (size_t i = 0; i < required.size(); ++i) {
    const std::string& known = typed.graph().values[required[i]].name;
    names.push_back(known);
    if (known != input) continue;
    const auto& dims = typed.input_facts()[i].dims;
    const int64_t rank = dims ? static_cast<int64_t>(dims->size()) : 0;
    if (axis < -rank || axis >= rank) return usage("check.allow", "{:?} has {} axes, not axis {}", input, rank, axis);
    return InputAxis{known, static_cast<size_t>(axis < 0 ? axis + rank : axis)};
  }
  Error error = usage("check.allow", "the model has no input {:?}", input).value();
  if (std::string near = nearest(input, names); !near.empty()) {
    const std::string wanted = fmt::format("{}:{}", near, axis);
    error.hint = corrected_command({"allow", text, wanted}, "--allow " + wanted);
  }
  return tl::unexpected(std::move(error));
}

Result<Ignored> parse_ignore(std::string_view text) {
  const size_t end = text.find('@');
  const std::string_view id = text.substr(0, end);
  if (find_rule(id))
    return Ignored{std::string(id),
                   end == std::string_view::npos ? std::nullopt : std::optional(std::string(text.substr(end + 1)))};
  std::vector<std::string> names;
  for (const LintRule& rule : lint_rules()) names.emplace_back(rule.info.id);
  Error error = usage("check.rule", "there is no rule {:?}", id).value();
  const std::string near = nearest(id, names);
  error.hint = near.empty() ? "anyshape rules" : corrected_command({"ignore", id, near}, "--ignore " + near);
  return tl::unexpected(std::move(error));
}

bool may_differ(const LintContext& context, Dim a, Dim b) {
  if (a == b || !only_axis_symbols(context.typed, a) || !only_axis_symbols(context.typed, b)) return false;
  const Tri equal = context.world.prove(Condition::eq(a, b));
  if (equal != Tri::unknown) return equal == Tri::no;
  std::unordered_map<Dim, int64_t> pinned;
  for (const AxisSymbol& axis : context.typed.axes())
    if (const auto size = context.world.simplify(axis.symbol).constant()) pinned[axis.symbol] = *size;
  Draw draw;
  for (int sample = 0; sample < kSamples && !Effort::tired(); ++sample) {
    Effort::step(static_cast<int64_t>(context.typed.axes().size()));
    auto sizes = pinned;
    for (const AxisSymbol& axis : context.typed.axes()) sizes.try_emplace(axis.symbol, draw.next());
    const Binding binding = [&](Dim symbol) -> std::optional<int64_t> {
      const auto it = sizes.find(symbol);
      return it == sizes.end() ? std::nullopt : std::optional(it->second);
    };
    const auto holds = [&](const AcceptedCondition& c) { return evaluate(c.condition, binding) == Tri::yes; };
    if (!std::all_of(context.accepted.conditions.begin(), context.accepted.conditions.end(), holds)) continue;
    const auto left = evaluate(a, binding), right = evaluate(b, binding);
    if (left && right && *left != *right) return true;
  }
  return false;
}

const Reason* LintContext::demand(Dim symbol) const {
  const auto found = demands.find(symbol);
  return found == demands.end() ? nullptr : found->second;
}

std::string describe(const AxisSymbol& axis) {
  const InputAxis& first = axis.axes.front();
  return fmt::format("axis {} of {:?} ({})", first.axis, first.input, axis.name);
}

}  // namespace anyshape
