#include "target/zipmap.h"

#include <algorithm>

namespace anyshape::target {
namespace {

bool is_read(const onnx::GraphProto& graph, std::string_view value) {
  return std::any_of(graph.node.begin(), graph.node.end(), [&](const onnx::NodeProto& node) {
    return std::find(node.input.begin(), node.input.end(), value) != node.input.end();
  });
}

std::string classes_of(const onnx::NodeProto& zipmap) {
  for (const onnx::AttributeProto& attribute : zipmap.attribute) {
    if (attribute.name == "classlabels_int64s") return fmt::format("{}", fmt::join(attribute.ints, ", "));
    if (attribute.name == "classlabels_strings") return fmt::format("{}", fmt::join(attribute.strings, ", "));
  }
  return {};
}

}  // namespace

std::vector<std::string> without_zipmaps(fixes::Edit& edit) {
  std::vector<std::string> changes;
  for (onnx::NodeProto& node : edit.graph().node) {
    if (node.op_type != "ZipMap" || node.domain != "ai.onnx.ml") continue;
    if (node.input.size() != 1 || node.output.size() != 1 || is_read(edit.graph(), node.output[0])) continue;
    changes.push_back(fmt::format("output {:?} is a tensor instead of a map, with a column for each of the classes {}",
                                  node.output[0], classes_of(node)));
    node.op_type = "Identity";
    node.domain = {};
    node.attribute.clear();
    for (onnx::ValueInfoProto& output : edit.graph().output)
      if (output.name == node.output[0])
        output.type.emplace().tensor_type.emplace().elem_type = static_cast<int32_t>(onnx::DataType::float32);
  }
  return changes;
}

}  // namespace anyshape::target
