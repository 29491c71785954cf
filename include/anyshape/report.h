#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "anyshape/error.h"
#include "anyshape/reason.h"

// What the answers of anyshape are made of: plain data, every expression and condition as text.
namespace anyshape {

// Sizes by input name. Inputs whose declared dims are all numbers may be left out.
using Shapes = std::map<std::string, std::vector<int64_t>, std::less<>>;

// What runtimes that build for a range of shapes want to know: every symbol from its size in `min` to that in `max`.
struct ShapeBox {
  Shapes min, opt, max;  // accepted, all of them; shapes in between need not be
};

// A value and its type. A dim is a number or an expression of the input symbols.
struct ValueType {
  enum class Kind { unknown, tensor, sparse_tensor, sequence, optional, map };

  std::string name;
  std::string type;                              // "f32[batch, seq, 1]", "seq(f32[n])", "?"
  std::string dtype;                             // "f32"; empty for what is no tensor
  std::optional<std::vector<std::string>> dims;  // absent: no tensor, or its rank is not known
  Kind kind = Kind::unknown;
};

struct ConditionText {
  std::string text;                  // "seq == 120", "h % 32 == 0"
  std::vector<std::string> symbols;  // those that occur in it
  std::vector<Reason> because;       // at least one; the first is the node met first
};

// A name in conditions that is no axis of an input: a size or an entry that the data, or no formula, decides.
struct OtherSymbol {
  std::string name;
  std::string node, op;  // whose output it is in; may be empty
  bool on_data = true;   // false: the shapes decide it
};

// The input shapes a model takes: declared dims match and every condition holds.
struct Accepted {
  std::vector<ConditionText> conditions;  // minimal; empty: every shape of the declared dims
  bool one_shape = false;                 // the file declares a number for every axis of every input
  bool never = false;                     // no shape at all is accepted
  bool exact = true;                      // false: the true set may be smaller, for the reasons below
  std::vector<Reason> not_exact_because;
  std::optional<int64_t> largest_axis;  // set: the claims end at axes of this size
  // Conditions on sizes that depend on data: no refusal of a shape.
  std::vector<ConditionText> on_data;
  std::vector<OtherSymbol> others;  // those that occur in the conditions
};

// A condition the maker of the file recorded: the export is faithful only where it holds.
struct AssumedCondition {
  std::string text;
  std::map<std::string, std::string> symbols;  // name in `text` -> "input:axis", where it is not the model's own symbol
  std::string origin;                          // where it comes from, may be empty
  // False: it may be an accident of the capture (a memory layout, a bound no operator shows), so nothing is refused for
  // it.
  bool binding = true;
};

enum class Severity { info, warning, error };
// "info", "warning", "error".
ANYSHAPE_API std::string_view name(Severity severity);

struct Finding {
  std::string rule;
  Severity severity = Severity::warning;
  std::string node;     // may be empty: the finding is about the model or an axis
  std::string message;  // one sentence
  std::string fix;      // a command or an advice
};

// What a finding of an earlier report is found again by.
struct KnownFinding {
  std::string model;  // the file, as it was given
  std::string rule, node, message;
};

// One concrete shape.
struct Answer {
  enum class Kind { accept, refuse, unknown };
  Kind kind = Kind::accept;
  std::string code, place, sentence;    // empty for accept
  std::vector<ValueType> outputs;       // for accept
  std::vector<Reason> data_conditions;  // for accept: what the entries must fulfil
  // For accept: nodes that ONNX Runtime runs at this shape though their operators do not promise it.
  std::vector<Reason> leniencies = {};
};

// A whole set of shapes.
struct Proof {
  enum class Kind {
    proved,
    refuted,   // `shapes` is the smallest counterexample found, `answer` says why it is refused
    unproved,  // no counterexample found, no proof either; `why` says what stands in the way
  };
  Kind kind = Kind::proved;
  Shapes shapes;
  Answer answer;
  std::string why;
};

struct ShapeAnswer {
  Shapes shapes;
  Answer answer;
};

// One step of the way from an axis back to where its size comes from.
struct AxisStep {
  std::string value;
  size_t axis = 0;
  bool entry = false;    // `axis` is the index of an entry of a shape tensor, `size` that entry
  std::string size;      // the axis as an expression
  std::string node, op;  // the node that makes the value; empty for inputs and initializers
  std::string reason;    // "input axis, dynamic", "the target's literal 120", ...
};

// The axis asked for first, the cause last.
struct AxisStory {
  std::vector<AxisStep> steps;
  std::string conclusion;  // why it is static or dynamic
};

// Does a model compute for one row the same whichever rows stand beside it? For the rows that a symbol counts.
struct RowsOf {
  // An output with rows, in the order of the inputs'.
  struct Output {
    std::string name;
    size_t axis = 0;
    std::string entries;  // of that axis for each row: "1", "4*seq"
  };
  std::string symbol;
  bool independent = false;     // proved; an output that is not listed is the same for all rows
  std::vector<Output> outputs;  // where independent
  Reason mixed_by;              // otherwise; the node may be empty
  // The symbol is the size of axis 0 of some input, or one that is called the batch.
  bool maybe_batch = false;
};

// All that check() says about one model.
struct Report {
  std::string model;  // the file
  std::optional<int64_t> opset;
  int64_t nodes = 0;
  std::vector<ValueType> inputs, outputs;
  // With a default value, for which all of this is said; IR version 4 and later.
  std::vector<ValueType> optional_inputs;
  Accepted accepted;
  std::vector<Reason> data_conditions;  // on the entries of inputs: "indices must be < 512"
  std::vector<AssumedCondition> assumed;
  std::vector<RowsOf> rows;  // one for each symbol of the inputs
  std::vector<Finding> findings;
  int64_t known_findings = 0;  // left out of `findings`, for they are in a baseline
  // Set when the model cannot be read or takes no shape at all.
  std::optional<Error> error;
  bool readable = true;  // false: nothing but `model` and `error` is known
  // Filled by whoever asks them.
  std::vector<ShapeAnswer> answers;
  std::optional<Proof> require, against;
};

// One lint rule.
struct RuleInfo {
  std::string_view id;
  Severity severity;
  std::string_view sentence;
};

// Which shapes the model takes, on one line: "x[batch, seq, 1] where seq == 120; h % 32 == 0"; "nothing", "no inputs".
ANYSHAPE_API std::string accepted_text(const Report& report);
// The words of a shape: "x=1x120x1", "x=scalar" for rank 0. Several are joined by a space.
ANYSHAPE_API std::string to_text(const Shapes& shapes);
ANYSHAPE_API std::string to_text(const AxisStory& story);
struct TextOptions {
  bool colour = false;  // with terminal escapes
  bool all = true;      // false: what is long is cut, "(and 11 more: --all)"
};

// For people.
ANYSHAPE_API std::string to_text(const Report& report, const TextOptions& options = {});
// One object for one report, else an array; docs/check.schema.json describes it.
ANYSHAPE_API std::string to_json(const std::vector<Report>& reports);
// One HTML file without a graph; check.h has that of a model.
ANYSHAPE_API std::string to_html(const Report& report);
// SARIF 2.1.0, one run over all reports.
ANYSHAPE_API std::string to_sarif(const std::vector<Report>& reports);

}  // namespace anyshape
