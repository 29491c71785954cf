#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "ir/infer.h"
#include "ir/scopes.h"

namespace anyshape {

Attribute attr(std::string_view name, int64_t value);
Attribute attr(std::string_view name, double value);
Attribute attr(std::string_view name, std::string_view value);
Attribute attr(std::string_view name, std::vector<int64_t> value);
Attribute attr(std::string_view name, std::vector<double> value);
Attribute attr(std::string_view name, Tensor value);
Attribute attr(std::string_view name, std::shared_ptr<Graph> value);
inline Attribute attr(std::string_view name, int value) { return attr(name, int64_t{value}); }
inline Attribute attr(std::string_view name, bool value) { return attr(name, int64_t{value}); }
inline Attribute attr(std::string_view name, const char* value) { return attr(name, std::string_view(value)); }

// Makes a graph node by node at one opset; the fact of every value is known as soon as it is there.
//
// The first failure is kept (status()) and everything after it does nothing: values are absent, facts unknown. So a
// caller may write straight code and look at status() once.
class Builder {
 public:
  Builder(const OpTable& ops, Assumptions& assumptions, int64_t opset);
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  int64_t opset() const { return opset_; }
  // Nodes of this domain are written with that version.
  void import_domain(std::string_view domain, int64_t version) { domains_[std::string(domain)] = version; }
  // The operator as it would be made here; null where there is none.
  const OpDef* record(std::string_view domain, std::string_view type) const;
  const std::unordered_map<std::string, int64_t>& domains() const { return domains_; }
  Assumptions& assumptions() const { return assumptions_; }
  Symbols& symbols() const { return assumptions_.symbols(); }
  Walk& walk() { return walk_; }

  const Status& status() const { return status_; }
  bool failed() const { return !status_.has_value(); }
  void fail(Error error);
  template <class... Args>
  void refuse(std::string_view code, fmt::format_string<Args...> text, Args&&... args) {
    fail(anyshape::refuse(code, text, std::forward<Args>(args)...).value());
  }
  // The error so far, taken out: building goes on as if the step that failed had not been tried.
  Error take_error();

  // Following nodes are called `prefix/Type` and carry this metadata.
  void set_place(std::string prefix, std::vector<std::pair<std::string, std::string>> metadata = {});

  Ref input(std::string_view name, Fact fact);
  // An initializer of the outermost graph. Small ones without a name are shared.
  Ref constant(Tensor tensor, std::string_view name = {});
  Ref ints(std::vector<int64_t> values);  // i64[n]
  Ref number(double value, DType dtype);  // rank 0
  Ref number(int64_t value) { return integer(value, DType::i64); }
  Ref integer(int64_t value, DType dtype);  // rank 0

  // A node of the record in force. What can be computed now becomes an initializer instead; what was computed already
  // is given again.
  Refs emit(std::string_view type, const Refs& in, std::vector<Attribute> attributes, size_t outputs,
            std::string_view domain = "");
  Ref op(std::string_view type, const Refs& in, std::vector<Attribute> attributes = {});

  // Outputs of an operator that has no rule here: their facts are as said.
  Refs emit_opaque(std::string_view domain, std::string_view type, const Refs& in, std::vector<Attribute> attributes,
                   Facts out);

  const Fact& fact(Ref ref) const { return scopes_.fact(ref); }
  DType dtype(Ref ref) const { return fact(ref).dtype; }
  size_t rank(Ref ref) const;           // 0 where it is not known, and the builder has failed
  Dims dims(Ref ref) const;             // REQUIRES nothing: empty where not known
  Dim dim(Ref ref, size_t axis) const;  // unknown() beyond the rank
  // The value's sizes are these, said in another way than its rule does.
  void claim(Ref ref, const Dims& dims);
  // False for a value of a body that has ended.
  bool alive(Ref ref) const { return !ref || scopes_.find(ref.scope) != nullptr; }
  // The value itself, where it is known.
  const Tensor* tensor(Ref ref) const;
  // The node that makes a value; null for inputs, initializers and values of outer scopes.
  const Node* producer(Ref ref) const { return scopes_.producer(ref); }
  bool proves(const Condition& condition) const { return assumptions_.proves(condition); }
  bool same(Dim a, Dim b) const { return a == b || proves(Condition::eq(a, b)); }

  // The forms that changed between opsets, in today's terms. Axes may be negative.
  Ref squeeze(Ref x, std::vector<int64_t> axes);
  Ref unsqueeze(Ref x, std::vector<int64_t> axes);
  // type: ReduceSum, ReduceMean, ReduceMax, ... No axes: over all.
  Ref reduce(std::string_view type, Ref x, std::vector<int64_t> axes, bool keepdims);
  Refs split(Ref x, int64_t axis, const Dims& sizes);
  // start and end as Python reads them; INT64_MAX is the end. step != 0.
  Ref slice(Ref x, int64_t axis, Dim start, Dim end, int64_t step = 1);
  // The same place on an axis of `size` entries, as a number where it is one from the front or from the end.
  Dim position(Dim at, Dim size) const;
  Ref transpose(Ref x, std::vector<int64_t> order);
  Ref concat(const Refs& parts, int64_t axis);
  Ref cast(Ref x, DType dtype);
  Ref gather(Ref x, Ref indices, int64_t axis);
  Ref clip(Ref x, Ref lo, Ref hi);  // either may be absent; rank 0, of x's type
  Ref pad(Ref x, const Dims& before_and_after, Ref value, std::string_view mode = "constant");
  Ref softmax(Ref x, int64_t axis, bool logarithm = false);
  std::pair<Ref, Ref> topk(Ref x, Dim k, int64_t axis, bool largest, bool sorted);

  // Sizes back to tensors; the only place where that is done.
  Ref size(Dim dim);                      // i64[1]
  Ref scalar(Dim dim);                    // i64[]
  Ref shape(const Dims& dims);            // i64[n]
  Ref truth(const Condition& condition);  // bool[]
  Ref reshape(Ref x, Dims target);        // one entry may be -1: what is left of the count
  Ref expand(Ref x, Dims target);
  Ref full(const Dims& dims, const Tensor& value);  // value has one element
  // True where some value gives the size, or has it as an axis: no arithmetic is needed.
  bool has_size(Dim dim) const { return scopes_.known_size(dim) || scopes_.source_of(dim); }
  // The symbol's value is this integer tensor of one entry.
  void define(Dim symbol, Ref value);

  // A body: nodes emitted from here on belong to it. What they read from outside is captured.
  void begin_body(std::string_view name, const std::vector<std::pair<std::string, Fact>>& inputs,
                  const Condition& path = Condition::always());
  Ref body_input(size_t i) const;
  std::shared_ptr<Graph> end_body(const Refs& outputs);

  // The graph with these outputs (an Identity where a value cannot carry the name) and without dead nodes.
  // REQUIRES: no body is open.
  Result<std::shared_ptr<Graph>> finish(const std::vector<std::pair<std::string, Ref>>& outputs);
  // Facts of the finished graph's values by id.
  const Facts& facts() const { return scopes_.root().facts; }

 private:
  std::string node_name(std::string_view type);
  void admit(DType dtype);
  Ref identity(Ref ref);
  std::string text_of(const Node& node, const Refs& in, size_t outputs) const;
  Ref turned_weight(Ref x);
  Refs folded(const Node& node, const Facts& facts);
  Node new_node(std::string_view domain, std::string_view type);
  void connect(Node& node, const Refs& in, size_t outputs);
  Refs append(Node node, Facts* opaque);
  template <class Number>
  Ref rank_zero(Number value, DType dtype);

  const OpTable& ops_;
  Assumptions& assumptions_;
  Walk walk_;
  int64_t opset_;
  Status status_;
  Scopes scopes_{"main_graph"};
  std::unordered_map<std::string, int64_t> domains_;
  std::unordered_map<std::string, Ref> shared_;
  std::string prefix_;
  std::vector<std::pair<std::string, std::string>> metadata_;
};

}  // namespace anyshape
