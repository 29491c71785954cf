#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "format/pt2/expression.h"
#include "tensor/tensor.h"

namespace anyshape {
struct ZipFile;
}

namespace anyshape::pt2 {

// A size as recorded: a number, or an expression over the archive's symbols with the number of the example.
struct Size {
  std::optional<int64_t> number;
  Expression expression;        // where there is no number
  std::optional<int64_t> hint;  // of the expression
};

struct TensorMeta {
  DType dtype = DType::undefined;
  std::vector<Size> sizes, strides;
  Size offset;
};

struct Graph;

// A value handed to a node, or named by it. Lists of the archive (as_tensors, as_sym_ints, as_optional_tensors, ...)
// are lists of arguments here, a dict of them is a list of [text, value].
struct Argument {
  enum class Kind : uint8_t {
    none,
    tensor,  // `text` names it
    symbol,  // a size, number or truth value computed in the graph; `text` names it
    integer,
    real,
    boolean,  // integer is 0 or 1
    complex,  // real, imaginary
    text,
    dtype,
    device,
    layout,
    memory_format,  // integer: the archive's number
    list,
    graph,
    object,  // a custom object; `text` names it
    op,      // an operator handed over by name
  };
  Kind kind = Kind::none;
  std::string text;
  int64_t integer = 0;
  double real = 0, imaginary = 0;
  DType dtype = DType::undefined;
  std::vector<Argument> items;
  std::shared_ptr<const Graph> graph;
};

struct NamedArgument {
  std::string name;  // of the schema; may be empty (higher-order operators)
  Argument value;
  bool keyword = false;
};

// One module on the way to a node: "encoder.layers.0" of type "torch.nn.modules.linear.Linear".
struct ModuleFrame {
  std::string path, type;
};

struct Node {
  std::string target;  // "torch.ops.aten.add.Tensor", "_operator.mul", "torch.ops.higher_order.cond"
  std::string name;
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
  std::vector<ModuleFrame> modules;  // outermost first, the root left out
  std::string stack_trace;
};

struct Graph {
  std::string name;  // of a sub-graph
  std::vector<Argument> inputs, outputs;
  std::vector<Node> nodes;
  std::map<std::string, TensorMeta> tensors;
  std::map<std::string, Size> sym_ints;
  std::map<std::string, Expression> sym_floats, sym_bools;
};

struct InputSpec {
  enum class Kind : uint8_t { user, parameter, buffer, constant_tensor, constant, object, token };
  Kind kind = Kind::user;
  Argument argument;   // the placeholder; of a constant input its value
  std::string target;  // fqn of the parameter, buffer or constant; the name of a constant input
  bool persistent = true;
};

struct OutputSpec {
  enum class Kind : uint8_t { user, buffer_mutation, input_mutation, parameter_mutation, other };
  Kind kind = Kind::user;
  Argument argument;
  std::string target;  // fqn of the buffer, or name of the input
};

struct Weight {
  Tensor tensor;        // row-major; points into the archive where the archive holds it so
  std::string storage;  // equal for tied weights: path, dtype, sizes, strides, offset
  bool is_parameter = false;
};

struct Range {
  std::optional<int64_t> lo, hi;  // missing: unbounded
};

// An exported program as the archive holds it; nothing is interpreted but the encodings.
struct ExportedProgram {
  Graph graph;
  std::vector<InputSpec> inputs;            // one per input of the graph, same order
  std::vector<OutputSpec> outputs;          // one per output of the graph, same order
  std::vector<std::string> argument_names;  // of forward, in order; empty when the archive has none
  std::vector<std::string> input_paths;     // per user input: "x", "batch['ids']", "states[0]": its place in forward
  std::vector<std::string> output_paths;    // per user output: "", "[0]", "['logits']", ".last_hidden_state"
  std::map<std::string, Weight> weights;    // by fqn: parameters, buffers, lifted constants
  std::map<std::string, Range> ranges;      // by symbol
  std::vector<std::string> guards;          // guards_code
  std::string torch_version;
};

// The input (an index into `inputs`) that a guard calls `name`; nullopt when there is none. Guards have input_paths,
// but args[0] for the first of *args (args_0 there), and flat_args[2] for the third of all leaves in a strict export.
std::optional<size_t> input_named(const ExportedProgram& program, std::string_view name);

// Codes: zip.*, pt2.layout (an older or foreign layout; the hint says how to save it again), pt2.json, pt2.schema (a
// member is missing or has another type; the place is its path), pt2.weight, pt2.expression, pt2.size (more JSON than a
// file of this size needs), work.*. Memory beside the mapped file is bounded in proportion to its size.
Result<ExportedProgram> read_program(const ZipFile& file);

}  // namespace anyshape::pt2
