#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "anyshape/model.h"
#include "anyshape/terminal.h"
#include "anyshape/verify.h"
#include "anyshape/work.h"
#include "cli.h"
#include "config.h"

namespace anyshape::cli {
namespace {

// What is asked of every model, read before any of them.
struct Questions {
  std::optional<Config> config;
  std::map<std::string, std::vector<KnownFinding>> baselines;  // by file
  std::optional<Shapes> point;                                 // --shape
  std::vector<Shapes> lines;                                   // --shapes-file
  bool has_lines = false;
  std::optional<Model> older;  // --against

  bool only_shapes(const CheckArguments& a) const {
    return (point || has_lines) && a.require.empty() && !older && a.format == "text";
  }

  // The arguments for one model, with what the settings say of it. The command line is over them.
  CheckArguments of(CheckArguments a, const std::string& model) const;
  Status read_baselines(const CheckArguments& arguments);
};

CheckArguments Questions::of(CheckArguments a, const std::string& model) const {
  const CheckRules rules = config ? config->of(model) : CheckRules();
  const auto append = [](std::vector<std::string>& to, const std::vector<std::string>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(a.require, rules.require);
  append(a.options.ignore, rules.ignore);
  append(a.options.allow, rules.allow);
  if (a.policy.empty()) a.policy = rules.policy.value_or("any");
  if (a.fail_on.empty()) a.fail_on = rules.fail_on.value_or("error");
  if (a.options.target.empty()) a.options.target = rules.target.value_or("");
  if (a.baseline.empty()) a.baseline = rules.baseline.value_or("");
  a.options.batch_only = a.policy == "batch-only";
  return a;
}

Status Questions::read_baselines(const CheckArguments& arguments) {
  for (const std::string& model : arguments.models) {
    const std::string file = of(arguments, model).baseline;
    if (file.empty() || baselines.contains(file)) continue;
    auto known = read_baseline(file);
    if (!known) return fail(known.error());
    baselines[file] = *std::move(known);
  }
  return {};
}

Status read_settings(CheckArguments& arguments, Questions& questions) {
  const auto found = !arguments.config.empty() ? std::optional<std::filesystem::path>(arguments.config)
                     : arguments.no_config     ? std::nullopt
                                               : find_config();
  if (found) {
    auto config = read_config(*found);
    if (!config) return fail(config.error());
    questions.config = *std::move(config);
  }
  if (arguments.models.empty() && questions.config) arguments.models = questions.config->models();
  if (arguments.models.empty())
    return fail(usage_error("usage.arguments",
                            found ? fmt::format("{} names no model", found->string()) : "MODEL is required",
                            "anyshape check --help"));
  return questions.read_baselines(arguments);
}

Result<Questions> read_questions(CheckArguments& arguments) {
  Questions questions;
  if (const auto read = read_settings(arguments, questions); !read) return fail(read.error());
  if (!arguments.shapes.empty()) {
    auto point = parse_shapes(arguments.shapes);
    if (!point) return tl::unexpected(point.error());
    questions.point = *std::move(point);
  }
  if (!arguments.shapes_file.empty()) {
    auto lines = read_shapes_file(arguments.shapes_file);
    if (!lines) return tl::unexpected(lines.error());
    questions.lines = *std::move(lines);
    questions.has_lines = true;
  }
  if (!arguments.against.empty()) {
    auto older = load_model(arguments.against);
    if (!older) return tl::unexpected(older.error());
    questions.older = *std::move(older);
  }
  return questions;
}

std::string line_of(const Answer& answer) {
  if (answer.kind == Answer::Kind::accept) return "accept\n";
  const std::string sentence =
      answer.place.empty() ? answer.sentence : fmt::format("{}: {}", answer.place, answer.sentence);
  return line("{} {} {}", answer.kind == Answer::Kind::refuse ? "refuse" : "unknown", answer.code, sentence);
}

std::string accept_text(const Answer& answer) {
  std::string out = "accept\n";
  for (const ValueType& output : answer.outputs) out += line("  out  {}  {}", printable_name(output.name), output.type);
  for (const Reason& r : answer.data_conditions) out += line("  if   node {:?} ({}): {}", r.node, r.op, r.sentence);
  for (const Reason& r : answer.leniencies)
    out += line("  warning[{}] node {:?} ({}): {}", r.code, r.node, r.op, r.sentence);
  return out;
}

Error refusal(const std::string& model, const Answer& answer) {
  const std::string place = answer.place.empty() ? model : fmt::format("{}: {}", model, answer.place);
  const bool unknown = answer.kind == Answer::Kind::unknown;
  return {unknown ? Error::Kind::unknown : Error::Kind::refused, answer.code, place,
          unknown ? fmt::format("no rule can tell: {}", answer.sentence) : answer.sentence, ""};
}

// One model through all questions.
class Checker {
 public:
  Checker(const CheckArguments& arguments, const Questions& questions)
      : all_arguments_(arguments), arguments_(arguments), questions_(questions) {}

  int run(const std::string& file);
  std::vector<Report> reports;
  std::string text, page;  // the second is of the last model

 private:
  int add_trtexec(const Model& model);
  int ask_shapes(const Model& model, Report& report);
  int ask_sets(const Model& model, Report& report);
  int judge_proof(const std::string& file, std::string_view question, const Proof& proof);
  int judge_findings(const Report& report) const;
  void say(const std::string& lines) { text += arguments_.models.size() > 1 ? printable(file_) + ": " + lines : lines; }

  const CheckArguments& all_arguments_;
  CheckArguments arguments_;  // for this model
  const Questions& questions_;
  std::string file_;
};

int Checker::ask_shapes(const Model& model, Report& report) {
  int code = kDone;
  if (questions_.point) {
    if (const auto known = check_input_names(model, *questions_.point); !known) return report_error(known.error());
    const Answer answer = accepts(model, *questions_.point, arguments_.options);
    if (const auto going = check_work(); !going) return report_error(going.error());
    if (answer.kind == Answer::Kind::accept)
      say(accept_text(answer));
    else
      code = report_error(refusal(file_, answer));
    report.answers.push_back({*questions_.point, answer});
  }
  for (const Shapes& shapes : questions_.lines) {
    const Answer answer = accepts(model, shapes, arguments_.options);
    if (const auto going = check_work(); !going) return report_error(going.error());
    say(line_of(answer));
    if (answer.kind != Answer::Kind::accept) code = kRefused;
    report.answers.push_back({shapes, answer});
  }
  return code;
}

int Checker::judge_proof(const std::string& file, std::string_view question, const Proof& proof) {
  if (proof.kind == Proof::Kind::proved) {
    text += line("{}: proved, every shape of it is accepted", question);
    return kDone;
  }
  if (proof.kind == Proof::Kind::unproved)
    return report_error({Error::Kind::refused, "check.unproved", file,
                         fmt::format("{} is not proved, and no counterexample was found: {}", question, proof.why),
                         ""});
  Error error = refusal(file, proof.answer);
  error.message = fmt::format("{} does not hold: {} is refused: {}", question, to_text(proof.shapes), error.message);
  return report_error(error);
}

int Checker::ask_sets(const Model& model, Report& report) {
  int code = kDone;
  if (!arguments_.require.empty()) {
    const auto proof = accepts_all(model, arguments_.require, arguments_.options);
    if (!proof) return report_error(proof.error());
    code = judge_proof(file_, "--require", *proof);
    report.require = *proof;
  }
  if (questions_.older) {
    const auto proof = against(model, *questions_.older);
    if (!proof) return report_error(proof.error());
    code = worse(code, judge_proof(file_, fmt::format("--against {}", arguments_.against), *proof));
    report.against = *proof;
  }
  return code;
}

int Checker::judge_findings(const Report& report) const {
  if (report.error) return report_error(*report.error);
  if (arguments_.fail_on == "never") return kDone;
  const Severity least = arguments_.fail_on == "error" ? Severity::error : Severity::warning;
  std::vector<std::string> rules;
  for (const Finding& finding : report.findings)
    if (finding.severity >= least && std::find(rules.begin(), rules.end(), finding.rule) == rules.end())
      rules.push_back(finding.rule);
  if (rules.empty()) return kDone;
  return report_error({Error::Kind::refused, "check.findings", file_,
                       fmt::format("findings at or above --fail-on {}: {}", arguments_.fail_on, fmt::join(rules, ", ")),
                       ""});
}

// "x:1x3x224x224,y:1" as trtexec takes it.
std::string trtexec_shapes(const Shapes& shapes) {
  std::vector<std::string> out;
  for (const auto& [name, sizes] : shapes) {
    const bool plain = name.find_first_of(":, ") == std::string::npos;
    out.push_back(fmt::format("{}:{}", plain ? name : fmt::format("'{}'", name), fmt::join(sizes, "x")));
  }
  return fmt::format("{}", fmt::join(out, ","));
}

int Checker::add_trtexec(const Model& model) {
  const auto box = shape_box(model, arguments_.require);
  if (!box) return report_error(box.error());
  say(line("{} {} {}", shell_word("--minShapes=" + trtexec_shapes(box->min)),
           shell_word("--optShapes=" + trtexec_shapes(box->opt)),
           shell_word("--maxShapes=" + trtexec_shapes(box->max))));
  return kDone;
}

int Checker::run(const std::string& file) {
  file_ = file;
  arguments_ = questions_.of(all_arguments_, file);
  const auto model = load_model(file);
  if (!model) {
    Report report;
    report.model = file;
    report.error = model.error();
    report.readable = false;
    page = to_html(report);
    reports.push_back(std::move(report));
    return report_error(model.error());
  }
  if (arguments_.format == "trtexec") return add_trtexec(*model);
  if (questions_.only_shapes(arguments_)) {
    Report report;
    return ask_shapes(*model, report);
  }
  auto report = check(*model, arguments_.options);
  if (!report) return report_error(report.error());
  if (!arguments_.baseline.empty()) leave_out_known(*report, questions_.baselines.at(arguments_.baseline));
  if (!reports.empty()) text += '\n';
  text += to_text(*report, {arguments_.output.empty() && colour_wanted(), arguments_.all});
  int code = ask_shapes(*model, *report);
  code = worse(code, ask_sets(*model, *report));
  code = worse(code, judge_findings(*report));
  if (arguments_.format == "html") page = to_html(*model, *report);
  reports.push_back(*std::move(report));
  return code;
}

}  // namespace

Result<Shapes> parse_shapes(const std::vector<std::string>& texts) {
  Shapes shapes;
  for (const std::string& text : texts) {
    auto shape = parse_shape(text);
    if (!shape) return tl::unexpected(shape.error());
    if (!shapes.insert(*std::move(shape)).second)
      return tl::unexpected(usage_error("shape.syntax", fmt::format("{:?} gives an input twice", text)));
  }
  return shapes;
}

int run_check(CheckArguments arguments) {
  if (arguments.format == "html" && arguments.models.size() > 1)
    return report_error(usage_error("check.html", "a page shows one model", "one command for each of the models"));
  const auto questions = read_questions(arguments);
  if (!questions) return report_error(questions.error());
  Checker checker(arguments, *questions);
  int code = kDone;
  for (const std::string& file : arguments.models) {
    code = worse(code, checker.run(file));
    if (code == kUsage) return code;
    // Half a report is none.
    if (!check_work()) return code == kDone ? report_error(check_work().error()) : code;
  }
  if (arguments.quiet && arguments.output.empty()) return code;
  const std::string text = arguments.format == "json"    ? to_json(checker.reports)
                           : arguments.format == "sarif" ? to_sarif(checker.reports)
                           : arguments.format == "html"  ? checker.page
                                                         : checker.text;
  return worse(code, write_output(arguments.output, text));
}

}  // namespace anyshape::cli
