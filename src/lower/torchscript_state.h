#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lower/torchscript_eval.h"

namespace anyshape::lower::script {

// What a module keeps from one call to the next. A first run tells which attributes change; then the program is run
// from what it leaves behind, tensors as inputs of the graph, until a run leaves behind what it began with.
class State {
 public:
  // Before a run: the attributes as they are to be.
  void give(Lowering& lowering, Evaluator& evaluator);
  // After a run: true when there is nothing more to learn.
  Result<bool> learn(Lowering& lowering, Evaluator& evaluator);
  // The new values of the state, as outputs of the graph.
  std::vector<std::pair<std::string, Ref>> results(Lowering& lowering, Evaluator& evaluator) const;
  // True when some state turned out to have no influence on the other outputs; it is forgotten, and the program has to
  // be run once more.
  bool drop_dead(const Graph& graph);
  std::vector<std::string> notes() const;

 private:
  struct Kept {
    DType dtype = DType::undefined;  // of a tensor
    Dims dims;
    Value plain;          // of anything else
    std::string initial;  // in the archive
  };
  bool same(Lowering& lowering, const Kept& kept, const Value& now) const;

  std::map<std::string, Kept> kept_;  // by path
  std::set<std::string> fixed_;       // as in the archive, whatever the program does with them
  std::vector<std::string> restless_;
  int runs_ = 0;
};

}  // namespace anyshape::lower::script
