#include "anyshape/model.h"

#include <algorithm>
#include <map>

#include "api/model_impl.h"
#include "base/work.h"
#include "check/report.h"
#include "fix/value_info.h"
#include "format/onnx/walk.h"
#include "ir/defaults.h"
#include "passes/body.h"

namespace anyshape {
namespace {

std::string domain_name(std::string_view domain) { return domain.empty() ? "ai.onnx" : std::string(domain); }

void count_nodes(const std::vector<onnx::NodeProto>& nodes, std::map<std::string, int64_t>& counts);

void count_nodes(const onnx::NodeProto& node, std::map<std::string, int64_t>& counts) {
  const bool standard = node.domain.empty() || node.domain == "ai.onnx";
  counts[standard ? std::string(node.op_type) : fmt::format("{}.{}", node.domain, node.op_type)] += 1;
  for (const onnx::AttributeProto& attribute : node.attribute) {
    if (attribute.g) count_nodes(attribute.g->node, counts);
    for (const onnx::GraphProto& graph : attribute.graphs) count_nodes(graph.node, counts);
  }
}

void count_nodes(const std::vector<onnx::NodeProto>& nodes, std::map<std::string, int64_t>& counts) {
  for (const onnx::NodeProto& node : nodes) count_nodes(node, counts);
}

void add_parameters(const onnx::ModelProto& proto, ModelInfo& info) {
  onnx::for_each_tensor(proto, [&](const onnx::TensorProto& tensor, onnx::TensorRole role) {
    if (role != onnx::TensorRole::initializer) return;
    const auto count = onnx::element_count(tensor.dims);
    if (!count) return;
    const auto type = static_cast<onnx::DataType>(tensor.data_type.value_or(0));
    info.parameters += *count;
    info.parameter_bytes += onnx::packed_bytes(type, *count).value_or(0);
  });
}

void add_operators(const onnx::ModelProto& proto, ModelInfo& info) {
  std::map<std::string, int64_t> counts;
  count_nodes(proto.graph->node, counts);
  for (const auto& [type, count] : counts) info.nodes += count;
  info.operators.assign(counts.begin(), counts.end());
  std::stable_sort(info.operators.begin(), info.operators.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
}

}  // namespace

std::shared_ptr<const Typed> Model::Impl::typed_for_runs() const {
  const auto inlined = inline_functions(graph);
  const auto known = typed_in_full();
  const bool same = inlined == graph && known && !known->has_corners();
  return same ? known : std::make_shared<const Typed>(solve(inlined, {.corners = false}));
}

Status Model::Impl::going_on() const {
  Status going = Work::check();
  if (!going) return at(name, std::move(going).error());
  return going;
}

Model Model::Impl::wrap(CheckedModel model, std::string name) {
  return Model(std::make_shared<const Impl>(std::move(model), std::move(name)));
}

Result<Model> Model::Impl::make(onnx::ModelFile file, std::string name,
                                std::vector<std::shared_ptr<const void>> owners) {
  auto model = CheckedModel::make(std::move(file), std::move(owners));
  if (!model) return at(name, std::move(model).error());
  return wrap(*std::move(model), std::move(name));
}

Result<Model> Model::load(const std::filesystem::path& path, const ReadOptions& options) {
  TRY(auto file, onnx::read_model(path));
  file.strict = options.strict;
  return Impl::make(std::move(file), path.string());
}

Result<Model> Model::from_bytes(std::vector<std::byte> bytes, std::string model_name, const ReadOptions& options) {
  auto file = onnx::read_model_bytes(std::move(bytes));
  if (!file) return at(model_name, std::move(file).error());
  file->strict = options.strict;
  return Impl::make(*std::move(file), std::move(model_name));
}

const std::string& Model::name() const { return impl_->name; }
std::vector<ValueType> Model::inputs() const { return input_types(impl_->typed()); }
std::vector<ValueType> Model::outputs() const { return output_types(impl_->typed(), impl_->accepted()); }
Status Model::save(const std::filesystem::path& path) const { return onnx::write_model(impl_->file, path); }

Status Model::save(const std::filesystem::path& path, const std::string& external_data) const {
  return onnx::write_model(impl_->file, path, {.external_data = external_data});
}

std::vector<ValueType> Model::optional_inputs() const {
  std::vector<ValueType> out;
  for (ValueId id : anyshape::optional_inputs(*impl_->graph)) out.push_back(declared_type(impl_->graph->values[id]));
  return out;
}

Result<Model> Model::overriding(const std::vector<std::string>& names) const {
  auto model = impl_->overriding(names);
  if (!model) return at(impl_->name, std::move(model).error());
  return Impl::wrap(*std::move(model), impl_->name);
}

ModelInfo Model::info() const {
  const onnx::ModelProto& proto = impl_->file.proto;
  const Graph& graph = *impl_->graph;
  ModelInfo info;
  info.producer = std::string(proto.producer_name);
  info.producer_version = std::string(proto.producer_version);
  info.graph = graph.name;
  info.domain = std::string(proto.domain);
  info.description = std::string(proto.doc_string);
  if (proto.graph) info.graph_description = std::string(proto.graph->doc_string);
  info.ir_version = proto.ir_version.value_or(0);
  info.model_version = proto.model_version.value_or(0);
  for (const auto& import : proto.opset_import)
    info.opsets.emplace_back(domain_name(import.domain), import.version.value_or(1));
  for (ValueId id : graph.required_inputs()) info.inputs.push_back(declared_type(graph.values[id]));
  for (ValueId id : graph.outputs) info.outputs.push_back(declared_type(graph.values[id]));
  add_operators(proto, info);
  add_parameters(proto, info);
  info.file_bytes = static_cast<int64_t>(impl_->file.file->bytes().size());
  for (const auto& function : proto.functions)
    info.functions.push_back(fmt::format("{}.{}", domain_name(function.domain), function.name));
  for (const auto& entry : proto.metadata_props) info.metadata.emplace_back(entry.key, entry.value);
  return info;
}

std::optional<Reason> Model::cut_short() const {
  const Reason* cut = impl_->typed().cut_short();
  return cut ? std::optional(*cut) : std::nullopt;
}

Result<Model> Model::with_value_info(DimText dims) const {
  if (const auto& refusal = impl_->typed().refusal()) return at(impl_->name, *refusal);
  auto texts = std::make_shared<TextPool>();
  onnx::ModelProto proto = impl_->file.proto;
  fixes::write_value_info(impl_->typed(), dims, *texts, proto);
  TRY_OK(impl_->going_on());
  auto model = impl_->with(std::move(proto), std::move(texts));
  if (!model) return at(impl_->name, std::move(model).error());
  return Impl::wrap(*std::move(model), impl_->name);
}

}  // namespace anyshape
