#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/build_state.h"
#include "ir/graph.h"

namespace anyshape {

// Errors of what the opset in force has not; a later one may.
inline constexpr std::string_view kOpsetCode = "export.opset";

// Makes a graph node by node at one opset; the fact of every value is known as soon as it is there. Makes inputs,
// constants, nodes and bodies and knows no operator but Identity.
class GraphBuilder : public BuildState {
 public:
  GraphBuilder(const OpTable& ops, Assumptions& assumptions, int64_t opset);

  int64_t opset() const { return opset_; }
  // Nodes of this domain are written with that version.
  void import_domain(std::string_view domain, int64_t version) { domains_[std::string(domain)] = version; }
  const std::unordered_map<std::string, int64_t>& domains() const { return domains_; }
  // The operator as it would be made here; null where there is none.
  const OpDef* record(std::string_view domain, std::string_view type) const;

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

  // A body: nodes emitted from here on belong to it. What they read from outside is captured.
  void begin_body(std::string_view name, const std::vector<std::pair<std::string, Fact>>& inputs,
                  const Condition& path = Condition::always());
  Ref body_input(size_t i) const;
  std::shared_ptr<Graph> end_body(const Refs& outputs);

  // The graph with these outputs (an Identity where a value cannot carry the name) and without dead nodes.
  // REQUIRES: no body is open.
  Result<std::shared_ptr<Graph>> finish(const std::vector<std::pair<std::string, Ref>>& outputs);

 protected:
  ~GraphBuilder() = default;

 private:
  std::string node_name(std::string_view type);
  void admit(DType dtype);
  void refuse_type(std::string_view domain, std::string_view type);
  template <class Number>
  Ref rank_zero(Number value, DType dtype);
  Node new_node(std::string_view domain, std::string_view type);
  void connect(Node& node, const Refs& in, size_t outputs);
  Refs append(Node node, Facts* opaque);
  Refs folded(const Node& node, const Facts& facts);
  Ref identity(Ref ref);

  const OpTable& ops_;
  int64_t opset_;
  std::unordered_map<std::string, int64_t> domains_;
  std::unordered_map<std::string, Ref> shared_;
  std::string prefix_;
  std::vector<std::pair<std::string, std::string>> metadata_;
};

}  // namespace anyshape
