#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "anyshape/any_value.h"
#include "anyshape/api.h"
#include "anyshape/error.h"
#include "anyshape/model.h"
#include "anyshape/reason.h"
#include "anyshape/report.h"

// The graph of a model with all that is known of it before it runs, for people who write tools. It is only read; values
// and nodes are numbers, from 0 on.
namespace anyshape {

struct GraphAttribute {
  // Bodies are GraphNode::bodies; types and sparse tensors are nothing here.
  using Value = std::variant<std::monostate, int64_t, float, std::string, AnyValue, std::vector<int64_t>,
                             std::vector<float>, std::vector<std::string>, std::vector<AnyValue>>;
  std::string name;
  Value value;
};

// A value of a graph. What is said of it is true at every shape the model accepts.
struct GraphValue {
  std::string name;
  ValueType type;  // dims as expressions of the symbols of the model's inputs
  // The entries of a small tensor of integers, bools or sizes, row-major, as expressions: what flows into a Reshape.
  std::optional<std::vector<std::string>> entries;
  bool constant = false;           // the same in every run: stored, or computed from such
  bool stored = false;             // an initializer of the file
  std::optional<size_t> producer;  // the node that makes it; none for inputs, initializers and captures
};

// A condition that a node demands, or a recorded one.
struct GraphRequirement {
  std::string text;            // "seq == 120"
  std::string path;            // it binds where this holds: the branches that lead to the node; empty: always
  Reason because;              // the node, and what it says
  std::optional<size_t> node;  // of the whole graph: this node, or the one that has it in its body
  bool on_data = false;        // on sizes that depend on data: no shape is refused for it
  bool opaque = false;    // no condition on the symbols says it, `text` only resembles it: a concrete shape decides
  bool recorded = false;  // whoever made the file wrote it down, no operator demands it
};

struct GraphNode;

// The graph of a model, or a body in it. Copies share the model. Not safe to use from several threads at once.
class ANYSHAPE_API GraphView {
 public:
  // Errors "work.*".
  static Result<GraphView> of(const Model& model);

  const std::string& name() const;
  size_t node_count() const;
  // In an order in which they can run. REQUIRES: index < node_count().
  GraphNode node(size_t index) const;
  size_t value_count() const;
  // REQUIRES: index < value_count().
  GraphValue value(size_t index) const;
  // The tensor that a constant is; nothing for other values, and where its entries are not kept. Only to be read.
  AnyValue constant(size_t index) const;
  std::optional<size_t> find(std::string_view value_name) const;
  // Of a model those that must be fed.
  std::vector<size_t> inputs() const;
  std::vector<size_t> outputs() const;
  // The nodes that read the value, bodies that capture it included.
  const std::vector<size_t>& consumers(size_t index) const;
  // Of a body: values of the graph around it, and what they are called here.
  std::vector<std::pair<size_t, size_t>> captures() const;
  // All that nodes demand, bodies included; accepted sets are made of these. Empty for a body.
  std::vector<GraphRequirement> requirements() const;

 private:
  struct Impl;
  explicit GraphView(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

struct GraphBody {
  std::string attribute;  // "then_branch"; empty for the body of a local function
  GraphView graph;
};

struct GraphNode {
  std::string name;                                    // as in the file, possibly empty
  std::string label;                                   // the name, or "Reshape_12"
  std::string domain, op;                              // "" is ai.onnx
  int64_t version = 0;                                 // of the domain, as the file imports it
  bool known = false;                                  // there is a rule for it
  std::vector<std::optional<size_t>> inputs, outputs;  // none: left out
  std::vector<GraphAttribute> attributes;              // as the file has them, without defaults
  std::vector<GraphBody> bodies;
};

}  // namespace anyshape
