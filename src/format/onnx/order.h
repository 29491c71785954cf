#pragma once

#include <vector>

#include "format/onnx/proto.h"

namespace anyshape::onnx {

// Positions of the nodes such that each comes after those whose outputs it or its bodies read; the file's own order
// where that is already so. Error "graph.cycle".
Result<std::vector<size_t>> topological_order(const std::vector<NodeProto>& nodes);

}  // namespace anyshape::onnx
