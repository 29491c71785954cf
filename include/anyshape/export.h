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
#include "anyshape/custom.h"
#include "anyshape/error.h"
#include "anyshape/model.h"
#include "anyshape/reason.h"

namespace anyshape {

// What becomes of conditions the program was captured under and no operator demands.
enum class Guards {
  record,  // kept in the model's metadata: check reports them, this engine enforces them
  embed,   // also put into the graph: every runtime fails outside of them
  drop,
};

struct ExportOptions {
  std::optional<int64_t> opset;       // without: the lowest from 17 on that has every operator needed
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
  std::vector<std::string> record;  // the same of conditions that bind in the metadata only, when others are embedded
  std::vector<std::string> insist;  // the same of conditions known to be no accidents of the capture: they bind
  // Operators of extensions are kept under their own names ("ns::op"), in the domain "ns", unless renamed here:
  // "ns::op" to "domain::Name" ("ai.onnx::Relu"), or a whole "ns" to "domain".
  std::vector<std::pair<std::string, std::string>> custom;
  std::vector<std::pair<std::string, std::string>> custom_shapes;  // "ns::op" as in the program, rule
  std::vector<std::pair<std::string, int64_t>> custom_opsets;      // domain, version to import it with; else 1
  // "domain::Name" as in the model: what runs it in the model made here. A file does not carry it.
  std::vector<std::pair<std::string, CustomKernelFunction>> kernels;
  bool training = false;     // keep dropout and batch statistics
  std::string target = {};   // as FixOptions::target, at the end
  bool strict_axes = false;  // refuse what ExportReport::narrowed would list
  std::string name = {};     // what messages call the program; empty: the path
};

// An axis that was asked to be dynamic and does not take all sizes from some least one on.
struct NarrowedAxis {
  std::string input;  // where it is first
  int64_t axis = 0;
  std::string name, condition;
  std::vector<std::string> symbols;  // of the condition
  Reason because;                    // the node that demands it
  std::string source;                // the line of the program, "model.py:12: x.view(3, -1)"; empty: not known
  std::string advice;                // what to write there
};
// "axis 0 of "x" (batch) takes only batch % 3 == 0, which ... demands".
ANYSHAPE_API std::string to_text(const NarrowedAxis& narrowed);

struct ExportReport {
  int64_t opset = 0;
  int64_t nodes = 0;
  // Nodes that compute sizes when the model runs, and what for.
  int64_t shape_nodes = 0;
  std::vector<std::string> shape_reasons;
  std::vector<AssumedCondition> assumed;
  std::vector<std::string> notes;
  std::vector<std::string> custom;  // operators that are not ours, "domain::Name"
  // Loops over a dynamic axis that a trace has unrolled, a sentence each: at other sizes than that of the example the
  // archive, and so the model made from it, gives something else than the program that was traced.
  std::vector<std::string> unrolled;
  std::vector<NarrowedAxis> narrowed;
  // Integer tensors of a trace that hold sizes of the example, a sentence each: the same may be true of them.
  std::vector<std::string> frozen;
  // Of export_rerolled: its loops, a sentence each.
  std::vector<std::string> rerolled;
};

// What it warns of, a line each: "warning[export.narrowed] PROGRAM: ...".
ANYSHAPE_API std::vector<std::string> warnings(const ExportReport& report, std::string_view program);

struct Exported {
  Model model;
  ExportReport report;
};

// A PyTorch program (.pt2 of torch.export, .pt of TorchScript) as an ONNX model whose accepted shapes have been proved.
// Usage errors: file.open, dynamic.*, freeze.*, names.*, input.*. Refused: zip.*, pt2.*, script.*, aten.*, export.*;
// target.*;
// export.narrowed under strict_axes;
// export.baked where an axis was asked to be dynamic and an operator needs one size.
ANYSHAPE_API Result<Exported> export_program(const std::filesystem::path& path, const ExportOptions& options = {});

// A program captured where an axis has that length.
struct CapturedAt {
  std::filesystem::path path;
  int64_t length = 0;
};

// Captures of one program at lengths n, n + 1 and, best, more of an axis over which it loops: the axis is a number in
// each of them, and the loop is unrolled. The model has the axis `axis` of `options.dynamic` again, and each loop over
// it as one Scan. What is found in the first two captures must predict the others node by node; that is evidence for
// other lengths and no proof, so the result wants to be compared with the program that was captured. Refused, beside
// what export_program refuses: reroll.none (the captures differ by something else than steps of a loop), reroll.differs
// (the steps follow no rule), reroll.* (the rule cannot be written). Usage error reroll.captures.
ANYSHAPE_API Result<Exported> export_rerolled(const std::vector<CapturedAt>& captures, std::string_view axis,
                                              const ExportOptions& options = {});

// "ns::op: y = [x0, 2*x1]", for custom_shapes. Usage error custom.rule.
ANYSHAPE_API Result<std::pair<std::string, std::string>> parse_custom_shape(std::string_view text);
// "NS::OP=DOMAIN::NAME" or "NS=DOMAIN", for custom. Usage error custom.name.
ANYSHAPE_API Result<std::pair<std::string, std::string>> parse_custom(std::string_view text);

}  // namespace anyshape
