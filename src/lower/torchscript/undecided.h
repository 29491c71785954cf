#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lower/torchscript/flow.h"
#include "lower/torchscript/modules.h"

namespace anyshape::lower::script {

class Evaluator;

// Branches and loops that only the running model decides: If and Loop nodes. Each way is run as a body, what it changed
// is put back, and what both ways, or a round, leave behind becomes an output of the node.
class Undecided {
 public:
  explicit Undecided(Evaluator& program);

  Result<Flow> branch(const torchscript::Statement& statement, const Value& truth);
  // `count`: of a loop over a range; null: a loop with a condition.
  Result<Flow> loop(const torchscript::Statement& statement, const Value* count);
  // A size of an input: conditions over such sizes are conditions on shapes.
  void add_input_symbol(Dim symbol) { input_symbols_.insert(symbol); }

 private:
  struct Fork;
  struct LoopPart;
  struct LoopPlan;
  using Emit = std::function<Refs(const Outcome&)>;
  using Way = std::function<Result<Flow>()>;

  Result<Flow> to_the_end(const torchscript::Statement& statement, const Value& truth);
  Status learn(Fork& fork);
  Status join(const Fork& fork);
  bool torn(const Fork& fork);
  Refs parts_on(const Fork& fork, bool first, const Outcome& outcome);
  Result<Outcome> run_way(const Way& way, const Condition& path, const std::string& name, const Emit& emit,
                          std::shared_ptr<Graph>& graph);
  Value joined(const Value& a, const Value& b, const std::optional<Condition>& condition,
               const std::function<Value(const Value&, const Value&, Carrier)>& choose);
  Ref stand_in(const Value& like);
  void remember_fact(const Value& value);

  Result<bool> loop_once(const torchscript::Statement& statement, const Value* count, LoopPlan& plan,
                         std::shared_ptr<Graph>& graph);
  Result<bool> extend_plan(LoopPlan& plan, const Outcome& outcome, const Mark& mark);
  Result<bool> widen(LoopPart& part, const Value& after, const Spot& spot);
  Status add_parts(const Spot& spot, size_t count, const Outcome& outcome, Refs& outputs);

  Fact carried_fact(const Value& value);
  Ref carried_ref(const Value& value);
  Value carried_value(Carrier carrier, Ref ref);
  bool from_inputs(Dim dim) const;

  void open_mark(Mark& mark);
  Outcome since(const Mark& mark);
  void put_back(Mark& mark);
  Status put(const Spot& spot, Value value);
  void settle();
  // The tensors the program can still name, each once; `seen` gets all containers on the way to them.
  std::vector<Var> reachable(std::unordered_set<const void*>* seen = nullptr) const;
  bool was_there(const Mark& mark, const void* container) const;

  Evaluator& program_;
  Lowering& in_;
  Numbers& numbers_;
  Frames& frames_;
  Journal& journal_;
  Modules& modules_;
  int ends_ = 0;  // branches whose ways run to the end of the function, now open
  // Every body made: the Builder knows bodies by their address, so none may take the place of another.
  std::vector<std::shared_ptr<const Graph>> bodies_;
  std::unordered_set<Dim> input_symbols_;
  std::unordered_map<const Variable*, Fact> closed_facts_;  // of tensors of bodies that are closed
};

}  // namespace anyshape::lower::script
