#include "format/onnx/from_graph.h"

#include "format/onnx/datum.h"

namespace anyshape::onnx {
namespace {

Metadata entries(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Metadata out;
  for (const auto& [key, value] : pairs) out.push_back({key, value, {}});
  return out;
}

TypeProto type_proto(const Declared& declared) {
  TypeProto out;
  if (declared.kind == Fact::Kind::sequence || declared.kind == Fact::Kind::optional) {
    TypeProto item = declared.item ? type_proto(*declared.item) : TypeProto();
    if (declared.kind == Fact::Kind::sequence)
      out.sequence_type = TypeProto::Sequence{std::move(item), {}};
    else
      out.optional_type = TypeProto::Optional{std::move(item), {}};
    return out;
  }
  TypeProto::Tensor& tensor = out.tensor_type.emplace();
  tensor.elem_type = static_cast<int32_t>(declared.dtype);
  if (!declared.dims) return out;
  TensorShapeProto& shape = tensor.shape.emplace();
  for (const DeclaredDim& size : *declared.dims) {
    auto& dim = shape.dim.emplace_back();
    dim.dim_value = size.value;
    if (!size.name.empty()) dim.dim_param = size.name;
  }
  return out;
}

ValueInfoProto value_info(const Value& value) {
  ValueInfoProto out;
  out.name = value.name;
  const auto& declared = value.declared;
  if (declared && (declared->kind == Fact::Kind::tensor || declared->item)) out.type = type_proto(*declared);
  return out;
}

GraphProto graph_proto(const Graph& graph);

AttributeProto attribute_proto(const Attribute& attribute) {
  AttributeProto out;
  out.name = attribute.name;
  const auto as = [&](AttributeType type) { out.type = static_cast<int32_t>(type); };
  if (const auto* i = std::get_if<int64_t>(&attribute.value)) {
    out.i = *i, as(AttributeType::int_);
  } else if (const auto* f = std::get_if<float>(&attribute.value)) {
    out.f = *f, as(AttributeType::float_);
  } else if (const auto* s = std::get_if<std::string>(&attribute.value)) {
    out.s = *s, as(AttributeType::string);
  } else if (const auto* t = std::get_if<Box<Tensor>>(&attribute.value)) {
    out.t = tensor_proto(**t), as(AttributeType::tensor);
  } else if (const auto* g = std::get_if<std::shared_ptr<Graph>>(&attribute.value)) {
    out.g = graph_proto(**g), as(AttributeType::graph);
  } else if (const auto* ints = std::get_if<std::vector<int64_t>>(&attribute.value)) {
    out.ints = *ints, as(AttributeType::ints);
  } else if (const auto* floats = std::get_if<std::vector<float>>(&attribute.value)) {
    out.floats = *floats, as(AttributeType::floats);
  } else if (const auto* strings = std::get_if<std::vector<std::string>>(&attribute.value)) {
    out.strings.assign(strings->begin(), strings->end()), as(AttributeType::strings);
  }
  return out;
}

NodeProto node_proto(const Graph& graph, const Node& node) {
  NodeProto out;
  const auto name_of = [&](ValueId id) {
    return id == kNoValue ? std::string_view("") : std::string_view(graph.values[id].name);
  };
  for (ValueId id : node.in) out.input.push_back(name_of(id));
  for (ValueId id : node.out) out.output.push_back(name_of(id));
  out.name = node.name;
  out.op_type = node.type;
  if (!node.domain.empty()) out.domain = node.domain;
  for (const Attribute& one : node.attributes) out.attribute.push_back(attribute_proto(one));
  if (node.metadata) out.metadata_props = entries(*node.metadata);
  return out;
}

GraphProto graph_proto(const Graph& graph) {
  GraphProto out;
  out.name = graph.name;
  for (ValueId id : graph.inputs) out.input.push_back(value_info(graph.values[id]));
  for (ValueId id : graph.outputs) out.output.push_back(value_info(graph.values[id]));
  for (const Value& one : graph.values)
    if (one.is_initializer) out.initializer.push_back(tensor_proto(*one.constant->constant, one.name));
  for (const Node& one : graph.nodes) out.node.push_back(node_proto(graph, one));
  return out;
}

}  // namespace

int64_t lowest_ir_version(int64_t opset) {
  // onnx.helper.VERSION_TABLE of onnx 1.23.2: the first opset of each version of the format.
  static constexpr std::pair<int64_t, int64_t> kFirst[] = {{28, 14}, {25, 13}, {24, 12}, {23, 11}, {21, 10},
                                                           {19, 9},  {15, 8},  {12, 7},  {11, 6}};
  for (const auto& [first, version] : kFirst)
    if (opset >= first) return version;
  return 5;
}

GraphFile from_graph(std::shared_ptr<const Graph> graph, ModelHeader header) {
  GraphFile out;
  const auto kept = std::make_shared<const ModelHeader>(std::move(header));
  ModelProto& model = out.file.proto;
  model.ir_version = kept->ir_version;
  model.producer_name = kept->producer;
  model.producer_version = kept->producer_version;
  for (const auto& [domain, version] : kept->opsets) model.opset_import.push_back({domain, version, {}});
  model.metadata_props = entries(kept->metadata);
  model.graph = graph_proto(*graph);
  out.owners = {std::move(graph), kept};
  return out;
}

}  // namespace anyshape::onnx
