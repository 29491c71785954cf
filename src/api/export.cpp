#include "anyshape/export.h"

#include <algorithm>

#include "anyshape/check.h"
#include "anyshape/version.h"
#include "api/custom_kernel.h"
#include "api/export_proof.h"
#include "api/model_impl.h"
#include "api/target.h"
#include "base/among.h"
#include "base/known_format.h"
#include "base/work.h"
#include "base/zip.h"
#include "check/assumed.h"
#include "ir/builder_tidy.h"
#include "lower/from_file.h"
#include "lower/naming.h"
#include "lower/reroll/reroll.h"
#include "ops/custom.h"

namespace anyshape {
namespace {

lower::Request request_of(const ExportOptions& options) {
  lower::Request out;
  out.opset = options.opset.value_or(lower::kDefaultOpset);
  out.opset_grows = !options.opset;
  out.dynamic = options.dynamic;
  out.inputs = options.inputs;
  out.input_names = options.input_names;
  out.output_names = options.output_names;
  out.all_static = options.all_static;
  out.freeze = options.freeze;
  out.custom = options.custom;
  out.custom_opsets = options.custom_opsets;
  out.training = options.training;
  out.embed_guards = options.guards == Guards::embed;
  out.forget = options.forget;
  out.record = options.record;
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
  if (options.opset && (*options.opset < lower::kFirstOpset || *options.opset > lower::kLastOpset))
    return usage("export.opset", "opset {} is not one of {} to {}", *options.opset, lower::kFirstOpset,
                 lower::kLastOpset);
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
  out.ir_version = options.ir_version.value_or(onnx::lowest_ir_version(lowered.opset));
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
  out.opset = lowered.opset;
  out.nodes = static_cast<int64_t>(lowered.graph->nodes.size());
  out.assumed = assumed_of(lowered, options);
  out.notes = lowered.notes;
  for (const Node& node : lowered.graph->nodes)
    if (const std::string name = fmt::format("{}::{}", node.domain, node.type);
        (!node.op || is_custom(*node.op)) && !among(name, out.custom))
      out.custom.push_back(name);
  out.unrolled = lowered.unrolled;
  out.frozen = lowered.frozen;
  out.rerolled = lowered.rerolled;
  count_shape_nodes(*lowered.graph, out);
  return out;
}

}  // namespace

Result<Model> Model::Impl::make(std::shared_ptr<Graph> graph, onnx::ModelHeader header, std::string name,
                                std::span<const NamedKernel> kernels) {
  std::vector<std::string_view> rules;
  for (const auto& [key, value] : header.metadata)
    if (key == kCustomRulesKey) rules.push_back(value);
  auto ops = ops_of_model(rules, kernels);
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

namespace {

std::string name_of(const std::filesystem::path& path, const ExportOptions& options) {
  return options.name.empty() ? path.string() : options.name;
}

// Errors have `name` as their place.
Result<lower::Lowered> lowered_file(const std::filesystem::path& path, const lower::Request& request,
                                    const OpTable& ops, const std::string& name) {
  TRY(auto mapped, MappedFile::open(path));
  auto lowered = lower::from_file(ZipFile(mapped), path.extension().string(), request, ops);
  if (lowered) return lowered;
  const auto format = known_format(mapped, path.string());
  const bool foreign = format && format->holds != KnownFormat::Holds::program;
  return at(name, foreign ? foreign_file(*format) : std::move(lowered).error());
}

// The model of what was made of a program.
Result<Exported> model_of(const lower::Lowered& lowered, const ExportOptions& options, const std::string& name) {
  ExportReport report = report_of(lowered, options);
  std::vector<NamedKernel> kernels;
  for (const auto& [one, function] : options.kernels) kernels.push_back({one, custom_kernel(function)});
  TRY(Model model, Model::Impl::make(lowered.graph, header_of(lowered, options, report.assumed), name, kernels));
  if (auto proved = prove_export(model, lowered, options); !proved) return at(name, std::move(proved).error());
  report.narrowed = narrowed_of(model, options);
  if (!options.target.empty()) {
    auto fitted = for_target(model, options.target);
    if (!fitted) return at(name, std::move(fitted).error());
    model = std::move(fitted->first);
  }
  return Exported{std::move(model), std::move(report)};
}

// The request for a capture in which the axis is a number.
lower::Request request_for_capture(lower::Request request, std::string_view axis) {
  std::erase_if(request.dynamic, [&](const DynamicAxis& one) {
    return one.name.empty() ? fmt::format("{}.{}", one.value, one.axis) == axis : one.name == axis;
  });
  request.open_weights = true;
  return request;
}

}  // namespace

Result<Exported> export_program(const std::filesystem::path& path, const ExportOptions& options) {
  TRY_OK(check_target(options.target));
  const std::string name = name_of(path, options);
  const auto order = order_of(options);
  if (!order) return at(name, order.error());
  TRY(const lower::Lowered lowered, lowered_file(path, order->request, *order->ops, name));
  return model_of(lowered, options, name);
}

Result<Exported> export_rerolled(const std::vector<CapturedAt>& captures, std::string_view axis,
                                 const ExportOptions& options) {
  TRY_OK(check_target(options.target));
  if (captures.size() < 2 || captures[1].length != captures[0].length + 1 || captures[0].length < 1)
    return usage("reroll.captures", "captures of lengths n, n + 1 and more are needed");
  const std::string name = name_of(captures[0].path, options);
  const auto order = order_of(options);
  if (!order) return at(name, order.error());
  const lower::Request request = request_for_capture(order->request, axis);
  std::vector<lower::reroll::Capture> read;
  for (const CapturedAt& capture : captures) {
    TRY(lower::Lowered lowered, lowered_file(capture.path, request, *order->ops, name));
    read.push_back({capture.length, std::move(lowered)});
  }
  const auto lowered = lower::reroll::reroll(read, axis, order->request, *order->ops);
  if (!lowered) return at(name, lowered.error());
  return model_of(*lowered, options, name);
}

}  // namespace anyshape
