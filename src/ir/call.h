#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ir/fact.h"
#include "ir/graph.h"

namespace anyshape {

// One node as its rule and its kernels see it: facts of the inputs, typed attributes, the opset version in force.
class Call {
 public:
  Call(const Node& node, std::string_view label, std::span<const Fact* const> in)
      : node_(node), op_(node.op), label_(label), in_(in), version_(node.version) {}
  // The same node seen as another operator of that version, with these inputs. REQUIRES: `call` outlives it.
  Call(const Call& call, const OpDef& op, int64_t version, std::span<const Fact* const> in)
      : node_(call.node_), op_(&op), label_(call.label_), in_(in), version_(version), outer_(&call) {}

  const Node& node() const { return node_; }
  std::string_view label() const { return label_; }
  std::string_view type() const { return node_.type; }
  const OpDef* op() const { return op_; }
  int64_t version() const { return version_; }

  size_t inputs() const { return in_.size(); }
  size_t outputs() const { return node_.out.size(); }
  bool has(size_t i) const { return i < in_.size() && in_[i] != nullptr; }
  bool has_output(size_t i) const { return i < node_.out.size() && node_.out[i] != kNoValue; }
  // REQUIRES: has(i).
  const Fact& in(size_t i) const { return *in_[i]; }
  // The dims of input i, or the "unknown" error when its rank is not known. REQUIRES: has(i).
  Result<Dims> dims(size_t i) const;

  // Attributes. An attribute of another type than asked for makes the node refused. REQUIRES, of all but given():
  // the operator's signature lists the attribute.
  bool has_attr(std::string_view name) const;
  // Without one: the default of the signature; 0 or "" where it has none.
  int64_t i(std::string_view name) const { return value_or_default<int64_t>(name); }
  float f(std::string_view name) const { return value_or_default<float>(name); }
  std::string_view s(std::string_view name) const;
  std::span<const int64_t> ints_or_default(std::string_view name) const;
  // nullptr when absent.
  const std::vector<int64_t>* ints(std::string_view name) const;
  const std::vector<float>* floats(std::string_view name) const;
  const std::vector<std::string>* strings(std::string_view name) const;
  const Tensor* tensor(std::string_view name) const;
  const SparseTensor* sparse(std::string_view name) const;
  const Graph* graph(std::string_view name) const;
  const Fact* type_attr(std::string_view name) const;
  // An attribute that not every operator of a family has; nullptr when absent or of another type.
  template <class T>
  const T* given(std::string_view name) const;
  // The name of an attribute that had another type than asked for.
  std::string_view mistyped() const { return mistyped_; }

 private:
  const AttributeDef& listed(std::string_view name) const;
  template <class T>
  const T* get(std::string_view name) const;
  template <class T>
  const T* get_boxed(std::string_view name) const;
  template <class T>
  T value_or_default(std::string_view name) const;

  const Node& node_;
  const OpDef* op_;
  std::string_view label_;
  std::span<const Fact* const> in_;
  int64_t version_;
  const Call* outer_ = nullptr;
  mutable std::string_view mistyped_;
};

// The outputs of the operator's reference kernel; `out` are the facts infer gave for these inputs. Errors: the
// kernel's, "tensor.memory". REQUIRES: the operator has a kernel; one with bodies gets a runner.
Result<std::vector<Datum>> run_reference(const Call& call, const std::vector<Datum>& in, const Facts& out,
                                         BodyRunner* bodies = nullptr, uint64_t seed = 0);

}  // namespace anyshape
