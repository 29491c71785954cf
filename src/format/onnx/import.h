#pragma once

#include <memory>

#include "format/onnx/file.h"
#include "ir/graph.h"
#include "ir/op.h"

namespace anyshape::onnx {

// The main graph of a model, every name resolved, nodes in topological order, calls to local functions with their
// bodies. Weights are not read: tensors point into the mapped file, which they keep alive. Operators without a record
// in `ops`, which the graph and its bodies keep, stay as opaque nodes. Codes: graph.* (duplicate, missing, cycle,
// shadow, output), model.* (graph, opset), function.*, tensor.*, external.*.
Result<std::shared_ptr<const Graph>> import_model(const ModelFile& model, std::shared_ptr<const OpTable> ops);
// With a table that lives as long as the program.
Result<std::shared_ptr<const Graph>> import_model(const ModelFile& model, const OpTable& ops);

}  // namespace anyshape::onnx
