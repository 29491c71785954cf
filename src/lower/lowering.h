#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/builder.h"
#include "lower/argument.h"
#include "lower/schema.h"

namespace anyshape::lower {

class Lowering;
struct Variable;

// The numbers of c10::ScalarType, which TorchScript sources use. nullopt: ONNX has no such type.
std::optional<DType> c10_dtype(int64_t code);

// The arguments of one call, in the order and under the names of the schema; what was left out has its default.
// Accessors never fail: an argument that is of no use as the kind asked for makes the call refused, and a harmless
// value is given. Names that the schema lacks count as left out.
class Args {
 public:
  Args(Lowering& lowering, Schema schema, Arguments values)
      : lowering_(&lowering), schema_(std::move(schema)), values_(std::move(values)) {}

  const Schema& schema() const { return schema_; }
  const Arg& arg(std::string_view name) const;  // None where there is none
  Arg& arg_at(size_t i) { return values_[i]; }
  // Puts the present value of each tensor of the program in its place.
  void read_tensors();
  // The tensor of the program that was handed over: what an operator with side effects writes into. Null for others.
  Var variable(std::string_view name) const;
  // All tensors of the program among the arguments, but for those in lists.
  std::vector<Var> variables() const;
  Var self_variable() const { return variables_.empty() ? nullptr : variables_[0].lock(); }
  size_t size() const { return values_.size(); }
  bool has(std::string_view name) const { return !arg(name).is_none(); }
  bool is_tensor(std::string_view name) const { return arg(name).is_tensor(); }

  // Absent where the argument is None. A number becomes a constant of rank 0 (i64, f32 or bool).
  Ref tensor(std::string_view name) const;
  Ref self() const;                                              // the first argument
  Refs tensors(std::string_view name) const;                     // Tensor[], Tensor?[]: absent entries stay absent
  int64_t i(std::string_view name, int64_t fallback = 0) const;  // a number known now
  std::vector<int64_t> ints(std::string_view name) const;        // int[k]: repeated to k
  Dim dim(std::string_view name, Dim fallback = 0) const;        // may be symbolic
  Dims dims(std::string_view name) const;
  double f(std::string_view name, double fallback = 0) const;
  std::vector<double> floats(std::string_view name) const;
  bool flag(std::string_view name, bool fallback = false) const;
  std::string s(std::string_view name, std::string_view fallback = "") const;
  std::optional<DType> dtype(std::string_view name) const;

  // The same call with another tensor in the first place.
  Args with_self(Ref value) const;

 private:
  Lowering* lowering_;
  Schema schema_;
  Arguments values_;
  std::vector<std::weak_ptr<Variable>> variables_;  // per argument; empty: no tensor of the program
};

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

// How a tensor of the program got its memory.
struct Variable {
  Ref value;
  Var base;  // null: memory of its own
  const AtenOp* view = nullptr;
  std::shared_ptr<const Args> args;  // of the view
  size_t index = 0;                  // which result of the view
  uint64_t seen = 0;                 // writes of the root when `value` was computed
  uint64_t writes = 0;               // of a root: how often its memory changed
  bool contiguous = true;
  bool ordered = true;         // of a root: its memory is known to be in the order of its axes, but for `layout`
  std::optional<Dims> layout;  // of a root: its strides where they are others
  std::string name;            // of a parameter, buffer or input
  std::vector<std::weak_ptr<Variable>> views;
};

struct LoweringOptions {
  bool training = false;  // keep dropout and batch statistics
};

// A Builder that understands ATen: calls by name with Python's meaning, tensors that can be written in place.
class Lowering : public Builder {
 public:
  Lowering(const OpTable& ops, Assumptions& assumptions, int64_t opset, LoweringOptions options = {});

  const LoweringOptions& options() const { return options_; }
  // Sizes of the example (symbol, number) that the exported model must not depend on. Numbers in calls that are such a
  // size, or are computed from one, are suspects: nothing in the graph tells them from numbers that mean something
  // else.
  void watch(std::vector<std::pair<Dim, int64_t>> sizes);
  // One sentence for each.
  const std::vector<std::string>& suspects() const { return suspects_; }
  // Axes whose entries were all taken out by their number, a sentence each: loops that the capture has unrolled.
  const std::vector<std::string>& unrolled() const { return unrolled_; }

  // As Builder's. Where ONNX Runtime has no kernel for the type of the operands they are computed in the nearest type
  // for which there is one, and the result is cast back.
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

  // ONNX computes with no complex numbers. A complex tensor of the program has the sizes and the type it has in
  // PyTorch, but stands for two real tensors that are there in its place; of inputs and outputs for one with a last
  // axis of (real, imaginary).
  Ref complex_of(Ref real, Ref imaginary);
  Ref complex_of_pairs(Ref pairs);
  Ref pairs_of(Ref complex);
  // Of a real tensor: itself and zeros.
  std::pair<Ref, Ref> parts_of(Ref x);
  // A nested tensor stands here as its padded form, [batch, longest, ...], which nothing else is: `mask`, bool[batch,
  // longest], says which entries it has.
  Ref nested_of(Ref padded, Ref mask);
  Ref nested_mask(Ref x) const;  // absent for an ordinary tensor
  Ref input(std::string_view name, Fact fact);
  Result<std::shared_ptr<Graph>> finish(std::vector<std::pair<std::string, Ref>> outputs);

  Var variable(Ref value, std::string name = {});
  // The tensor's present value; absent for an absent one.
  Ref read(const Var& variable);
  // In-place assignment: the value is cast and expanded to what the variable is.
  void write(const Var& variable, Ref value);
  // How far apart in memory the entries along each axis are in PyTorch, which decides what as_strided reads; nullopt
  // where that is not known.
  std::optional<Dims> strides(const Var& variable);
  // Whether a number given as a stride is likely one of the example: the tensor's own stride depends on a watched size.
  bool is_baked(Dim given, Dim own) const;
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
  std::optional<Args> find_overload(std::string_view name, std::string_view overload, const Arguments& positional,
                                    const std::vector<NamedArg>& keywords);
  std::optional<Args> bind(const Schema& schema, const Arguments& positional, const std::vector<NamedArg>& keywords,
                           bool lenient, std::string& why);
  std::optional<Arg> fitted(const Arg& given, const Parameter& parameter, bool lenient);
  std::optional<Arg> fitted_item(const Arg& given, const Parameter& parameter, bool lenient);
  std::optional<Arg> number_in(const Arg& tensor, Parameter::Type wanted);
  void make_view(const Var& made, const Var& base, const AtenOp& op, const std::shared_ptr<const Args>& args,
                 size_t index);
  void view_in_place(const Var& self, const AtenOp& op, const std::shared_ptr<const Args>& args, Ref value);
  bool stays_contiguous(const AtenOp& op, const Args& args);
  std::optional<Dims> strides_of_view(const AtenOp& op, const Args& args, Ref from, const Dims& strides, Ref to);
  std::vector<int64_t> order_of_view(const AtenOp& op, const Args& args, size_t rank);
  void note_order(const Var& made, const Args& args, const AtenOp& op, const Var& self);
  Arg to_variables(const AtenOp& op, const std::shared_ptr<const Args>& args, const Var& self, const Arg& result);

  void look_for_sizes(const Args& args);
  bool takes_nested(const Args& args);

  struct Parts {
    Ref pairs, real, imaginary;
  };
  Parts* parts_behind(Ref complex);

  LoweringOptions options_;
  std::unordered_map<uint64_t, Parts> complex_;
  std::vector<std::pair<Ref, Ref>> nested_;  // padded form, mask
  std::vector<Assumed> assumed_;
  std::vector<std::pair<Dim, int64_t>> watched_;
  std::vector<std::set<int64_t>> picked_;  // which entries of each were taken out by their number
  std::vector<std::string> suspects_, unrolled_;
};

}  // namespace anyshape::lower
