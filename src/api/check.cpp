#include "anyshape/check.h"

#include <algorithm>

#include "api/model_impl.h"
#include "base/nearest.h"
#include "base/os/file.h"
#include "base/printable.h"
#include "base/running_command.h"
#include "check/ask.h"
#include "check/baseline.h"
#include "check/report.h"
#include "check/shapes_text.h"
#include "fix/fixer.h"
#include "picture/page.h"
#include "solve/contract.h"
#include "solve/explain.h"
#include "target/bring.h"
#include "target/findings.h"

namespace anyshape {
namespace {

namespace fs = std::filesystem;

// The command that brings the model to its target, where that does it.
std::string bringing(const target::Profile& profile, const CheckedModel& model, const CheckOptions& options,
                     const LintOptions& files) {
  if (!check_batch_only(model, options.allow, "fix.policy") || !target::bring(profile, model))
    return "bring it to the target once the other findings are gone";
  return command(files, "fix", fmt::format("--target {}", options.target));
}

Result<LintOptions> lint_options(const CheckedModel& model, const CheckOptions& options) {
  LintOptions out;
  out.wanted = options.findings;
  out.batch_only = options.batch_only || !options.target.empty();
  if (!model.file.path.empty()) {
    out.model = shell_word(model.file.path.string());
    out.fixed = shell_word(fs::path(model.file.path).replace_extension(".fixed.onnx").string());
  }
  out.frees = [&model](const InputAxis& axis, const std::string& name) {
    return fixes::Fixer(model).make_dynamic({{axis.input, static_cast<int64_t>(axis.axis), name}}).has_value();
  };
  if (!options.target.empty()) {
    TRY(const target::Profile* profile, target::find_profile(options.target));
    if (!model.typed().refusal())
      out.of_target = target::findings(*profile, model.typed(), model.file, bringing(*profile, model, options, out));
  }
  out.check_again = fmt::format("anyshape check {} {}", out.model,
                                options.target.empty() ? "--policy batch-only" : "--target " + options.target);
  for (const std::string& text : options.allow) {
    TRY(InputAxis axis, parse_allow(model.typed(), text));
    out.allow.push_back(std::move(axis));
    out.check_again += " --allow " + shell_word(text);
  }
  for (const std::string& text : options.ignore) {
    TRY(Ignored one, parse_ignore(text));
    out.ignore.push_back(std::move(one));
  }
  return out;
}

Recorded recorded(const CheckOptions& options) { return options.ignore_assumed ? Recorded::ignored : Recorded::binds; }

// Our own faults name the model; what is wrong with the question does not.
Result<Proof> about(const Model& model, Result<Proof> proof) {
  if (!proof && proof.error().kind == Error::Kind::system) return at(model.name(), std::move(proof).error());
  if (proof) TRY_OK(model.impl().going_on());
  return proof;
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

std::string to_html(const Model& model, const Report& report) {
  return picture::check_page(report, &model.impl().typed());
}

Answer accepts(const Model& model, const Shapes& shapes, const CheckOptions& options) {
  return ask(model.impl(), shapes, recorded(options));
}

Result<Proof> accepts_all(const Model& model, const std::vector<std::string>& wanted, const CheckOptions& options) {
  return about(model, ask_all(model.impl(), wanted, recorded(options)));
}

Shapes smallest_shapes(const Model& model, const Shapes& given) { return smallest_shapes(model.impl(), given); }

Result<Proof> against(const Model& model, const Model& old) {
  return about(model,
               prove_covers(model.impl().typed(), model.impl().accepted(), old.impl().typed(), old.impl().accepted()));
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
    if (!near.empty()) error.hint = corrected_command({"shape", input, near}, to_text(Shapes{{near, sizes}}));
    return tl::unexpected(std::move(error));
  }
  return {};
}

Result<std::vector<KnownFinding>> read_baseline(const std::filesystem::path& path) {
  TRY(const auto file, MappedFile::open(path));
  const auto bytes = file->bytes();
  return parse_baseline(path.string(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void leave_out_known(Report& report, const std::vector<KnownFinding>& known) {
  const fs::path name = fs::path(report.model).filename();
  const auto is_known = [&](const Finding& finding) {
    return std::any_of(known.begin(), known.end(), [&](const KnownFinding& one) {
      return one.rule == finding.rule && one.node == finding.node && one.message == finding.message &&
             fs::path(one.model).filename() == name;
    });
  };
  report.known_findings += static_cast<int64_t>(std::erase_if(report.findings, is_known));
}

std::vector<RuleInfo> rules() {
  std::vector<RuleInfo> out;
  for (const LintRule& rule : lint_rules()) out.push_back(rule.info);
  return out;
}

Result<std::vector<AxisStory>> explain(const Model& model, std::string_view value) {
  const Typed& typed = model.impl().typed();
  TRY_OK(model.impl().going_on());
  return explain_axes(typed, value);
}

}  // namespace anyshape
