#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "lower/captured_sizes.h"
#include "lower/memory.h"
#include "lower/request.h"
#include "lower/stand_ins.h"

namespace anyshape::lower {

// The numbers of c10::ScalarType, which TorchScript sources use. nullopt: ONNX has no such type.
std::optional<DType> c10_dtype(int64_t code);

// One ATen operator. `name` is "add" for all overloads, or "max.dim" for one.
struct AtenOp {
  std::string_view name;
  // One result, or a list of results where the schema gives several.
  Arg (*lower)(Lowering&, const Args&);
  // The results share the memory of argument 0: what is written into result `index` is put back by
  // put(lowering, args, value of argument 0, new value of the result, index). Null: the results are new tensors.
  Ref (*put)(Lowering&, const Args&, Ref self, Ref part, size_t index) = nullptr;
  bool reorders = false;          // the results are not contiguous (transpose, slice, expand)
  bool copies_reordered = false;  // shares memory only where argument 0 is contiguous (reshape, contiguous)
  // With put: whether this call's result shares memory at all. Null: it does.
  bool (*shares)(const Args&, Ref self, Ref result) = nullptr;
  // The argument that names the axis a block is cut from: the block of a contiguous tensor is contiguous when all axes
  // in front have one entry.
  std::string_view cuts = "";
  bool nested = false;  // takes nested tensors
};

// The record of "name.overload", else of "name"; null where there is none.
const AtenOp* find_aten(std::string_view name, std::string_view overload);
// All records, sorted by name.
const std::vector<AtenOp>& all_aten();

struct LoweringOptions {
  bool training = false;                                      // keep dropout and batch statistics
  std::vector<std::pair<std::string, int64_t>> domains = {};  // versions of domains of extensions
  bool open_weights = false;  // weights become inputs, so that nothing is computed from them

  static LoweringOptions of(const Request& request) {
    return {.training = request.training, .domains = request.custom_opsets, .open_weights = request.open_weights};
  }
};

// ATen over a Builder: calls by name with Python's meaning. `l->x()` is the Builder's and builds what it says; `l.x()`
// does what PyTorch would, in types for which ONNX Runtime has kernels.
class Lowering {
 public:
  Lowering(const OpTable& ops, Assumptions& assumptions, int64_t opset, LoweringOptions options = {});
  Lowering(const Lowering&) = delete;
  Lowering& operator=(const Lowering&) = delete;

  Builder* operator->() { return &builder_; }
  const Builder* operator->() const { return &builder_; }
  Memory& memory() { return memory_; }
  CapturedSizes& captured() { return captured_; }
  ComplexTensors& complex() { return complex_; }
  NestedTensors& nested() { return nested_; }
  PackedSequences& packed() { return packed_; }
  QuantizedTensors& quantized() { return quantized_; }
  const LoweringOptions& options() const { return options_; }

  // As the Builder's. Where ONNX Runtime has no kernel for the type of the operands they are computed in the nearest
  // type for which there is one, and the result is cast back.
  Ref op(std::string_view type, const Refs& in, std::vector<Attribute> attributes = {});
  Ref reduce(std::string_view type, Ref x, std::vector<int64_t> axes, bool keepdims);
  Ref softmax(Ref x, int64_t axis, bool logarithm = false);
  Ref clip(Ref x, Ref lo, Ref hi);
  std::pair<Ref, Ref> topk(Ref x, Dim k, int64_t axis, bool largest, bool sorted);
  // The type in which a node of this type is computed on operands of `dtype`: `dtype` itself where there is a kernel.
  DType kernel_type(std::string_view type, DType dtype) const;

  // aten::name.overload. An empty overload is found by the types of the arguments, as PyTorch does. The result is one
  // Arg, or a list where the schema has several results. On failure status() says why and the result is None.
  Arg call(std::string_view name, std::string_view overload, Arguments positional, std::vector<NamedArg> keywords = {});
  // True when some record lowers it.
  static bool knows(std::string_view name, std::string_view overload);

  // As the Builder's, of tensors that may be complex.
  Ref input(std::string_view name, Fact fact);
  // A parameter or buffer of the program.
  Ref weight(const Tensor& tensor, std::string_view name);
  // Those that became inputs, by the names of these.
  const std::map<std::string, OpenedWeight>& opened() const { return opened_; }
  Result<std::shared_ptr<Graph>> finish(std::vector<std::pair<std::string, Ref>> outputs);

  // The value of a tensor argument; absent for anything else.
  Ref ref(const Arg& arg);
  // What is exported is right only where this holds; `why` says what PyTorch does elsewhere.
  void assume(const Condition& condition, std::string_view why);
  struct Assumed {
    Condition condition;
    std::string why;
  };
  const std::vector<Assumed>& assumed() const { return assumed_; }
  // The one entry of an integer tensor as a size: an expression where it is known, else a new symbol.
  Dim item(Ref tensor);

  // The same tensor, which cannot be computed where the condition does not hold, in any runtime.
  Ref guarded(Ref x, const Condition& condition);

  // PyTorch's rules for mixed types. The operands as tensors of one type.
  DType common_type(const std::vector<const Arg*>& operands);
  std::pair<Ref, Ref> promoted(const Args& args, std::string_view a, std::string_view b);
  // A number as a tensor of rank 0 of that type; a tensor is cast.
  Ref operand(const Arg& arg, DType dtype);
  // Integers and bools become the default float type, others stay.
  Ref as_float(Ref x);
  DType float_type(DType dtype) const { return is_float(dtype) || is_complex(dtype) ? dtype : DType::f32; }
  static bool is_complex(DType dtype) { return dtype == DType::c64 || dtype == DType::c128; }

  // `axis` counted from the front; out of range: refused, and 0. A tensor of rank 0 has axes 0 and -1.
  int64_t axis(Ref x, int64_t axis);
  std::vector<int64_t> axes(Ref x, std::vector<int64_t> axes);  // empty: all axes
  // Refused where the rank is not known or not in lo..hi.
  bool need_rank(Ref x, size_t lo, size_t hi);

 private:
  Builder builder_;
  LoweringOptions options_;
  Memory memory_{*this};
  CapturedSizes captured_;
  ComplexTensors complex_{*this};
  NestedTensors nested_;
  PackedSequences packed_;
  QuantizedTensors quantized_{*this};
  std::vector<Assumed> assumed_;
  int calls_ = 0;  // of records, under way
  std::map<std::string, OpenedWeight> opened_;
};

}  // namespace anyshape::lower
