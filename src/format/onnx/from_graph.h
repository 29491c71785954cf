#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/onnx/file.h"
#include "ir/graph.h"

namespace anyshape::onnx {

struct ModelHeader {
  int64_t ir_version = 8;
  std::vector<std::pair<std::string, int64_t>> opsets;  // domain ("" is ai.onnx) and version
  std::string producer, producer_version;
  std::vector<std::pair<std::string, std::string>> metadata;
};

// A message and what its texts point into.
struct GraphFile {
  ModelFile file;
  std::vector<std::shared_ptr<const void>> owners;
};

// The lowest version of the format that has this opset of ai.onnx.
int64_t lowest_ir_version(int64_t opset);

// The graph as a model, inputs and outputs as they are declared. Weights are not copied, names and weights are read
// from the graph until the message is written: nothing in it may change.
GraphFile from_graph(std::shared_ptr<const Graph> graph, ModelHeader header);

}  // namespace anyshape::onnx
