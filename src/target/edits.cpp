#include "target/edits.h"

#include <algorithm>
#include <cmath>

namespace anyshape::target::edits {
namespace {

using onnx::AttributeType;

constexpr size_t kDftAxis = 2;
constexpr int64_t kDefaultDftAxis = -2;

bool has_nan(const Tensor& tensor) {
  for (int64_t i = 0; tensor.dtype() == DType::f32 && i < tensor.count(); ++i)
    if (std::isnan(tensor.at<float>(i))) return true;
  return false;
}

// The entries of a tensor as the list attribute `stem`_strings, _int64s or _floats.
Status write_list(const Tensor& tensor, const std::string& stem, onnx::NodeProto& node, fixes::Edit& edit) {
  if (tensor.dtype() == DType::string) {
    auto& list = attribute(node, edit.keep(stem + "_strings"), AttributeType::strings).strings;
    for (const std::string& text : tensor.strings()) list.push_back(edit.keep(text));
  } else if (tensor.dtype() == DType::i64) {
    auto& list = attribute(node, edit.keep(stem + "_int64s"), AttributeType::ints).ints;
    for (int64_t i = 0; i < tensor.count(); ++i) list.push_back(tensor.int_at(i));
  } else if (tensor.dtype() == DType::f32) {
    auto& list = attribute(node, edit.keep(stem + "_floats"), AttributeType::floats).floats;
    for (int64_t i = 0; i < tensor.count(); ++i) list.push_back(tensor.at<float>(i));
  } else {
    return refuse("target.opset", "{}_tensor is {}, which no list of the older version holds", stem,
                  name(tensor.dtype()));
  }
  return {};
}

Status write_default(const Tensor& tensor, onnx::NodeProto& node, fixes::Edit& edit) {
  if (tensor.count() != 1) return refuse("target.opset", "default_tensor has {} entries", tensor.count());
  if (tensor.dtype() == DType::string)
    attribute(node, "default_string", AttributeType::string).s = edit.keep(tensor.strings()[0]);
  else if (tensor.dtype() == DType::i64)
    attribute(node, "default_int64", AttributeType::int_).i = tensor.int_at(0);
  else if (tensor.dtype() == DType::f32)
    attribute(node, "default_float", AttributeType::float_).f = tensor.at<float>(0);
  else
    return refuse("target.opset", "default_tensor is {}", name(tensor.dtype()));
  return {};
}

}  // namespace

onnx::AttributeProto& attribute(onnx::NodeProto& node, std::string_view name, AttributeType type) {
  for (onnx::AttributeProto& one : node.attribute)
    if (one.name == name) return one;
  onnx::AttributeProto& made = node.attribute.emplace_back();
  made.name = name;
  made.type = static_cast<int32_t>(type);
  return made;
}

void drop_attribute(onnx::NodeProto& node, std::string_view name) {
  std::erase_if(node.attribute, [&](const onnx::AttributeProto& one) { return one.name == name; });
}

Status dft_axis(const Call& call, onnx::NodeProto& node, fixes::Edit&) {
  int64_t axis = kDefaultDftAxis;
  if (call.has(kDftAxis)) {
    const auto known = call.in(kDftAxis).numbers();
    if (!known || known->size() != 1) return refuse("target.opset", "its axis is no constant");
    axis = known->front();
  }
  if (call.in(0).dims && axis < 0) axis += static_cast<int64_t>(call.in(0).rank());
  attribute(node, "axis", AttributeType::int_).i = axis;
  if (node.input.size() > kDftAxis) node.input.resize(kDftAxis);
  if (node.input.back().empty()) node.input.pop_back();
  return {};
}

Status grid_sample_mode(const Call& call, onnx::NodeProto& node, fixes::Edit&) {
  const std::string_view mode = call.s("mode");
  if (mode == "linear") attribute(node, "mode", AttributeType::string).s = "bilinear";
  if (mode == "cubic") attribute(node, "mode", AttributeType::string).s = "bicubic";
  return {};
}

Status label_lists(const Call& call, onnx::NodeProto& node, fixes::Edit& edit) {
  if (const Tensor* keys = call.tensor("keys_tensor"); keys && has_nan(*keys))
    return refuse("target.opset", "a key is NaN, which no key of the older version is equal to");
  for (const std::string stem : {"keys", "values"}) {
    const Tensor* tensor = call.tensor(stem + "_tensor");
    if (!tensor) continue;
    TRY_OK(write_list(*tensor, stem, node, edit));
    drop_attribute(node, stem + "_tensor");
  }
  if (const Tensor* otherwise = call.tensor("default_tensor")) {
    TRY_OK(write_default(*otherwise, node, edit));
    drop_attribute(node, "default_tensor");
  }
  return {};
}

}  // namespace anyshape::target::edits
