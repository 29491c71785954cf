#include <fmt/format.h>

#include <algorithm>

#include "anyshape/report.h"
#include "base/printable.h"

namespace anyshape {
namespace {

// Printable text with terminal escapes around it, or without.
class Paint {
 public:
  explicit Paint(bool colour) : colour_(colour) {}
  std::string bold(std::string_view text) const { return wrap("1", text); }
  std::string dim(std::string_view text) const { return wrap("2", text); }
  std::string severity(Severity severity, std::string_view text) const {
    return wrap(severity == Severity::error ? "1;31" : severity == Severity::warning ? "1;33" : "1;36", text);
  }

 private:
  std::string wrap(std::string_view code, std::string_view text) const {
    return colour_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, printable(text)) : printable(text);
  }
  bool colour_;
};

std::string head(const Report& report, const Paint& paint) {
  std::string out = paint.bold(report.model) + ":";
  if (report.opset) out += fmt::format(" opset {},", *report.opset);
  return out + fmt::format(" {} node{}\n", report.nodes, report.nodes == 1 ? "" : "s");
}

std::string values(std::string_view word, const std::vector<ValueType>& all, size_t width) {
  std::string out;
  for (const ValueType& value : all)
    out += line("  {:<4} {:<{}}  {}", word, printable_name(value.name), width, value.type);
  return out;
}

size_t widest(const std::vector<ValueType>& values) {
  size_t width = 0;
  for (const ValueType& value : values) width = std::max(width, printable_name(value.name).size());
  return width;
}

std::string shape_list(const std::vector<ValueType>& inputs) {
  std::vector<std::string> out;
  for (const ValueType& input : inputs) {
    const std::string sizes = input.dims ? fmt::format("[{}]", fmt::join(*input.dims, ", ")) : "";
    out.push_back(printable_name(input.name) + sizes);
  }
  return printable(fmt::format("{}", fmt::join(out, ", ")));
}

std::string node_text(const Reason& reason) {
  if (reason.op.empty()) return reason.node;
  return fmt::format("node {:?} ({})", reason.node, reason.op);
}

std::string conditions(const std::vector<ConditionText>& all, const Paint& paint) {
  constexpr size_t kWidest = 40;
  size_t width = 0;
  for (const ConditionText& c : all)
    if (c.text.size() <= kWidest) width = std::max(width, c.text.size());
  std::string out;
  for (const ConditionText& c : all) {
    const std::string padding(c.text.size() < width ? width - c.text.size() : 0, ' ');
    out += fmt::format("  {}{}", paint.bold(c.text), padding);
    // The last reason makes the condition as narrow as it is; the others are in the JSON report.
    if (!c.because.empty()) {
      const Reason& reason = c.because.back();
      const std::string more = c.because.size() > 1 ? fmt::format(" (and {} more)", c.because.size() - 1) : "";
      out += fmt::format("  {}", paint.dim(fmt::format("because {}: {}{}", node_text(reason), reason.sentence, more)));
    }
    out += '\n';
  }
  return out;
}

std::string accepted(const Report& report, const Paint& paint) {
  const Accepted& set = report.accepted;
  if (set.never) return "accepts no shape\n";
  const std::string shapes = shape_list(report.inputs);
  if (report.inputs.empty()) return "takes no inputs\n";
  if (!set.conditions.empty()) return fmt::format("accepts {} iff\n{}", shapes, conditions(set.conditions, paint));
  return fmt::format("accepts {} {}\n", set.one_shape ? "exactly" : "every", shapes);
}

std::string exactness(const Accepted& set) {
  std::string out = set.exact ? "exact: yes" : "exact: no, the true set may be smaller";
  if (set.largest_axis) out += fmt::format(", for axes up to {}", *set.largest_axis);
  out += set.exact ? "\n" : ":\n";
  constexpr size_t kShown = 20;
  const auto& why = set.not_exact_because;
  for (size_t i = 0; !set.exact && i < std::min(kShown, why.size()); ++i)
    out += line("  {}: {}", node_text(why[i]), why[i].sentence);
  if (why.size() > kShown) out += fmt::format("  and {} more, which the JSON report lists\n", why.size() - kShown);
  return out;
}

std::string on_data(const Report& report, const Paint& paint) {
  std::string out;
  if (!report.accepted.on_data.empty() || !report.data_conditions.empty()) out += "on the data:\n";
  out += conditions(report.accepted.on_data, paint);
  for (const Reason& reason : report.data_conditions) out += line("  {}: {}", node_text(reason), reason.sentence);
  return out;
}

std::string assumed(const Report& report) {
  std::string out;
  if (!report.assumed.empty()) out += "assumed by the exporter:\n";
  for (const AssumedCondition& condition : report.assumed)
    out += line("  {}{}{}", condition.text,
                condition.origin.empty() ? std::string() : fmt::format("  ({})", condition.origin),
                condition.binding ? "" : "  not binding");
  return out;
}

std::string finding_line(const Finding& finding, const Paint& paint) {
  const std::string label = fmt::format("{}[{}]", name(finding.severity), finding.rule);
  const std::string place = finding.node.empty() ? "" : fmt::format("node {:?}: ", finding.node);
  const std::string fix = finding.fix.empty() ? "" : fmt::format(". Fix: {}", finding.fix);
  return paint.severity(finding.severity, label) + line(" {}{}{}", place, finding.message, fix);
}

std::string defaults(const std::vector<ValueType>& optional) {
  constexpr size_t kShown = 4;
  if (optional.empty()) return {};
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(kShown, optional.size()); ++i) names.push_back(printable_name(optional[i].name));
  const std::string more = optional.size() > kShown ? fmt::format(" and {} more", optional.size() - kShown) : "";
  return fmt::format("holds for the default of the input{} {}{}\n", optional.size() == 1 ? "" : "s",
                     fmt::join(names, ", "), more);
}

}  // namespace

std::string_view name(Severity severity) {
  return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "info";
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

std::string to_text(const Report& report, bool colour) {
  const Paint paint(colour);
  const bool unreadable = report.error && report.inputs.empty() && report.outputs.empty() && !report.accepted.never;
  if (unreadable) return fmt::format("{}: cannot be read\n", paint.bold(report.model));
  const size_t width = std::max(widest(report.inputs), widest(report.outputs));
  std::string out = head(report, paint);
  out += values("in", report.inputs, width) + values("out", report.outputs, width);
  out += accepted(report, paint);
  out += defaults(report.optional_inputs);
  if (!report.accepted.never) out += exactness(report.accepted);
  out += on_data(report, paint) + assumed(report);
  for (const Finding& finding : report.findings) out += finding_line(finding, paint);
  return out;
}

}  // namespace anyshape
