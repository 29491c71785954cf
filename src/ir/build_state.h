#pragma once

#include <utility>

#include "ir/infer.h"
#include "ir/scopes.h"

namespace anyshape {

// A graph that is being made, as it stands: what is known of its values, and whether making it has failed.
//
// The first failure is kept (status()) and everything after it does nothing: values are absent, facts unknown. So a
// caller may write straight code and look at status() once.
class BuildState {
 public:
  explicit BuildState(Assumptions& assumptions) : assumptions_(assumptions), walk_(assumptions) {}
  BuildState(const BuildState&) = delete;
  BuildState& operator=(const BuildState&) = delete;

  const Status& status() const { return status_; }
  bool failed() const { return !status_.has_value(); }
  void fail(Error error);
  template <class... Args>
  void refuse(std::string_view code, fmt::format_string<Args...> text, Args&&... args) {
    fail(anyshape::refuse(code, text, std::forward<Args>(args)...).value());
  }
  // The error so far, taken out: building goes on as if the step that failed had not been tried.
  Error take_error();

  Assumptions& assumptions() const { return assumptions_; }
  Symbols& symbols() const { return assumptions_.symbols(); }
  Walk& walk() { return walk_; }
  bool proves(const Condition& condition) const { return assumptions_.proves(condition); }
  bool same(Dim a, Dim b) const { return a == b || proves(Condition::eq(a, b)); }

  const Fact& fact(Ref ref) const { return scopes_.fact(ref); }
  DType dtype(Ref ref) const { return fact(ref).dtype; }
  size_t rank(Ref ref) const;           // 0 where it is not known, and the builder has failed
  Dims dims(Ref ref) const;             // REQUIRES nothing: empty where not known
  Dim dim(Ref ref, size_t axis) const;  // unknown() beyond the rank
  // The value's sizes are these, said in another way than its rule does.
  void claim(Ref ref, const Dims& dims);
  // What the entries of a value are is not used any more: what is made from it stays a node.
  void forget_entries(Ref ref);
  // The value itself, where it is known.
  const Tensor* tensor(Ref ref) const;
  // The node that makes a value; null for inputs, initializers and values of outer scopes.
  const Node* producer(Ref ref) const { return scopes_.producer(ref); }
  // False for a value of a body that has ended.
  bool alive(Ref ref) const { return !ref || scopes_.find(ref.scope) != nullptr; }
  // Facts of the finished graph's values by id.
  const Facts& facts() const { return scopes_.root().facts; }

 protected:
  ~BuildState() = default;

  Assumptions& assumptions_;
  Walk walk_;
  Status status_;
  Scopes scopes_{"main_graph"};
};

}  // namespace anyshape
