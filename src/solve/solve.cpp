#include "solve/solve.h"

#include <algorithm>

#include "base/among.h"
#include "base/effort.h"
#include "solve/axes.h"
#include "solve/budget.h"
#include "solve/fresh_sizes.h"

namespace anyshape {

SymbolKind Typed::kind(Dim symbol) const { return FreshSizes{kinds_, fresh_bounds_}.kind(symbol); }

const Reason* Typed::cut_short() const {
  const auto is_budget = [](const Reason& r) { return r.code == kBudgetCode; };
  const auto it = std::find_if(undecided_.begin(), undecided_.end(), is_budget);
  return it == undecided_.end() ? nullptr : &*it;
}

std::unique_ptr<Assumptions> Typed::ground() const {
  auto assumptions = std::make_unique<Assumptions>(*symbols_);
  for (const AxisSymbol& axis : axes_) assumptions->assume(Condition::ge(axis.symbol, 0));
  for (const Condition& bound : fresh_bounds_) assumptions->assume(bound);
  return assumptions;
}

namespace {

bool same_requirement(const Requirement& a, const Requirement& b) {
  return a.node == b.node && a.code == b.code && a.condition == b.condition && a.path == b.path;
}

bool asked_in(const std::vector<Requirement>& all, const Requirement& r) {
  return std::any_of(all.begin(), all.end(), [&](const Requirement& other) { return same_requirement(r, other); });
}

void add_new(const std::vector<Reason>& from, std::vector<Reason>& to) {
  for (const Reason& one : from)
    if (!among(one, to)) to.push_back(one);
}

// What is true of a value that is `a` where the condition holds and `b` elsewhere. Sizes that depend on data are called
// as on the first side.
Fact either(const Condition& condition, const Fact& a, const Fact& b, const Typed& typed) {
  if (same_facts(a, b)) return a;
  if (a.kind != b.kind || a.dtype != b.dtype || !a.is_tensor()) return {};
  Fact out = a.type_only();
  out.from_shapes = a.from_shapes && b.from_shapes;
  if (!a.dims || !b.dims || a.rank() != b.rank()) {
    out.dims.reset();
    return out;
  }
  const auto follows = [&](Dim size) {
    const auto used = size.symbols();
    return std::all_of(used.begin(), used.end(), [&](Dim s) { return typed.kind(s) == SymbolKind::axis; });
  };
  for (size_t i = 0; i < out.rank(); ++i) {
    const Dim x = (*a.dims)[i], y = (*b.dims)[i];
    if (x == y || !follows(x)) continue;
    // A size that one side does not tell is not known.
    (*out.dims)[i] = follows(y) ? select(condition, x, y) : y;
  }
  return out;
}

// The bounds, each as simple as those before it make it. Those that hold in a branch only help no other one: proofs
// would go through all their cases again and again.
std::vector<Condition> settled(const std::vector<Condition>& bounds, const Typed& start) {
  const auto ground = start.ground();
  std::vector<Condition> out;
  for (const Condition& bound : bounds) {
    out.push_back(ground->simplify(bound));
    if (out.back().any_of().size() == 1) ground->assume(out.back());
  }
  return out;
}

}  // namespace

class Solver {
 public:
  Solver(std::shared_ptr<const Graph> graph, const SolveOptions& options) : options_(options) {
    start_.graph_ = std::move(graph);
    start_.symbols_ = std::make_shared<Symbols>();
    InputAxes axes = input_axes(*start_.graph_, *start_.symbols_, !options.certain);
    start_.axes_ = std::move(axes.symbols);
    start_.input_facts_ = std::move(axes.facts);
  }

  Typed run() {
    Typed typed = run({});
    typed.has_corners_ = met_corners_;
    return typed;
  }

 private:
  // The walk under what is assumed. Where rules would like a condition decided, both sides are walked apart; a side
  // that refuses everything leaves the other one, with the condition required.
  Typed run(const std::vector<Condition>& assumed) {
    std::vector<Walk::Split> splits;
    Typed typed = walk(assumed, splits, corners());
    if (splits.empty() || options_.certain) return typed;
    const auto corner = std::find_if(splits.begin(), splits.end(), [](const auto& split) { return split.corner; });
    if (assumed.size() < kMaxSplits) {
      const Walk::Split& split = corner == splits.end() ? splits.front() : *corner;
      Typed yes = run(with(assumed, split.condition)), no = run(with(assumed, !split.condition));
      if (no.refusal_) return requiring(std::move(yes), split.condition, no.refused_by_);
      if (yes.refusal_) return requiring(std::move(no), !split.condition, yes.refused_by_);
      if (split.corner) return either(split.condition, std::move(yes), no);
    }
    return corner == splits.end() ? typed : walk(assumed, splits, Corners::left_open);
  }

  using Corners = Walk::Options::Corners;

  Corners corners() const { return options_.corners && !options_.certain ? Corners::told_apart : Corners::refused; }

  static constexpr size_t kMaxSplits = 4;

  static std::vector<Condition> with(std::vector<Condition> conditions, const Condition& one) {
    conditions.push_back(one);
    return conditions;
  }

  // `yes` where the condition holds, `no` elsewhere.
  static Typed either(const Condition& condition, Typed yes, const Typed& no) {
    const std::vector<Requirement> of_yes = yes.requirements_;
    for (Requirement& r : yes.requirements_)
      if (!asked_in(no.requirements_, r)) r.path = r.path && condition;
    for (Requirement r : no.requirements_) {
      if (asked_in(of_yes, r)) continue;
      r.path = r.path && !condition;
      yes.requirements_.push_back(std::move(r));
    }
    yes.fresh_bounds_.insert(yes.fresh_bounds_.end(), no.fresh_bounds_.begin(), no.fresh_bounds_.end());
    yes.kinds_.insert(no.kinds_.begin(), no.kinds_.end());
    for (size_t i = 0; i < yes.facts_.size(); ++i)
      yes.facts_[i] = anyshape::either(condition, yes.facts_[i], no.facts_[i], yes);
    add_new(no.data_conditions_, yes.data_conditions_);
    add_new(no.leniencies_, yes.leniencies_);
    add_new(no.undecided_, yes.undecided_);
    yes.unanswered_.insert(no.unanswered_.begin(), no.unanswered_.end());
    const auto [least, most] = std::minmax(yes.largest_axis_, no.largest_axis_);
    yes.largest_axis_ = least ? least : most;
    return yes;
  }

  static Typed requiring(Typed typed, const Condition& condition, const Reason& otherwise) {
    typed.requirements_.insert(typed.requirements_.begin(), {condition, Condition::always(), otherwise.code,
                                                             otherwise.sentence, otherwise.node, otherwise.op});
    return typed;
  }

  // A rule that refuses ends every shape; a budget that is passed only ends our knowledge.
  static void note_error(Typed& typed, const Node& node, Error error) {
    Reason reason{typed.graph_->label(node), node.type, error.code, error.message};
    if (error.kind == Error::Kind::refused) {
      typed.refused_by_ = std::move(reason);
      typed.refusal_ = std::move(error);
    } else {
      typed.undecided_.push_back(std::move(reason));
    }
  }

  Typed walk(const std::vector<Condition>& assumed, std::vector<Walk::Split>& splits, Corners corners) {
    Typed typed = start_;
    const auto assumptions = typed.ground();
    for (const Condition& condition : assumed) assumptions->assume(condition);
    Walk::Options options;
    options.corners = corners;
    options.certain = options_.certain;
    Walk walk(*assumptions, options);
    auto facts = walk.run(*typed.graph_, typed.input_facts_);
    if (facts) {
      typed.facts_ = *std::move(facts);
    } else {
      typed.facts_ = walk.partial();
      typed.facts_.resize(typed.graph_->values.size());
    }
    typed.bodies_ = walk.bodies();
    typed.requirements_ = walk.requirements();
    typed.data_conditions_ = walk.data_conditions();
    typed.leniencies_ = typed.graph_->leniencies;
    add_new(walk.leniencies(), typed.leniencies_);
    for (const Doubt& doubt : walk.undecided()) {
      typed.undecided_.push_back(doubt.why);
      if (doubt.site != kNoValue) typed.unanswered_.insert(doubt.site);
    }
    typed.fresh_bounds_ = settled(walk.fresh_bounds(), start_);
    typed.kinds_ = walk.kinds();
    typed.largest_axis_ = walk.largest_axis();
    splits = walk.splits();
    met_corners_ |= walk.met_corners();
    if (!facts) note_error(typed, walk.ended_at(), std::move(facts).error());
    return typed;
  }

  Typed start_;
  SolveOptions options_;
  bool met_corners_ = false;
};

Typed solve(std::shared_ptr<const Graph> graph, const SolveOptions& options) {
  const Effort effort(budget::with_nodes(budget::kSolve, graph->nodes.size()));
  return solve_part(std::move(graph), options);
}

Typed solve_part(std::shared_ptr<const Graph> graph, const SolveOptions& options) {
  return Solver(std::move(graph), options).run();
}

}  // namespace anyshape
