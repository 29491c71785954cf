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

constexpr size_t kShown = 12;   // of a list
constexpr size_t kWidest = 40;  // of a column of conditions

// What ends a list that is cut, and nothing for one that is not.
std::string and_more(size_t all, size_t shown) {
  return all > shown ? fmt::format("  (and {} more: --all)\n", all - shown) : "";
}

size_t shown_of(size_t count, bool all) { return all || count <= kShown + 1 ? count : kShown; }

std::string values(std::string_view word, const std::vector<ValueType>& every, size_t width, bool all) {
  const size_t shown = shown_of(every.size(), all);
  std::string out;
  for (size_t i = 0; i < shown; ++i)
    out += line("  {:<4} {:<{}}  {}", word, printable_name(every[i].name), width, every[i].type);
  return out + and_more(every.size(), shown);
}

size_t widest(const std::vector<ValueType>& values) {
  size_t width = 0;
  for (const ValueType& value : values) width = std::max(width, printable_name(value.name).size());
  return width;
}

std::string shape_list(const std::vector<ValueType>& inputs, bool all) {
  const size_t shown = shown_of(inputs.size(), all);
  std::vector<std::string> out;
  for (size_t i = 0; i < shown; ++i) {
    const auto& dims = inputs[i].dims;
    const std::string sizes = dims ? fmt::format("[{}]", fmt::join(*dims, ", ")) : "";
    out.push_back(printable_name(inputs[i].name) + sizes);
  }
  const std::string more = inputs.size() > shown ? fmt::format(" and {} more", inputs.size() - shown) : "";
  return printable(fmt::format("{}{}", fmt::join(out, ", "), more));
}

std::string node_text(const Reason& reason) {
  if (reason.op.empty()) return reason.node;
  return fmt::format("node {:?} ({})", reason.node, reason.op);
}

std::string conditions(const std::vector<ConditionText>& every, const Paint& paint, bool all) {
  const size_t shown = shown_of(every.size(), all);
  size_t width = 0;
  for (size_t i = 0; i < shown; ++i)
    if (every[i].text.size() <= kWidest) width = std::max(width, every[i].text.size());
  std::string out;
  for (size_t i = 0; i < shown; ++i) {
    const ConditionText& c = every[i];
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
  return out + and_more(every.size(), shown);
}

std::string accepted(const Report& report, const Paint& paint, bool all) {
  const Accepted& set = report.accepted;
  if (set.never) return "accepts no shape\n";
  const std::string shapes = shape_list(report.inputs, all);
  if (report.inputs.empty()) return "takes no inputs\n";
  if (!set.conditions.empty()) return fmt::format("accepts {} iff\n{}", shapes, conditions(set.conditions, paint, all));
  return fmt::format("accepts {} {}\n", set.one_shape ? "exactly" : "every", shapes);
}

// Sentences in their order, each once with its first node and how many others say it.
std::string reasons(const std::vector<Reason>& every, bool all) {
  std::vector<std::pair<const Reason*, size_t>> groups;
  for (const Reason& reason : every) {
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const auto& group) { return !all && group.first->sentence == reason.sentence; });
    if (same == groups.end())
      groups.emplace_back(&reason, 0);
    else
      ++same->second;
  }
  const size_t shown = shown_of(groups.size(), all);
  std::string out;
  for (size_t i = 0; i < shown; ++i) {
    const auto& [first, others] = groups[i];
    const std::string more =
        others ? fmt::format(" (and at {} other node{}: --all)", others, others == 1 ? "" : "s") : "";
    out += line("  {}: {}{}", node_text(*first), first->sentence, more);
  }
  return out + and_more(groups.size(), shown);
}

std::string exactness(const Accepted& set, bool all) {
  std::string out = set.exact ? "exact: yes" : "exact: no, the true set may be smaller";
  if (set.largest_axis) out += fmt::format(", for axes up to {}", *set.largest_axis);
  return set.exact ? out + "\n" : out + ":\n" + reasons(set.not_exact_because, all);
}

// Symbols that one sentence explains: those of one node, and where lists are cut those of other nodes of its operator.
struct Explained {
  const OtherSymbol* first;
  std::vector<std::string> names, elsewhere;
};

std::vector<Explained> explained(const std::vector<OtherSymbol>& symbols, bool all) {
  std::vector<Explained> out;
  for (const OtherSymbol& symbol : symbols) {
    const auto alike = std::find_if(out.begin(), out.end(), [&](const Explained& one) {
      return one.first->on_data == symbol.on_data && one.first->op == symbol.op &&
             (one.first->node == symbol.node || (!all && !symbol.op.empty()));
    });
    if (alike == out.end())
      out.push_back({&symbol, {symbol.name}, {}});
    else
      (alike->first->node == symbol.node ? alike->names : alike->elsewhere).push_back(symbol.name);
  }
  return out;
}

std::string others(const std::vector<OtherSymbol>& symbols, bool all) {
  const auto groups = explained(symbols, all);
  const size_t shown = shown_of(groups.size(), all);
  std::string out;
  for (size_t i = 0; i < shown; ++i) {
    const auto& [first, names, elsewhere] = groups[i];
    const std::string place = first->node.empty() ? "" : fmt::format(" of node {:?} ({})", first->node, first->op);
    const std::string more =
        elsewhere.empty() ? "" : fmt::format(", as {} of other {} nodes: --all", fmt::join(elsewhere, ", "), first->op);
    out += line("  where {}{} come{} from {}{}", fmt::join(names, ", "), place, names.size() == 1 ? "s" : "",
                first->on_data ? "the data" : "the shapes, by no formula", more);
  }
  return out + and_more(groups.size(), shown);
}

// What is proved, and what stands in the way along axes one would take for the batch.
std::string rows(const Report& report, bool all) {
  std::vector<std::string> lines;
  for (const RowsOf& one : report.rows) {
    const std::string symbol = printable_name(one.symbol);
    if (one.independent)
      lines.push_back(line("rows along {} are independent: proved", symbol));
    else if (one.maybe_batch && one.mixed_by.node.empty())
      lines.push_back(line("rows along {} are not proved to be independent: {}", symbol, one.mixed_by.sentence));
    else if (one.maybe_batch)
      lines.push_back(line("rows along {} are not proved to be independent: {}: {}", symbol, node_text(one.mixed_by),
                           one.mixed_by.sentence));
  }
  const size_t shown = shown_of(lines.size(), all);
  return fmt::format("{}{}", fmt::join(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(shown), ""),
                     and_more(lines.size(), shown));
}

std::string on_data(const Report& report, const Paint& paint, bool all) {
  std::string out;
  if (!report.accepted.on_data.empty() || !report.data_conditions.empty()) out += "on the data:\n";
  return out + conditions(report.accepted.on_data, paint, all) + others(report.accepted.others, all) +
         reasons(report.data_conditions, all);
}

std::string assumed(const Report& report, bool all) {
  std::string out;
  if (!report.assumed.empty()) out += "assumed by the exporter:\n";
  const size_t shown = shown_of(report.assumed.size(), all);
  for (size_t i = 0; i < shown; ++i) {
    const AssumedCondition& condition = report.assumed[i];
    out += line("  {}{}{}", condition.text,
                condition.origin.empty() ? std::string() : fmt::format("  ({})", condition.origin),
                condition.binding ? "" : "  not binding");
  }
  return out + and_more(report.assumed.size(), shown);
}

std::string finding_line(const Finding& finding, const Paint& paint) {
  const std::string label = fmt::format("{}[{}]", name(finding.severity), finding.rule);
  const std::string place = finding.node.empty() ? "" : fmt::format("node {:?}: ", finding.node);
  const std::string fix = finding.fix.empty() ? "" : fmt::format(". Fix: {}", finding.fix);
  return paint.severity(finding.severity, label) + line(" {}{}{}", place, finding.message, fix);
}

std::string defaults(const std::vector<ValueType>& optional) {
  constexpr size_t kNamed = 4;
  if (optional.empty()) return {};
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(kNamed, optional.size()); ++i) names.push_back(printable_name(optional[i].name));
  const std::string more = optional.size() > kNamed ? fmt::format(" and {} more", optional.size() - kNamed) : "";
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

std::string accepted_text(const Report& report) {
  if (report.accepted.never) return "nothing";
  if (report.inputs.empty()) return "no inputs";
  std::vector<std::string> conditions;
  for (const ConditionText& one : report.accepted.conditions) conditions.push_back(one.text);
  const std::string shapes = shape_list(report.inputs, true);
  if (conditions.empty()) return shapes;
  return shapes + printable(fmt::format(" where {}", fmt::join(conditions, "; ")));
}

std::string to_text(const Report& report, const TextOptions& options) {
  const Paint paint(options.colour);
  if (!report.readable) return fmt::format("{}: cannot be read\n", paint.bold(report.model));
  const size_t width = std::max(widest(report.inputs), widest(report.outputs));
  std::string out = head(report, paint);
  out += values("in", report.inputs, width, options.all) + values("out", report.outputs, width, options.all);
  out += accepted(report, paint, options.all);
  out += defaults(report.optional_inputs);
  if (!report.accepted.never) out += exactness(report.accepted, options.all) + rows(report, options.all);
  out += on_data(report, paint, options.all) + assumed(report, options.all);
  const size_t shown = shown_of(report.findings.size(), options.all);
  for (size_t i = 0; i < shown; ++i) out += finding_line(report.findings[i], paint);
  out += and_more(report.findings.size(), shown);
  if (report.known_findings > 0)
    out += fmt::format("{} known finding{} of the baseline left out\n", report.known_findings,
                       report.known_findings == 1 ? "" : "s");
  return out;
}

}  // namespace anyshape
