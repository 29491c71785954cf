#include "anyshape/export.h"

#include <algorithm>

#include "anyshape/check.h"
#include "anyshape/version.h"
#include "api/export_proof.h"
#include "api/model_impl.h"
#include "api/target.h"
#include "base/work.h"
#include "base/zip.h"
#include "check/assumed.h"
#include "ir/builder_tidy.h"
#include "lower/from_file.h"
#include "lower/naming.h"
#include "ops/custom.h"

namespace anyshape {
namespace {

constexpr int64_t kFirstOpset = 11, kLastOpset = 28;

lower::Request request_of(const ExportOptions& options) {
  lower::Request out;
  out.opset = options.opset;
  out.dynamic = options.dynamic;
  out.inputs = options.inputs;
  out.input_names = options.input_names;
  out.output_names = options.output_names;
  out.all_static = options.all_static;
  out.freeze = options.freeze;
  out.custom = options.custom;
  out.training = options.training;
  out.embed_guards = options.guards == Guards::embed;
  out.forget = options.forget;
  out.insist = options.insist;
  return out;
}

// A rule of the options under the name the operator has in the model.
struct NamedRule {
  std::string domain, name, rule;
};

Result<std::vector<NamedRule>> rules_of(const ExportOptions& options) {
  std::vector<NamedRule> out;
  for (const auto& [name, rule] : options.custom_shapes) {
    const size_t scope = name.find("::");
    if (scope == std::string::npos) return usage("custom.name", "{:?} is not NAMESPACE::OPERATOR", name);
    auto [domain, type] = lower::custom_name(options.custom, name.substr(0, scope), name.substr(scope + 2));
    out.push_back({std::move(domain), std::move(type), rule});
  }
  return out;
}

// What an export needs beside the file.
struct Order {
  lower::Request request;
  std::shared_ptr<const OpTable> ops;
};

Result<Order> order_of(const ExportOptions& options) {
  if (options.opset < kFirstOpset || options.opset > kLastOpset)
    return usage("export.opset", "opset {} is not one of {} to {}", options.opset, kFirstOpset, kLastOpset);
  Order out{request_of(options), {}};
  TRY(const auto named, rules_of(options));
  std::vector<CustomRule> rules;
  for (const NamedRule& one : named) {
    out.request.custom_shapes.emplace_back(fmt::format("{}::{}", one.domain, one.name), one.rule);
    rules.push_back({one.domain, one.name, one.rule});
  }
  TRY(out.ops, ops_with(rules));
  return out;
}

std::vector<AssumedCondition> assumed_of(const lower::Lowered& lowered, const ExportOptions& options) {
  std::vector<AssumedCondition> out;
  if (options.guards == Guards::drop) return out;
  for (const lower::Guard& guard : lowered.guards)
    if (std::find(options.forget.begin(), options.forget.end(), guard.text) == options.forget.end())
      out.push_back({guard.text, guard.symbols, guard.origin, !guard.advisory && can_bind(guard.condition)});
  return out;
}

onnx::ModelHeader header_of(const lower::Lowered& lowered, const ExportOptions& options,
                            const std::vector<AssumedCondition>& assumed) {
  onnx::ModelHeader out;
  out.ir_version = options.ir_version.value_or(onnx::lowest_ir_version(options.opset));
  out.opsets = lowered.opsets;
  out.producer = "anyshape";
  out.producer_version = std::string(version());
  if (!assumed.empty()) out.metadata.emplace_back(kAssumedKey, write_assumed(assumed));
  std::vector<std::string> rules;
  for (const auto& [name, rule] : lowered.custom_shapes) rules.push_back(fmt::format("{}:{}", name, rule));
  if (!rules.empty()) out.metadata.emplace_back(kCustomRulesKey, fmt::format("{}", fmt::join(rules, "\n")));
  return out;
}

ExportReport report_of(const lower::Lowered& lowered, const ExportOptions& options) {
  ExportReport out;
  out.nodes = static_cast<int64_t>(lowered.graph->nodes.size());
  out.assumed = assumed_of(lowered, options);
  out.notes = lowered.notes;
  out.unrolled = lowered.unrolled;
  count_shape_nodes(*lowered.graph, out);
  return out;
}

}  // namespace

Result<Model> Model::Impl::make(std::shared_ptr<Graph> graph, onnx::ModelHeader header, std::string name) {
  std::vector<std::string_view> rules;
  for (const auto& [key, value] : header.metadata)
    if (key == kCustomRulesKey) rules.push_back(value);
  auto ops = ops_of_model(rules);
  if (!ops) return at(name, std::move(ops).error());
  resolve(*graph, *ops);
  onnx::GraphFile made = onnx::from_graph(graph, std::move(header));
  CheckedModel model;
  model.file = std::move(made.file);
  model.file.file = MappedFile::from_bytes({});
  model.owners = std::move(made.owners);
  model.graph = std::move(graph);
  if (Status going = Work::check(); !going) return at(name, std::move(going).error());
  return wrap(std::move(model), std::move(name));
}

Result<Exported> export_program(const std::filesystem::path& path, const ExportOptions& options) {
  TRY_OK(check_target(options.target));
  const auto in_file = [&](Error error) { return at(path.string(), std::move(error)); };
  const auto order = order_of(options);
  if (!order) return in_file(order.error());
  TRY(auto mapped, MappedFile::open(path));
  const auto lowered =
      lower::from_file(ZipFile(std::move(mapped)), path.extension().string(), order->request, *order->ops);
  if (!lowered) return in_file(lowered.error());
  ExportReport report = report_of(*lowered, options);
  TRY(Model model, Model::Impl::make(lowered->graph, header_of(*lowered, options, report.assumed), path.string()));
  if (auto proved = prove_export(model, *lowered, options); !proved) return in_file(std::move(proved).error());
  if (!options.target.empty()) {
    auto fitted = for_target(model, options.target);
    if (!fitted) return in_file(std::move(fitted).error());
    model = std::move(fitted->first);
  }
  return Exported{std::move(model), std::move(report)};
}

}  // namespace anyshape
