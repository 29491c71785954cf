#include "solve/solve.h"

#include "solve/axes.h"

namespace anyshape {

SymbolKind Typed::kind(Dim symbol) const {
  const auto it = kinds_.find(symbol);
  return it == kinds_.end() ? SymbolKind::axis : it->second;
}

std::unique_ptr<Assumptions> Typed::ground() const {
  auto assumptions = std::make_unique<Assumptions>(*symbols_);
  for (const AxisSymbol& axis : axes_) assumptions->assume(Condition::ge(axis.symbol, 0));
  for (const Condition& bound : fresh_bounds_) assumptions->assume(bound);
  return assumptions;
}

class Solver {
 public:
  explicit Solver(std::shared_ptr<const Graph> graph) {
    start_.graph_ = std::move(graph);
    start_.symbols_ = std::make_shared<Symbols>();
    InputAxes axes = input_axes(*start_.graph_, *start_.symbols_);
    start_.axes_ = std::move(axes.symbols);
    start_.input_facts_ = std::move(axes.facts);
  }

  // The walk under what is assumed. Where rules would like a condition decided, both sides are walked apart; a side
  // that refuses everything leaves the other one, with the condition required.
  Typed run(const std::vector<Condition>& assumed) {
    std::vector<Condition> splits;
    Typed typed = walk(assumed, splits);
    if (splits.empty() || assumed.size() >= kMaxSplits) return typed;
    for (const bool side : {true, false}) {
      const Condition taken = side ? splits.front() : !splits.front();
      Typed other = run(with(assumed, !taken));
      if (!other.refusal_) continue;
      Typed kept = run(with(assumed, taken));
      const Error& e = *other.refusal_;
      const std::string node = node_in(e.place);
      kept.requirements_.insert(kept.requirements_.begin(),
                                {taken, Condition::always(), e.code, e.message, node, type_of(node)});
      return kept;
    }
    return typed;
  }

 private:
  static constexpr size_t kMaxSplits = 4;

  static std::vector<Condition> with(std::vector<Condition> conditions, const Condition& one) {
    conditions.push_back(one);
    return conditions;
  }

  // The node of a place like `node "/a": node "/b"`: the outermost.
  static std::string node_in(const std::string& place) {
    const size_t first = place.find('"'), last = place.find('"', first + 1);
    return first == std::string::npos ? place : place.substr(first + 1, last - first - 1);
  }

  // A rule that refuses ends every shape; a budget that is passed only ends our knowledge.
  void note_error(Typed& typed, Error error) const {
    if (error.kind == Error::Kind::refused) {
      typed.refusal_ = std::move(error);
    } else {
      const std::string node = node_in(error.place);
      typed.undecided_.push_back({error.code, error.message, node, type_of(node)});
    }
  }

  std::string type_of(const std::string& label) const {
    for (const Node& node : start_.graph_->nodes)
      if (start_.graph_->label(node) == label) return node.type;
    return {};
  }

  Typed walk(const std::vector<Condition>& assumed, std::vector<Condition>& splits) const {
    Typed typed = start_;
    const auto assumptions = typed.ground();
    for (const Condition& condition : assumed) assumptions->assume(condition);
    Walk walk(*assumptions);
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
    typed.undecided_ = walk.undecided();
    typed.fresh_bounds_ = walk.fresh_bounds();
    typed.kinds_ = walk.kinds();
    typed.largest_axis_ = walk.largest_axis();
    splits = walk.splits();
    if (!facts) note_error(typed, std::move(facts).error());
    return typed;
  }

  Typed start_;
};

Typed solve(std::shared_ptr<const Graph> graph) { return Solver(std::move(graph)).run({}); }

}  // namespace anyshape
