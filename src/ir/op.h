#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ir/fact.h"
#include "tensor/tensor.h"

namespace anyshape {

class Call;
class InferContext;

// One input or output of an operator.
struct Port {
  enum Flags : uint8_t {
    none = 0,
    optional = 1,  // may be absent or named ""
    variadic = 2,  // last port only: any number, at least one unless also optional
    value = 4,     // the rule reads the entries, not only dtype and dims
  };
  std::string_view name;
  uint8_t flags = none;
};

struct Signature {
  std::span<const Port> in;
  std::span<const Port> out;
  std::string_view doc;  // one line for the operator table in docs/
};

// What a kernel works on. `in` has one entry per input of the node; an absent one converts to false.
struct KernelArgs {
  std::span<const Tensor> in;
  // Allocated and zero-filled with infer's dtype and dims where these are numbers; otherwise an empty Tensor that the
  // kernel sets itself (sizes that depend on data).
  std::vector<Tensor> out;
};

struct Kernel {
  std::string_view name;  // the last kernel of an operator is "reference"
  Status (*run)(const Call&, KernelArgs&);
};

// Everything the project knows about one operator from opset `since` on, until the next record of the same name.
struct OpDef {
  std::string_view name;
  int since = 1;
  std::string_view domain = "";  // "" is ai.onnx
  Signature sig;
  // The only statement of the rule: dtype, dims and known entries of every output, every legality condition as a
  // requirement.
  Result<Facts> (*infer)(const Call&, InferContext&) = nullptr;
  std::span<const Kernel> kernels = {};  // best first, reference last
  // The output values depend on the shapes of the inputs only, never on their entries (Shape, Size).
  bool reads_shapes_only = false;
  // Deterministic function of its inputs. False for random operators: never folded, value depends on data.
  bool pure = true;
};

// The sorted list of all records. Immutable; one per program.
class OpTable {
 public:
  explicit OpTable(std::span<const OpDef* const> records) : records_(records) {}
  // The record in force at that version of the domain, or null.
  const OpDef* find(std::string_view domain, std::string_view name, int64_t version) const;
  std::span<const OpDef* const> records() const { return records_; }

 private:
  std::span<const OpDef* const> records_;
};

}  // namespace anyshape
