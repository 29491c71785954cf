#pragma once

#include <functional>

#include "format/onnx/proto.h"

namespace anyshape::onnx {

enum class TensorRole { initializer, other };

// Every tensor of a model: initializers of all graphs, attributes, sparse parts, functions, training graphs. A tensor
// is an initializer where a runtime reads external data at load time without running a node.
void for_each_tensor(ModelProto& model, const std::function<void(TensorProto&, TensorRole)>& visit);
void for_each_tensor(const ModelProto& model, const std::function<void(const TensorProto&, TensorRole)>& visit);

// The graph and all bodies in it, outer ones first.
void for_each_graph(GraphProto& graph, const std::function<void(GraphProto&)>& visit);
void for_each_graph(const GraphProto& graph, const std::function<void(const GraphProto&)>& visit);

// Same fields with the same content: presence counts, and so do bit patterns of floats, but not how packed lists are
// cut into chunks.
bool equal(const ModelProto& a, const ModelProto& b);

}  // namespace anyshape::onnx
