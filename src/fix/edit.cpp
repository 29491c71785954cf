#include "fix/edit.h"

#include <algorithm>
#include <iterator>

#include "format/onnx/datum.h"
#include "format/onnx/walk.h"

namespace anyshape::fixes {
namespace {

// Before it, every initializer is an input as well.
constexpr int64_t kInitializersAlone = 4;

void add_names(const onnx::GraphProto& graph, std::unordered_set<std::string_view>& out) {
  for (const auto* list : {&graph.input, &graph.output, &graph.value_info})
    for (const onnx::ValueInfoProto& info : *list) out.insert(info.name);
  for (const onnx::TensorProto& tensor : graph.initializer) out.insert(tensor.name);
  for (const onnx::SparseTensorProto& tensor : graph.sparse_initializer)
    if (tensor.values) out.insert(tensor.values->name);
  for (const onnx::NodeProto& node : graph.node) {
    out.insert(node.input.begin(), node.input.end());
    out.insert(node.output.begin(), node.output.end());
  }
}

onnx::NodeProto constant_node(onnx::TensorProto value) {
  onnx::NodeProto node;
  node.op_type = "Constant";
  node.output = {value.name};
  onnx::AttributeProto attribute;
  attribute.name = "value";
  attribute.type = static_cast<int32_t>(onnx::AttributeType::tensor);
  attribute.t = std::move(value);
  node.attribute.push_back(std::move(attribute));
  return node;
}

}  // namespace

std::unordered_set<std::string_view> value_names(const onnx::GraphProto& graph) {
  std::unordered_set<std::string_view> out;
  onnx::for_each_graph(graph, [&](const onnx::GraphProto& one) { add_names(one, out); });
  return out;
}

Edit::Edit(onnx::ModelProto message) : proto(std::move(message)) {}

std::string_view Edit::unused_name(std::string_view like) {
  if (!taken_) taken_ = value_names(graph());
  std::string name(like);
  for (int i = 1; taken_->contains(name); ++i) name = fmt::format("{}_{}", like, i);
  return *taken_->insert(keep(std::move(name))).first;
}

void Edit::add_constants(std::vector<std::pair<std::string, Tensor>> constants) {
  std::unordered_set<std::string_view> given_out;
  for (const onnx::ValueInfoProto& info : graph().output) given_out.insert(info.name);
  std::vector<onnx::NodeProto> nodes;
  for (auto& [name, tensor] : constants) {
    onnx::TensorProto value = onnx::tensor_proto(kept_->tensors.emplace_back(std::move(tensor)), keep(std::move(name)));
    if (proto.ir_version.value_or(0) >= kInitializersAlone && !given_out.contains(value.name))
      graph().initializer.push_back(std::move(value));
    else
      nodes.push_back(constant_node(std::move(value)));
  }
  // Before what reads them.
  graph().node.insert(graph().node.begin(), std::make_move_iterator(nodes.begin()),
                      std::make_move_iterator(nodes.end()));
}

onnx::NodeProto* Edit::maker(std::string_view value) {
  for (onnx::NodeProto& node : graph().node)
    if (std::find(node.output.begin(), node.output.end(), value) != node.output.end()) return &node;
  return nullptr;
}

onnx::TensorShapeProto* Edit::input_shape(std::string_view input) {
  for (onnx::ValueInfoProto& info : graph().input)
    if (info.name == input && info.type && info.type->tensor_type && info.type->tensor_type->shape)
      return &*info.type->tensor_type->shape;
  return nullptr;
}

void Edit::declare(const InputAxis& axis, onnx::TensorShapeProto::Dimension dim) {
  onnx::TensorShapeProto* shape = input_shape(axis.input);
  if (!shape || axis.axis >= shape->dim.size()) return;
  dim.denotation = shape->dim[axis.axis].denotation;
  shape->dim[axis.axis] = std::move(dim);
}

}  // namespace anyshape::fixes
