#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "anyshape/report.h"
#include "base/error.h"
#include "check/assumed.h"
#include "solve/accepted.h"
#include "solve/solve.h"

namespace anyshape {

// Findings to leave out.
struct Ignored {
  std::string rule;
  std::optional<std::string> node;  // of this one only
};

struct LintOptions {
  bool wanted = true;  // false: no rule is asked
  bool batch_only = false;
  std::vector<InputAxis> allow;  // axes that may be dynamic under batch_only
  std::vector<Ignored> ignore;
  // Words of a shell: the file, and where a command is to write another.
  std::string model = "MODEL.onnx", fixed = "FIXED.onnx";
  std::string check_again;  // the command that looks for dynamic axes; where it is empty: the one that is running
  // Does `anyshape fix --dynamic` make the axis dynamic under this name?
  std::function<bool(const InputAxis&, const std::string&)> frees = [](const InputAxis&, const std::string&) {
    return false;
  };
  std::vector<Finding> of_target;  // by the rules target.*, which look at more than a LintContext has
};

// The command line that makes another file of the model: "anyshape infer model.onnx -o model.fixed.onnx". Without a
// model that is the command that is running, with the arguments.
std::string command(const LintOptions& options, std::string_view verb, std::string_view arguments = {});

// What a lint rule may look at.
struct LintContext {
  const Typed& typed;
  const AcceptedSet& accepted;
  const Assumed& assumed;
  const LintOptions& options;
  // The model at accepted shapes without empty axes.
  const Assumptions& world;
  // The node that makes the conditions on a symbol as narrow as they are.
  std::unordered_map<Dim, const Reason*> demands;

  std::string command(std::string_view verb, std::string_view arguments = {}) const {
    return anyshape::command(options, verb, arguments);
  }

  // Null when none does.
  const Reason* demand(Dim symbol) const;
};

// Collects the findings of one rule.
class Findings {
 public:
  Findings(std::string_view rule, Severity severity, std::vector<Finding>& out)
      : rule_(rule), severity_(severity), out_(out) {}
  std::string_view rule() const { return rule_; }
  void add(std::string node, std::string message, std::string fix) {
    out_.push_back({std::string(rule_), severity_, std::move(node), std::move(message), std::move(fix)});
  }

 private:
  std::string_view rule_;
  Severity severity_;
  std::vector<Finding>& out_;
};

struct LintRule {
  RuleInfo info;
  void (*run)(const LintContext&, Findings&);
};

// Sorted by id.
const std::vector<LintRule>& lint_rules();
// Null: there is none.
const LintRule* find_rule(std::string_view id);
inline constexpr std::string_view kBatchOnlyRule = "policy.batch-only";

// All findings, the graver first, then by rule.
std::vector<Finding> lint(const Typed& typed, const AcceptedSet& accepted, const Assumed& assumed,
                          const LintOptions& options);

// Called the batch, or the size of an axis 0.
bool maybe_batch(const Typed& typed, const AxisSymbol& axis);
// The symbols that are the batch: those called so. Where none is: those of an axis 0 along which rows are proved to be
// independent, else any such, else those of every axis 0; none where no axis 0 is dynamic.
std::vector<AxisSymbol> batch_symbols(const Typed& typed, const AcceptedSet& accepted);

// Those of these rules, in their order.
std::vector<Finding> lint_by(std::span<const LintRule> rules, const Typed& typed, const AcceptedSet& accepted,
                             const Assumed& assumed, const LintOptions& options);

// "NAME:AXIS" split from the right; the axis may be negative. Usage error check.allow.
Result<InputAxis> parse_allow(const Typed& typed, std::string_view text);
// "RULE" or "RULE@NODE". Usage error check.rule when it names no rule.
Result<Ignored> parse_ignore(std::string_view text);

// True when the two sizes differ at some accepted shape; false also when nothing can be said.
bool may_differ(const LintContext& context, Dim a, Dim b);
// `axis 1 of "x" (seq)`.
std::string describe(const AxisSymbol& axis);

}  // namespace anyshape
