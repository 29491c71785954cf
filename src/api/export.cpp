#include "anyshape/export.h"

#include <algorithm>

#include "anyshape/check.h"
#include "anyshape/version.h"
#include "api/export_proof.h"
#include "api/model_impl.h"
#include "base/json.h"
#include "base/zip.h"
#include "format/onnx/from_graph.h"
#include "format/pt2/program.h"
#include "format/torchscript/archive.h"
#include "lower/from_pt2.h"
#include "lower/from_torchscript.h"
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
  out.custom_shapes = options.custom_shapes;
  out.training = options.training;
  out.embed_guards = options.guards == Guards::embed;
  return out;
}

// TorchScript archives hold their constants as a pickle; what is no zip file at all is an old file of torch.save's.
Result<bool> is_script(const std::filesystem::path& path) {
  auto zip = ZipReader::open(path);
  if (!zip && zip.error().code == "zip.format") return path.extension() != ".pt2";
  if (!zip) return tl::unexpected(std::move(zip).error());
  const auto& members = zip->members();
  const bool exported = std::any_of(members.begin(), members.end(), [](const ZipMember& m) {
    return m.name.ends_with("archive_format") || m.name.ends_with("serialized_exported_program.json");
  });
  return !exported &&
         std::any_of(members.begin(), members.end(), [](const ZipMember& m) { return m.name.ends_with("/data.pkl"); });
}

Result<lower::Lowered> lower_file(const std::filesystem::path& path, const ExportOptions& options) {
  if (options.opset < kFirstOpset || options.opset > kLastOpset)
    return usage("export.opset", "opset {} is not one of {} to {}", options.opset, kFirstOpset, kLastOpset);
  TRY(const bool script, is_script(path));
  if (script) {
    TRY(const torchscript::Script module, torchscript::read_script(path));
    return lower::from_torchscript(module, request_of(options), current_ops());
  }
  TRY(const pt2::Program program, pt2::read_program(path));
  return lower::from_pt2(program, request_of(options), current_ops());
}

std::vector<AssumedCondition> assumed_of(const lower::Lowered& lowered) {
  std::vector<AssumedCondition> out;
  for (const lower::Guard& guard : lowered.guards) out.push_back({guard.text, guard.symbols, guard.origin});
  return out;
}

std::string assumed_json(const std::vector<AssumedCondition>& conditions) {
  JsonWriter json;
  json.begin_object().key("version").number(1).key("conditions").begin_array();
  for (const AssumedCondition& condition : conditions) {
    json.begin_object().key("text").text(condition.text).key("symbols").begin_object();
    for (const auto& [name, axis] : condition.symbols) json.key(name).text(axis);
    json.end_object().key("origin").text(condition.origin).end_object();
  }
  return json.end_array().end_object().take();
}

onnx::ModelHeader header_of(const lower::Lowered& lowered, const ExportOptions& options,
                            const std::vector<AssumedCondition>& assumed) {
  onnx::ModelHeader out;
  out.ir_version = options.ir_version.value_or(onnx::lowest_ir_version(options.opset));
  out.opsets = lowered.opsets;
  out.producer = "anyshape";
  out.producer_version = std::string(version());
  if (!assumed.empty()) out.metadata.emplace_back(kAssumedKey, assumed_json(assumed));
  return out;
}

}  // namespace

Result<Exported> export_program(const std::filesystem::path& path, const ExportOptions& options) {
  const std::string name = path.string();
  auto lowered = lower_file(path, options);
  if (!lowered) return at(name, std::move(lowered).error());
  std::vector<AssumedCondition> assumed;
  if (options.guards != Guards::drop) assumed = assumed_of(*lowered);

  auto made = onnx::from_graph(lowered->graph, lowered->facts, header_of(*lowered, options, assumed));
  made.file.file = MappedFile::from_bytes({});
  TRY(Model model, Model::Impl::make(std::move(made.file), name, std::move(made.owners)));
  if (auto proved = prove_export(model, *lowered, options); !proved) return at(name, std::move(proved).error());

  Exported out{std::move(model), {}};
  out.report.nodes = static_cast<int64_t>(lowered->graph->nodes.size());
  out.report.assumed = std::move(assumed);
  out.report.notes = lowered->notes;
  count_shape_nodes(*lowered->graph, out.report);
  return out;
}

}  // namespace anyshape
