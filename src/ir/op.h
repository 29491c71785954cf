#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ir/attribute_def.h"
#include "ir/fact.h"
#include "tensor/datum.h"

namespace anyshape {

class Call;
class Graph;
class InferContext;

// One input or output of an operator.
struct Port {
  enum Flags : uint8_t {
    none = 0,
    optional = 1,  // may be absent or named ""
    variadic = 2,  // last port only: any number, at least one unless also optional
    value = 4,     // the rule reads the entries, not only dtype and dims
    settled = 8,   // with value: of entries it does not see the rule says by itself what they must fulfil, if anything
  };
  std::string_view name;
  uint8_t flags = none;
};

struct Signature {
  std::span<const Port> in;
  std::span<const Port> out;
  std::string_view doc;  // one line for the operator table in docs/
  // All that a rule, a kernel or a pass may ask a node of this operator for, with the only statement of each default.
  std::span<const AttributeDef> attributes = {};
};

// Runs a body of a node (If, Loop, ...); what the body captures is found by itself.
class BodyRunner {
 public:
  virtual ~BodyRunner() = default;
  virtual Result<std::vector<Datum>> run(const Graph& body, std::vector<Datum> inputs) = 0;
  // The same by reference kernels, every node of the file included: refused where one of them is.
  virtual Result<std::vector<Datum>> run_whole(const Graph& body, std::vector<Datum> inputs) {
    return run(body, std::move(inputs));
  }
};

// What a reference kernel works on: dense tensors (or sequences, optionals, maps), aligned for their type.
struct KernelArgs {
  std::span<const Datum> inputs;  // one per input of the node; none: absent
  // Tensors allocated and zero-filled with infer's dtype and dims where these are numbers; otherwise none, and the
  // kernel sets it (sizes that depend on data, containers).
  std::span<Datum> outputs;
  BodyRunner* bodies = nullptr;  // of operators with bodies: always there
  uint64_t seed = 0;             // of random operators that have no seed of their own; another one at each run

  // An empty Tensor when absent or no tensor.
  const Tensor& in(size_t i) const;
  Tensor& out(size_t i) const { return outputs[i].tensor(); }
};

// The plain form of a kernel: slow, obviously right, every element type of the operator.
struct Kernel {
  std::string_view name;  // the last kernel of an operator is "reference"
  Status (*run)(const Call&, KernelArgs&);
};

// An output that is a window on input 0: no kernel runs.
struct ViewRule {
  // Same elements in the same order (Reshape): the input must be dense. Otherwise element [i...] of the output is
  // element [start + i*step ...] of the input, where axis k of the output walks axis `axis[k]` of the input.
  bool reshape = false;
  std::vector<size_t> axis;  // kNewAxis: no axis of the input
  Dims start;                // per axis of the input
  std::vector<int64_t> step;

  static constexpr size_t kNewAxis = ~size_t{0};
};

// What an operator means from opset `since` on, until the next record of the same name. What an engine can do with it
// is the engine's (engine/target).
struct OpDef {
  std::string_view name;
  int since = 1;
  std::string_view domain = "";  // "" is ai.onnx
  Signature sig;
  // The only statement of the rule: dtype, dims and known entries of every output, every legality condition as a
  // requirement.
  Result<Facts> (*infer)(const Call&, InferContext&) = nullptr;
  std::span<const Kernel> kernels = {};  // reference last
  // The outputs as windows on input 0, or an empty list where that cannot be said. `out`: what infer gave.
  std::vector<ViewRule> (*view)(const Call&, const Facts& out) = nullptr;
  // The output values depend on the shapes of the inputs only, never on their entries (Shape, Size).
  bool reads_shapes_only = false;
  // Deterministic function of its inputs. False for random operators: never folded, value depends on data.
  bool pure = true;
};

// Records sorted by domain, name and `since`, above those of another table. Immutable. The records, and the table
// below, are the caller's to keep.
class OpTable {
 public:
  OpTable() = default;
  explicit OpTable(std::span<const OpDef* const> records, const OpTable* below = nullptr)
      : records_(records), below_(below) {}
  // The record in force at that version of the domain, or null. An operator that is here is not looked for below.
  const OpDef* find(std::string_view domain, std::string_view name, int64_t version) const;
  std::span<const OpDef* const> records() const { return records_; }

 private:
  std::span<const OpDef* const> records_;
  const OpTable* below_ = nullptr;
};

}  // namespace anyshape
