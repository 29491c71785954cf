#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "sym/assumptions.h"

namespace anyshape {

// A value of the graph that is being built, or of a body inside it. A default one is absent.
struct Ref {
  uint32_t scope = 0;
  ValueId id = kNoValue;

  explicit operator bool() const { return id != kNoValue; }
  friend bool operator==(const Ref&, const Ref&) = default;
};
using Refs = std::vector<Ref>;

// A graph that is being made and the bodies that are open inside it: values with names of their own, what is known of
// them, what bodies capture, and which values give sizes. Knows no operators.
class Scopes {
 public:
  struct SizeSource {
    Ref value;
    size_t axis = 0;
  };
  struct Scope {
    uint32_t id = 0;
    Graph graph;
    Facts facts;
    std::unordered_map<uint64_t, ValueId> captured;
    std::unordered_map<Dim, Ref> sizes;  // i64[1] made already
    std::unordered_map<Dim, SizeSource> axes;
    std::unordered_map<std::string, Refs> made;  // by what the node is
    std::unique_ptr<Assumptions::Scope> assumed;
  };

  explicit Scopes(std::string_view name) { open(name); }

  // The innermost body; the outermost graph.
  Scope& top() const { return *scopes_.back(); }
  Scope& root() const { return *scopes_.front(); }
  bool in_body() const { return scopes_.size() > 1; }
  // Null for a body that has ended.
  Scope* find(uint32_t id) const;
  Scope& open(std::string_view name);
  // Ends the innermost body. REQUIRES: in_body().
  void close() { scopes_.pop_back(); }

  // The name, or one like it that no value and no node has.
  std::string unique(std::string name);
  ValueId add_value(Scope& scope, std::string name, Fact fact);
  // The value's id in the innermost scope; captured on the way down where it is an outer one.
  ValueId resolve(Ref ref);

  const Fact& fact(Ref ref) const;  // unknown where the value is absent or gone
  // The node that makes a value; null for inputs, initializers and values of outer scopes.
  const Node* producer(Ref ref) const;
  const Refs* made_before(const std::string& text) const;

  // The axes of the value give their sizes, unless another value does.
  void note_sizes(Ref ref);
  std::optional<SizeSource> source_of(Dim dim) const;
  std::optional<Ref> known_size(Dim dim) const;
  void keep_size(Dim dim, Ref value) { top().sizes[dim] = value; }

 private:
  uint32_t next_scope_ = 0;
  std::vector<std::unique_ptr<Scope>> scopes_;
  std::unordered_map<std::string, int> taken_;
};

}  // namespace anyshape
