#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "anyshape/reason.h"
#include "base/box.h"
#include "base/special_members.h"
#include "ir/attribute.h"
#include "ir/fact.h"
#include "ir/op.h"

namespace anyshape {

using ValueId = uint32_t;
inline constexpr ValueId kNoValue = std::numeric_limits<ValueId>::max();

// One dim as a file declares it: a number, a name, or nothing.
struct DeclaredDim {
  std::optional<int64_t> value;
  std::string name;
};

// A type annotation of a file, on an input (a precondition), an output or an inner value (claims to be checked).
struct Declared {
  Fact::Kind kind = Fact::Kind::unknown;
  DType dtype = DType::undefined;
  std::optional<std::vector<DeclaredDim>> dims;
  std::shared_ptr<const Declared> item;  // sequence, optional, map value
};

struct Value {
  std::string name;
  Box<Declared> declared;
  std::shared_ptr<const Fact> constant;  // initialisers: the fact of the tensor; otherwise null
  uint32_t producer = kNoValue;  // index of the node that makes it; kNoValue for inputs, initialisers and captures
  bool is_initializer = false;
  // Its entries can reach a place where a rule reads entries (Port::value): worth folding.
  bool shape_relevant = false;
};

struct Node {
  std::string name;  // as in the file, possibly empty; label() is for people
  std::string domain, type;
  int64_t version = 0;                // of the domain, as imported where the node stands
  const OpDef* op = nullptr;          // null: no rule (opaque) or a local function
  std::shared_ptr<const Graph> body;  // of a call to a local function, its attributes put in
  std::vector<ValueId> in, out;       // kNoValue: absent
  std::vector<Attribute> attributes;
  Box<std::vector<std::pair<std::string, std::string>>> metadata;  // of nodes made here, not of those read

  ANYSHAPE_SPECIAL_MEMBERS(Node);
  const Attribute* attribute(std::string_view attribute_name) const;
  // The attribute, or where it is absent or of another type the default of the operator's signature, or 0.
  int64_t integer(std::string_view attribute_name) const;
  float real(std::string_view attribute_name) const;
  // The first that is not absent, or kNoValue.
  ValueId first_output() const;
  // Some attribute is a graph (If, Loop, Scan, ...).
  bool has_graph_attribute() const;
};

// Values and nodes by index, nodes in topological order. A body graph has its own values; what it takes from outside is
// listed in `captures`. Immutable once imported.
class Graph {
 public:
  struct Capture {
    ValueId outer, inner;
  };

  std::string name;
  std::string overload;  // of the local function whose body it is
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;  // those of the file that are no initialisers come first in `required_inputs`
  std::vector<ValueId> outputs;
  std::vector<Capture> captures;
  // What ONNX Runtime runs although the operators' texts do not promise it is refused.
  bool strict = false;
  // Of the file, as opposed to the rules of its nodes: what only ONNX Runtime and its like take.
  std::vector<Reason> leniencies;
  // Keeps the records that nodes point at; null: they live as long as the program.
  std::shared_ptr<const OpTable> ops;

  // The inputs that have no default value: what a caller must feed.
  std::vector<ValueId> required_inputs() const;
  std::optional<ValueId> find(std::string_view value_name) const;
  // The node's name, or `Type_12` with its index when it has none.
  std::string label(const Node& node) const;

  // Fills Value::producer and Value::shape_relevant. Called once, after the last node is in place.
  void finish();
};

// Calls visit with every graph that the node has as an attribute, alone or in a list.
template <class Visit>
void for_each_body(const Node& node, Visit visit) {
  for (const Attribute& attribute : node.attributes) {
    if (const auto* one = std::get_if<std::shared_ptr<Graph>>(&attribute.value)) visit(std::as_const(**one));
    if (const auto* many = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute.value))
      for (const auto& body : *many) visit(std::as_const(*body));
  }
}

// Puts replacement(body), a std::shared_ptr<Graph>, in the place of each of them.
template <class Replacement>
void replace_bodies(Node& node, Replacement replacement) {
  for (Attribute& attribute : node.attributes) {
    if (auto* one = std::get_if<std::shared_ptr<Graph>>(&attribute.value)) *one = replacement(std::as_const(**one));
    if (auto* many = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute.value))
      for (auto& body : *many) body = replacement(std::as_const(*body));
  }
}

}  // namespace anyshape
