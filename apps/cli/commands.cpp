#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "anyshape/model.h"
#include "anyshape/terminal.h"
#include "cli.h"
#include "progress.h"

namespace anyshape::cli {
namespace {

int code_of(const Error& error) {
  if (error.kind == Error::Kind::usage) return kUsage;
  // The request was for more than there is time.
  if (error.code == "work.timeout") return kRefused;
  return error.kind == Error::Kind::system ? kFault : kRefused;
}

int rank(int code) {
  constexpr int order[] = {kDone, kRefused, kUsage, kFault};
  return static_cast<int>(std::find(std::begin(order), std::end(order), code) - std::begin(order));
}

template <class List>
std::string list_text(const List& list, std::string_view form) {
  std::vector<std::string> out;
  for (const auto& [key, count] : list) out.push_back(fmt::format(fmt::runtime(form), key, count));
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string info_text(const std::string& file, const ModelInfo& info) {
  std::string out = line("{}", file);
  const auto add = [&](std::string_view label, const std::string& text) {
    if (!text.empty()) out += line("  {:<11} {}", label, text);
  };
  const auto typed = [](const ValueType& value) {
    return fmt::format("{}  {}", printable_name(value.name), value.type);
  };
  add("producer", info.producer_version.empty() ? info.producer : info.producer + " " + info.producer_version);
  add("graph", info.graph);
  add("IR version", fmt::format("{}", info.ir_version));
  add("opsets", list_text(info.opsets, "{} {}"));
  for (const ValueType& input : info.inputs) add("input", typed(input));
  for (const ValueType& output : info.outputs) add("output", typed(output));
  add("nodes", fmt::format("{}", info.nodes));
  add("operators", list_text(info.operators, "{} {}"));
  add("parameters", fmt::format("{} ({})", info.parameters, bytes_text(static_cast<uint64_t>(info.parameter_bytes))));
  add("file", bytes_text(static_cast<uint64_t>(info.file_bytes)));
  add("functions", fmt::format("{}", fmt::join(info.functions, ", ")));
  for (const auto& [key, value] : info.metadata) add("metadata", fmt::format("{} = {}", key, value));
  return out;
}

}  // namespace

ReadOptions& reading() {
  static ReadOptions options;
  return options;
}

int worse(int a, int b) { return rank(a) < rank(b) ? b : a; }

int report_error(const Error& error) {
  Waiting::clear();
  std::fflush(stdout);
  fmt::print(stderr, "{}\n", error.text());
  return code_of(error);
}

int write_output(const std::string& file, const std::string& text) {
  Waiting::clear();
  if (!file.empty()) {
    if (auto written = write_text(file, text); !written) return report_error(written.error());
    return kDone;
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return report_error({Error::Kind::system, "file.write", "standard output", "it cannot be written", ""});
  return kDone;
}

int run_explain(const std::string& model, const std::string& value) {
  const auto loaded = load_model(model);
  if (!loaded) return report_error(loaded.error());
  const auto stories = explain(*loaded, value);
  if (!stories) return report_error(stories.error());
  std::string out;
  for (const AxisStory& story : *stories) {
    if (!out.empty()) out += '\n';
    out += to_text(story);
  }
  if (stories->empty()) out = line("{} is a scalar: it has no axes", printable_name(value));
  return write_output("", out);
}

int run_infer(const std::string& model, const std::string& output, bool expressions) {
  const auto loaded = load_model(model);
  if (!loaded) return report_error(loaded.error());
  const auto inferred = loaded->with_value_info(expressions ? DimText::expressions : DimText::names);
  if (!inferred) return report_error(inferred.error());
  if (const auto saved = inferred->save(output); !saved) return report_error(saved.error());
  if (const auto cut = loaded->cut_short())
    print_line(stderr, "warning[{}] {}: node {:?}: {}", cut->code, printable_name(model), cut->node, cut->sentence);
  return kDone;
}

int run_info(const std::string& model) {
  const auto loaded = load_model(model);
  if (!loaded) return report_error(loaded.error());
  return write_output("", info_text(model, loaded->info()));
}

int run_rules() {
  std::string out;
  for (const RuleInfo& rule : rules())
    out += fmt::format("{:<32} {:<8} {}\n", rule.id, name(rule.severity), rule.sentence);
  return write_output("", out);
}

}  // namespace anyshape::cli
