#pragma once

#include "fix/edit.h"
#include "ir/call.h"

// Changes of a single node, for the table in lower_steps.cpp. An Error says why there is none.
namespace anyshape::target::edits {

Status dft_axis(const Call& call, onnx::NodeProto& node, fixes::Edit& edit);
Status grid_sample_mode(const Call& call, onnx::NodeProto& node, fixes::Edit& edit);
Status label_lists(const Call& call, onnx::NodeProto& node, fixes::Edit& edit);
Status tree_regressor(const Call& call, onnx::NodeProto& node, fixes::Edit& edit);

// The attribute, there or made.
onnx::AttributeProto& attribute(onnx::NodeProto& node, std::string_view name, onnx::AttributeType type);
void drop_attribute(onnx::NodeProto& node, std::string_view name);

}  // namespace anyshape::target::edits
