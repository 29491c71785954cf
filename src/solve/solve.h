#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/graph.h"
#include "ir/infer.h"
#include "sym/assumptions.h"

namespace anyshape {

// One axis of one input.
struct InputAxis {
  std::string input;
  size_t axis = 0;
};

// A symbol of the accepted set and the input axes it names.
struct AxisSymbol {
  Dim symbol;
  std::string name;
  std::vector<InputAxis> axes;
  bool anonymous = false;  // the file gives no usable name; it is called `x.0` after its first axis
};

// The facts about a model with its input dims as symbols. Immutable; only solve() makes one.
class Typed {
 public:
  const Graph& graph() const { return *graph_; }
  const std::shared_ptr<const Graph>& shared_graph() const { return graph_; }
  Symbols& symbols() const { return *symbols_; }
  const std::vector<AxisSymbol>& axes() const { return axes_; }
  // The input's dims as the symbolic walk saw them; nullopt where the file declares no rank.
  const Facts& input_facts() const { return input_facts_; }  // in order of graph().required_inputs()
  // By ValueId; shorter knowledge (kind unknown) for what was not reached when the model is refused.
  const Facts& facts() const { return facts_; }
  const Walk::Reveal& bodies() const { return bodies_; }
  const std::vector<Requirement>& requirements() const { return requirements_; }
  // On the entries of inputs: "indices must be < 512".
  const std::vector<Reason>& data_conditions() const { return data_conditions_; }
  // What ONNX Runtime runs although the format or an operator's text does not promise it.
  const std::vector<Reason>& leniencies() const { return leniencies_; }
  // Nodes for which no rule could answer.
  const std::vector<Reason>& undecided() const { return undecided_; }
  // First outputs of the nodes of the graph that are such, or have such in a body: their rules are left to every run.
  const std::unordered_set<ValueId>& unanswered() const { return unanswered_; }
  // Set when no shape at all is accepted: the rule that refuses.
  const std::optional<Error>& refusal() const { return refusal_; }
  // Its node of the graph, or the one that has the body it stands in. REQUIRES: refusal().
  const Reason& refused_by() const { return refused_by_; }
  // The work budget was spent before the last node: where. Null: it was not.
  const Reason* cut_short() const;
  SymbolKind kind(Dim symbol) const;
  const std::unordered_map<Dim, SymbolKind>& kinds() const { return kinds_; }
  // The claims end at axes of this size; 0: they do not.
  int64_t largest_axis() const { return largest_axis_; }
  // Solved without SolveOptions::corners it would not be the same.
  bool has_corners() const { return has_corners_; }
  // What is known of the sizes that are no axes by themselves, given the axes.
  const std::vector<Condition>& fresh_bounds() const { return fresh_bounds_; }
  // Axis symbols are >= 0, fresh symbols within their bounds; no requirement is assumed.
  std::unique_ptr<Assumptions> ground() const;

 private:
  friend class Solver;

  std::shared_ptr<const Graph> graph_;
  std::shared_ptr<Symbols> symbols_;
  std::vector<AxisSymbol> axes_;
  Facts input_facts_, facts_;
  Walk::Reveal bodies_;
  std::vector<Requirement> requirements_;
  std::vector<Reason> data_conditions_, leniencies_, undecided_;
  std::unordered_set<ValueId> unanswered_;
  std::vector<Condition> fresh_bounds_;
  std::unordered_map<Dim, SymbolKind> kinds_;
  std::optional<Error> refusal_;
  Reason refused_by_;
  int64_t largest_axis_ = 0;
  bool has_corners_ = false;
};

struct SolveOptions {
  // What operators mean in empty tensors only is told apart, case by case. False: it is refused, for those who have
  // another way where the plain meaning ends.
  bool corners = true;
  // Only what holds at every shape ONNX Runtime runs the model at: equal names make no equal sizes, no requirement of
  // one node is relied on at another. What is concluded from it is right wherever the model gives an answer.
  bool certain = false;
};

// Within a work budget (solve/budget.h): past it, what is known so far, and undecided() says so.
Typed solve(std::shared_ptr<const Graph> graph, const SolveOptions& options = {});
// The same as part of a larger work, whose Effort it counts to.
Typed solve_part(std::shared_ptr<const Graph> graph, const SolveOptions& options = {});

// True for "", "?", "unk__12", "DynamicDimension.0", "-1", expressions and the like: a label, not a name.
bool is_placeholder_name(std::string_view name);

}  // namespace anyshape
