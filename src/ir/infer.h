#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "anyshape/reason.h"
#include "base/error.h"
#include "ir/call.h"
#include "ir/fact.h"
#include "ir/graph.h"
#include "sym/assumptions.h"

namespace anyshape {

class Walk;

// A condition some node puts on the symbols.
struct Requirement {
  Condition condition;
  Condition path;  // the branches that lead to the node; always outside of If
  std::string code, sentence;
  std::string node, op;
  bool on_data = false;  // mentions sizes that depend on input data: no refusal of a shape by itself
  bool opaque = false;   // cannot be written over the input symbols; decided by the numeric walk only
  bool in_body = false;  // `node` stands in a body, and its rule is asked whenever the body runs
  // Whoever made the file asks for it, no rule of the graph does: the numeric walk does not know it.
  bool recorded = false;
  // The first output of the node, or of the one of the whole graph that has the body.
  ValueId site = kNoValue;
};

// A node for which no rule could answer, and its site as in Requirement; kNoValue where it has no rule at all.
struct Doubt {
  Reason why;
  ValueId site = kNoValue;
};

// Narrow arithmetic on sizes (int32, float32) is claimed to be exact for axes up to the first of these that makes it
// so; the numeric walk has no such end.
inline constexpr int64_t kSizeClaim = 32767;
inline constexpr int64_t kSizeClaims[] = {1 << 24, 1 << 20, kSizeClaim};

// How a symbol came to be.
enum class SymbolKind { axis, data, opaque };

// What an `infer` rule may ask and say. Valid during one call of the rule.
class InferContext {
 public:
  InferContext(Walk& walk, const Graph& graph, const Node& node) : walk_(walk), graph_(graph), node_(node) {}

  Assumptions& assumptions() const;
  Symbols& symbols() const;

  // The operator is legal only where the condition holds. Refuted: the error to return. Not decided: it becomes a
  // requirement and later rules may rely on it.
  template <class... Args>
  Status require(const Condition& condition, RuleCode code, fmt::format_string<Args...> text, Args&&... args) {
    return require_text(condition, code, [&] { return fmt::format(text, std::forward<Args>(args)...); });
  }
  // The operator's text asks for the condition, ONNX Runtime gives a definite result without it. A strict() graph
  // requires it. Any other takes what ONNX Runtime takes, which is said where the condition does not hold: the rule
  // must give its sizes, then.
  template <class... Args>
  Status expect(const Condition& condition, std::string_view code, fmt::format_string<Args...> text, Args&&... args) {
    if (strict()) return require(condition, lenient(code), text, std::forward<Args>(args)...);
    if (decide(condition) == Tri::no) add_leniency(code, fmt::format(text, std::forward<Args>(args)...));
    return {};
  }
  bool strict() const { return graph_.strict; }
  bool proves(const Condition& condition) const { return assumptions().proves(condition); }
  // For rules that ask for more than ONNX Runtime does: the size they give where their condition holds. In a walk for
  // what is certain it is one nothing is known of, unless the condition is proved.
  Dim only_if(const Condition& condition, Dim size);
  // The walk is one for what is certain.
  bool certain() const;
  Dim simplify(Dim dim) const { return assumptions().simplify(dim); }

  // The value provably stays in lo..hi, at the latest when every axis is at most one of kSizeClaims; the report then
  // says that claims about this model end there.
  bool fits(Dim value, int64_t lo, int64_t hi) const;

  // A condition on entries that depend on input data: listed apart, never a refusal.
  template <class... Args>
  void data_condition(std::string_view code, fmt::format_string<Args...> text, Args&&... args) {
    add_data_condition(code, fmt::format(text, std::forward<Args>(args)...));
  }

  // A size nothing can be said about except lo <= it <= hi (hi missing: unbounded). `source` is the value it is read
  // from or computed from: where that is a function of shapes the symbol is opaque (the numeric walk knows it), else
  // data-dependent.
  Dim fresh(const Fact& source, std::string_view stem, Dim lo = 0, std::optional<Dim> hi = std::nullopt);
  // The same, data-dependent whatever the source.
  Dim data_dim(std::string_view stem, Dim lo = 0, std::optional<Dim> hi = std::nullopt);
  // What else is true of such sizes.
  void bound(const Condition& condition);

  // Rules of a body with these facts for its inputs; captured values are found by themselves. Requirements made inside
  // hold only where `path` does. An Error is returned, not recorded: the caller decides what a refused branch means.
  Result<Facts> infer_body(const Graph& body, Facts inputs, const Condition& path = Condition::always());

  // The same, and all that the rules inside say (requirements, conditions on data, doubts) is forgotten: for trying an
  // assumption about the inputs. `conditional` tells whether there was something that the rules required.
  Result<Facts> try_body(const Graph& body, Facts inputs, const Condition& path = Condition::always(),
                         bool* conditional = nullptr);

  // The number of any one iteration of a body, first..last. A requirement made inside that is linear in it is kept as
  // the requirement at both ends, so that it mentions no iteration. first <= last is taken for granted: ask for a
  // number inside an Assumptions::Scope, and let the path say that there is an iteration.
  Dim iteration(Dim first, Dim last);
  // The dim mentions a size that depends on input data.
  bool on_data(Dim dim) const;
  // How many sizes that depend on input data there are so far.
  size_t data_dims() const;
  // The dim mentions nothing but sizes of input axes.
  bool on_axes(Dim dim) const;

  // What follows is known only on either side of the condition (branches whose ranks differ): solve() may walk both
  // sides apart.
  void offer_split(const Condition& condition);
  // The operator means another thing where the condition does not hold, in empty tensors only, and that is to be told
  // apart: solve() walks both sides. Otherwise the rule refuses what is not plain. REQUIRES: can_tell_apart.
  void tell_apart(const Condition& plain);
  // False: that is to be told apart, but both sides cannot be walked. Only numbers tell then.
  bool can_tell_apart(const Condition& plain) const;

  // True in a walk over one concrete shape, where loops with known counts are iterated.
  bool numeric() const;
  // Trip counts up to this many are iterated one by one.
  int64_t loop_limit() const;
  // The numeric walk cannot go on: the verdict becomes unknown with this reason (the rule still returns facts).
  template <class... Args>
  void undecided(std::string_view code, fmt::format_string<Args...> text, Args&&... args) {
    add_undecided(code, fmt::format(text, std::forward<Args>(args)...));
  }

 private:
  template <class Text>
  Status require_text(const Condition& condition, RuleCode code, Text text) {
    const Tri answer = decide(condition);
    if (answer == Tri::yes) return {};
    return settle(answer, condition, code, text());
  }
  Tri decide(const Condition& condition) const;
  Status settle(Tri answer, const Condition& condition, RuleCode code, std::string sentence);
  Condition over_iterations(const Condition& condition) const;
  bool can_split(const Condition& condition) const;
  void add_data_condition(std::string_view code, std::string sentence);
  void add_leniency(std::string_view code, std::string sentence);
  void add_undecided(std::string_view code, std::string sentence);
  Reason reason(std::string_view code, std::string sentence) const;

  Walk& walk_;
  const Graph& graph_;
  const Node& node_;
};

// One pass of the rules over a graph: symbolic (input dims are symbols) or numeric (all are numbers).
class Walk {
 public:
  struct Options {
    bool numeric = false;
    int64_t fold_bytes = int64_t{16} << 20;         // of one node, inputs and outputs together
    int64_t fold_total_bytes = int64_t{256} << 20;  // of the walk
    int64_t loop_limit = 4096;
    int64_t node_limit = 5'000'000;  // node visits, bodies included
    int depth_limit = 64;            // nesting of bodies
    // What operators mean in empty tensors only.
    enum class Corners : uint8_t {
      refused,
      told_apart,  // by splits(), so that both sides are walked
      left_open,   // nothing is known of such a size
    } corners = Corners::refused;
    // Facts that hold wherever ONNX Runtime runs the model: no requirement is relied on by later rules, nor what a file
    // says of a value that no rule knows.
    bool certain = false;
  };
  using Reveal = std::map<const Graph*, Facts>;
  // A condition on axis symbols that a rule would like to have decided.
  struct Split {
    Condition condition;
    bool corner = false;  // what both sides say is put together
  };

  explicit Walk(Assumptions& assumptions) : Walk(assumptions, Options()) {}
  Walk(Assumptions& assumptions, Options options) : assumptions_(assumptions), options_(options) {}

  // The facts of all values of `graph` (by ValueId), given those of its required inputs in order. An error is the first
  // refusal, its place the node.
  Result<Facts> run(const Graph& graph, const Facts& inputs);

  // One node more of a graph that is being built: its outputs' facts are filled in. `facts` has one entry per value.
  Status add(const Graph& graph, const Node& node, Facts& facts);
  // A size that no input shape gives: read from data.
  Dim data_symbol(std::string_view stem, Dim lo, std::optional<Dim> hi);

  const std::vector<Requirement>& requirements() const { return requirements_; }
  // On the entries of inputs: "indices must be < 512".
  const std::vector<Reason>& data_conditions() const { return data_conditions_; }
  // Nodes that ONNX Runtime runs although the operator's text does not promise it.
  const std::vector<Reason>& leniencies() const { return leniencies_; }
  // Nodes for which no rule could answer; with any of them the verdict is unknown.
  const std::vector<Doubt>& undecided() const { return undecided_; }
  SymbolKind kind(Dim symbol) const;
  const std::unordered_map<Dim, SymbolKind>& kinds() const { return kinds_; }
  // What is known of the fresh symbols by themselves.
  const std::vector<Condition>& fresh_bounds() const { return fresh_bounds_; }
  // In the order met.
  const std::vector<Split>& splits() const { return splits_; }
  // Some rule asked for the corners of Options to be told apart.
  bool met_corners() const { return met_corners_; }
  // After a run that ended early: the facts up to the node at which it did, and that node of the graph, or the one that
  // has the body in which it did.
  const Facts& partial() const { return partial_; }
  const Node& ended_at() const { return *outermost_; }
  // Some claim relies on every axis being at most this; 0: none does.
  int64_t largest_axis() const { return largest_axis_; }
  // The facts of every body walked: what all visits have in common. Not kept by a numeric walk.
  const Reveal& bodies() const { return bodies_; }
  // Nodes inferred, those of bodies as often as they were.
  int64_t visits() const { return visits_; }

 private:
  friend class InferContext;
  friend Result<Facts> infer_node(const Graph&, const Node&, const std::vector<const Fact*>&);

  struct Iteration {
    Dim number, first, last;
  };

  Result<Facts> run_nodes(const Graph& graph, Facts facts);
  Status infer_node(const Graph& graph, const Node& node, Facts& facts);
  Result<Facts> call_rule(const Graph& graph, const Node& node, const Facts& facts);
  Result<Facts> call_rule(const Graph& graph, const Node& node, const std::vector<const Fact*>& in);
  Result<Facts> call_function(const Graph& graph, const Node& node, const Facts& facts);
  Status fold(const Graph& graph, const Node& node, const Facts& facts, Facts& out);
  void settle_output(Fact& fact);
  Fact opaque_output(const Graph& graph, const Node& node, size_t i);
  Dim add_symbol(std::string_view stem, SymbolKind kind, Dim lo, std::optional<Dim> hi);
  void add_bound(const Condition& bound, const Condition& unless = Condition::never());
  Facts seed(const Graph& body, Facts inputs);
  void reveal(const Graph& body, Facts facts);
  void leave_to_numbers(const Graph& graph, const Node& node, const std::vector<const Fact*>& in, size_t requirements,
                        size_t conditions);

  Assumptions& assumptions_;
  Options options_;
  std::vector<Requirement> requirements_;
  std::vector<Reason> data_conditions_, leniencies_;
  std::vector<Doubt> undecided_;
  std::unordered_map<Dim, SymbolKind> kinds_;
  // Symbols of data that a concrete shape may pin all the same, being made of sizes, too.
  std::unordered_set<Dim> mixed_;
  std::vector<Iteration> iterations_;
  std::vector<Condition> path_, fresh_bounds_;
  std::vector<Split> splits_;
  bool met_corners_ = false;
  Facts partial_;
  std::vector<std::pair<const Graph*, const Facts*>> frames_;
  const Node* outermost_ = nullptr;  // the node of the whole graph that is being inferred
  Reveal bodies_;
  int64_t folded_bytes_ = 0, visits_ = 0;
  int64_t largest_axis_ = 0;
  int64_t unproved_ = 0;  // conditions that a walk for what is certain went by
  size_t data_dims_ = 0;
};

// The rule of one node with these facts for its inputs, outside of any walk. Sizes in the answer that are no numbers
// belong to no Symbols that live on: only numbers may be read. REQUIRES: the node has a rule and no body.
Result<Facts> infer_node(const Graph& graph, const Node& node, const std::vector<const Fact*>& in);

}  // namespace anyshape
