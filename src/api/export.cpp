#include "anyshape/export.h"

#include <algorithm>

#include "anyshape/check.h"
#include "anyshape/version.h"
#include "api/export_proof.h"
#include "api/model_impl.h"
#include "api/target.h"
#include "base/zip.h"
#include "check/assumed.h"
#include "format/onnx/from_graph.h"
#include "format/pt2/program.h"
#include "format/torchscript/archive.h"
#include "lower/from_pt2.h"
#include "lower/from_torchscript.h"
#include "lower/naming.h"
#include "ops/custom.h"

namespace anyshape {
namespace {

constexpr int64_t kFirstOpset = 11, kLastOpset = 28;

lower::Request request_of(const ExportOptions& options) {
  lower::Request out;
  out.opset = options.opset;
  for (const DynamicAxis& axis : options.dynamic) out.dynamic.push_back({axis.value, axis.axis, axis.name});
  for (const InputType& input : options.inputs)
    out.inputs.push_back({input.name, input.dtype, input.sizes, input.value});
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

// A TorchScript archive, to be told from others by what is in it; what is no archive at all is one where its name says
// so, for the sake of the error.
bool is_script(const std::filesystem::path& path) {
  const auto zip = ZipReader::open(path);
  if (!zip) return path.extension() == ".pt";
  const auto any = [&](auto is_it) { return std::any_of(zip->members().begin(), zip->members().end(), is_it); };
  const bool module = any([](const ZipMember& m) {
    const size_t slash = m.name.find('/');
    return slash != std::string::npos && m.name.substr(slash) == "/data.pkl";
  });
  return module && !any([](const ZipMember& m) { return m.name.ends_with("/archive_format"); });
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

Result<lower::Lowered> lower_with(const OpTable& ops, const std::filesystem::path& path,
                                  const lower::Request& request) {
  if (is_script(path)) {
    TRY(const torchscript::Script script, torchscript::read_script(path));
    return lower::from_torchscript(script, request, ops);
  }
  TRY(const pt2::Program program, pt2::read_program(path));
  return lower::from_pt2(program, request, ops);
}

Result<lower::Lowered> lower_file(const std::filesystem::path& path, const ExportOptions& options) {
  if (options.opset < kFirstOpset || options.opset > kLastOpset)
    return usage("export.opset", "opset {} is not one of {} to {}", options.opset, kFirstOpset, kLastOpset);
  lower::Request request = request_of(options);
  TRY(const auto named, rules_of(options));
  std::vector<CustomRule> rules;
  for (const NamedRule& one : named) {
    request.custom_shapes.emplace_back(fmt::format("{}::{}", one.domain, one.name), one.rule);
    rules.push_back({one.domain, one.name, one.rule});
  }
  TRY(const auto ops, ops_with(rules));
  TRY(lower::Lowered lowered, lower_with(*ops, path, request));
  lowered.ops = ops;
  return lowered;
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

// Errors of opening and reading already have the file as their place.
tl::unexpected<Error> in_file(const std::string& name, Error error) {
  if (error.place.starts_with(name)) return tl::unexpected(std::move(error));
  return at(name, std::move(error));
}

}  // namespace

Result<Exported> export_program(const std::filesystem::path& path, const ExportOptions& options) {
  TRY_OK(check_target(options.target));
  const std::string name = path.string();
  auto lowered = lower_file(path, options);
  if (!lowered) return in_file(name, std::move(lowered).error());
  std::vector<AssumedCondition> assumed = assumed_of(*lowered, options);

  auto made = onnx::from_graph(lowered->graph, lowered->facts, header_of(*lowered, options, assumed));
  made.file.file = MappedFile::from_bytes({});
  TRY(Model model, Model::Impl::make(std::move(made.file), name, std::move(made.owners)));
  if (auto proved = prove_export(model, *lowered, options); !proved) return at(name, std::move(proved).error());

  if (!options.target.empty()) {
    auto fitted = for_target(model, options.target);
    if (!fitted) return at(name, std::move(fitted).error());
    model = std::move(fitted->first);
  }
  Exported out{std::move(model), {}};
  out.report.nodes = static_cast<int64_t>(lowered->graph->nodes.size());
  out.report.assumed = std::move(assumed);
  out.report.notes = lowered->notes;
  out.report.unrolled = lowered->unrolled;
  count_shape_nodes(*lowered->graph, out.report);
  return out;
}

}  // namespace anyshape
