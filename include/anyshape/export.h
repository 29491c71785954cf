#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "anyshape/api.h"
#include "anyshape/axes.h"
#include "anyshape/error.h"
#include "anyshape/model.h"

namespace anyshape {

// What becomes of conditions the program was captured under and no operator demands.
enum class Guards {
  record,  // kept in the model's metadata: check reports them, this engine enforces them
  embed,   // also put into the graph: every runtime fails outside of them
  drop,
};

struct ExportOptions {
  int64_t opset = 17;
  std::optional<int64_t> ir_version;  // without: the lowest the opset needs
  std::vector<DynamicAxis> dynamic;
  std::vector<InputType> inputs;
  std::vector<std::string> input_names, output_names;
  bool all_static = false;                              // pin every axis that is not named
  std::vector<std::pair<std::string, int64_t>> freeze;  // symbol, size
  bool batch_only = false;                              // refuse dynamic axes other than the batch
  std::vector<std::string> allow;                       // waivers of that, "NAME:AXIS"
  Guards guards = Guards::record;
  std::vector<std::string> forget;  // conditions to drop one by one: texts of ExportReport::assumed
  std::vector<std::string> insist;  // the same of conditions known to be no accidents of the capture: they bind
  // Operators of extensions are kept under their own names ("ns::op"), in the domain "ns", unless renamed here:
  // "ns::op" to "domain::Name" ("ai.onnx::Relu"), or a whole "ns" to "domain".
  std::vector<std::pair<std::string, std::string>> custom;
  std::vector<std::pair<std::string, std::string>> custom_shapes;  // "ns::op" as in the program, rule
  bool training = false;                                           // keep dropout and batch statistics
  std::string target = {};                                         // as FixOptions::target, at the end
};

struct ExportReport {
  int64_t nodes = 0;
  // Nodes that compute sizes when the model runs, and what for.
  int64_t shape_nodes = 0;
  std::vector<std::string> shape_reasons;
  std::vector<AssumedCondition> assumed;
  std::vector<std::string> notes;
  // Loops over a dynamic axis that a trace has unrolled, a sentence each: at other sizes than that of the example the
  // archive, and so the model made from it, gives something else than the program that was traced.
  std::vector<std::string> unrolled;
};

struct Exported {
  Model model;
  ExportReport report;
};

// A PyTorch program (.pt2 of torch.export, .pt of TorchScript) as an ONNX model whose accepted shapes have been proved.
// Usage errors: file.open, dynamic.*, freeze.*, names.*, input.*. Refused: zip.*, pt2.*, script.*, aten.*, export.*;
// target.*;
// export.baked where an axis was asked to be dynamic and an operator needs one size.
ANYSHAPE_API Result<Exported> export_program(const std::filesystem::path& path, const ExportOptions& options = {});

// "ns::op: y = [x0, 2*x1]", for custom_shapes. Usage error custom.rule.
ANYSHAPE_API Result<std::pair<std::string, std::string>> parse_custom_shape(std::string_view text);
// "NS::OP=DOMAIN::NAME" or "NS=DOMAIN", for custom. Usage error custom.name.
ANYSHAPE_API Result<std::pair<std::string, std::string>> parse_custom(std::string_view text);

}  // namespace anyshape
