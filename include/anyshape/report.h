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

// A value and its type. A dim is a number or an expression of the input symbols.
struct ValueType {
  std::string name;
  std::string type;                              // "f32[batch, seq, 1]", "seq(f32[n])", "?"
  std::string dtype;                             // "f32"; empty for what is no tensor
  std::optional<std::vector<std::string>> dims;  // absent: no tensor, or its rank is not known
};

struct ConditionText {
  std::string text;                  // "seq == 120", "h % 32 == 0"
  std::vector<std::string> symbols;  // those that occur in it
  std::vector<Reason> because;       // at least one; the first is the node met first
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

// One concrete shape.
struct Answer {
  enum class Kind { accept, refuse, unknown };
  Kind kind = Kind::accept;
  std::string code, place, sentence;    // empty for accept
  std::vector<ValueType> outputs;       // for accept
  std::vector<Reason> data_conditions;  // for accept: what the entries must fulfil
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
  std::vector<Finding> findings;
  // Set when the model cannot be read or takes no shape at all.
  std::optional<Error> error;
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

// The words of a shape: "x=1x120x1", "x=scalar" for rank 0. Several are joined by a space.
ANYSHAPE_API std::string to_text(const Shapes& shapes);
ANYSHAPE_API std::string to_text(const AxisStory& story);
// For people. `colour`: with terminal escapes.
ANYSHAPE_API std::string to_text(const Report& report, bool colour = false);
// One object for one report, else an array; docs/check.schema.json describes it.
ANYSHAPE_API std::string to_json(const std::vector<Report>& reports);
// SARIF 2.1.0, one run over all reports.
ANYSHAPE_API std::string to_sarif(const std::vector<Report>& reports);

}  // namespace anyshape
