#include <fmt/format.h>

#include <algorithm>

#include "anyshape/model.h"
#include "anyshape/terminal.h"
#include "anyshape/work.h"
#include "cli.h"

namespace anyshape::cli {
namespace {

// What is asked of every model, read before any of them.
struct Questions {
  std::optional<Shapes> point;  // --shape
  std::vector<Shapes> lines;    // --shapes-file
  bool has_lines = false;
  std::optional<Model> older;  // --against

  bool only_shapes(const CheckArguments& a) const {
    return (point || has_lines) && a.require.empty() && !older && a.format == "text";
  }
};

Result<Questions> read_questions(const CheckArguments& arguments) {
  Questions questions;
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
    auto older = Model::load(arguments.against);
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
  Checker(const CheckArguments& arguments, const Questions& questions) : arguments_(arguments), questions_(questions) {}

  int run(const std::string& file);
  std::vector<Report> reports;
  std::string text;

 private:
  int ask_shapes(const Model& model, Report& report);
  int ask_sets(const Model& model, Report& report);
  int judge_proof(const std::string& file, std::string_view question, const Proof& proof);
  int judge_findings(const Report& report) const;
  void say(const std::string& lines) { text += arguments_.models.size() > 1 ? printable(file_) + ": " + lines : lines; }

  const CheckArguments& arguments_;
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

int Checker::run(const std::string& file) {
  file_ = file;
  const auto model = Model::load(file);
  if (!model) {
    Report report;
    report.model = file;
    report.error = model.error();
    reports.push_back(std::move(report));
    return report_error(model.error());
  }
  if (questions_.only_shapes(arguments_)) {
    Report report;
    return ask_shapes(*model, report);
  }
  auto report = check(*model, arguments_.options);
  if (!report) return report_error(report.error());
  if (!reports.empty()) text += '\n';
  text += to_text(*report, arguments_.output.empty() && colour_wanted());
  int code = ask_shapes(*model, *report);
  code = worse(code, ask_sets(*model, *report));
  code = worse(code, judge_findings(*report));
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

int run_check(const CheckArguments& arguments) {
  const auto questions = read_questions(arguments);
  if (!questions) return report_error(questions.error());
  Checker checker(arguments, *questions);
  int code = kDone;
  for (const std::string& file : arguments.models) {
    code = worse(code, checker.run(file));
    // Half a report is none.
    if (!check_work()) return code == kDone ? report_error(check_work().error()) : code;
  }
  if (arguments.quiet && arguments.output.empty()) return code;
  const std::string text = arguments.format == "json"    ? to_json(checker.reports)
                           : arguments.format == "sarif" ? to_sarif(checker.reports)
                                                         : checker.text;
  return worse(code, write_output(arguments.output, text));
}

}  // namespace anyshape::cli
