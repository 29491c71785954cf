#pragma once

#include <unordered_map>
#include <unordered_set>

#include "passes/pipeline.h"
#include "plan/plan.h"

namespace anyshape {

// Builds a plan node by node, in the order of the graph.
class Planner {
 public:
  Planner(const Typed& typed, const RunGraph& run_graph, const Target& target, const PlanOptions& options);

  Result<std::shared_ptr<const Plan>> run();

 private:
  struct Pending {
    const Requirement* requirement;
    bool done = false;  // a guard is compiled
  };

  void add_constants();
  void add_inputs();
  Status plan_node(uint32_t index);
  bool constant_outputs(const Node& node);
  bool computed_outputs(const Node& node);
  bool window_outputs(const Node& node, const Call& call);
  bool static_outputs(const Node& node) const;
  // False: no kernel of the engine takes it; `why_not`, where kernels were asked.
  Result<bool> planned_step(uint32_t index, const Call& call, std::string& why_not);
  // By value: false for constants that all their readers have packed.
  std::vector<bool> read_at_run_time() const;
  // Those that are read, at addresses their type allows.
  Status align_constants();
  // Operands as the kernel wants them: dense or not, in its memory or the host's.
  Status place_operands(PlanStep& step);
  // `why_not`: of planned_step(), empty where none was asked.
  Status reference_step(uint32_t index, std::string why_not);
  Status dynamic_step(uint32_t index);
  const Facts* walked(const Graph& body) const;
  Status plan_bodies(const Node& node, PlanStep& step);

  // Sizes read off dynamic values so far become usable: opens a stage for them.
  void settle_sizes();
  void compile_guards();
  // The rule of the node has to be asked when it runs: some requirement of it is no guard.
  bool asks_its_rule(const Node& node);
  void account();
  bool is_asked(const Requirement& requirement) const;
  std::string text_of(const Dims& dims);
  void set_sizes(uint32_t value, const Dims& dims);
  // Claims that the rule of the node makes about the sizes of its inputs and outputs as they are planned.
  void claim_sizes(uint32_t index);
  void claim_equal(const Fact& made, uint32_t value, uint32_t node);
  Fact local_fact(uint32_t value);
  Dim local(Dim size, Register reg);
  void make_static_outputs(const Node& node, PlanStep& step, Space space);
  PlanStep step_for(uint32_t index) const;
  // The value, or a dense copy of it.
  uint32_t dense(uint32_t value);
  // The value of the graph, or a dense copy of it in that memory.
  Result<uint32_t> in_space(uint32_t value, Space space);
  // The same of those that are there, dense, in host memory.
  Status on_host(std::vector<uint32_t>& values);
  // Has the size read off the value when it is there; what it tells is known from the next stage on.
  void read_size(uint32_t value, size_t axis, Dim size);
  // Straight into the output where the value of the graph is one, else a slot.
  void set_place(PlanValue& planned, ValueId id, Space space) const;
  uint32_t add_value(PlanValue planned, const Dims& dims);
  void add_copy(PlanStep::Kind kind, uint32_t from, uint32_t to, std::string label, std::string reason);
  bool is_view(uint32_t value) const;
  Call call_of(const Node& node, const std::string& label);
  Register bytes_of(const PlanValue& value);
  Dim formula_of(const Dims& dims, DType dtype) const;
  Status finish_outputs();
  void assign_slots();

  const Typed& typed_;
  const Graph& graph_;
  const Facts& facts_;
  const std::unordered_map<const Graph*, const Graph*>& sources_;
  const Target& target_;
  const PlanOptions& options_;
  std::shared_ptr<Plan> plan_;
  std::vector<Pending> requirements_;
  std::unordered_map<ValueId, std::vector<size_t>> demands_;  // by site: requirements that are asked at run time
  std::unordered_set<ValueId> asked_;                         // first outputs of nodes whose rule is asked
  std::vector<PlanStage::Read> pending_reads_;
  std::vector<uint32_t> pending_values_;
  // A symbol that a size which is read tells: factor * (size read - rest). Until then it has a register of no use.
  struct Told {
    Dim symbol, rest;
    int64_t factor;
    Register read;
  };
  std::vector<Told> pending_symbols_;
  std::unordered_map<ValueId, uint32_t> output_index_;
  std::vector<Register> value_bytes_;
  std::vector<Dim> value_formula_;
  std::vector<Dims> value_dims_;
  std::unordered_map<Dim, std::string> size_texts_;
  std::vector<const Fact*> call_facts_;
  // Rules asked about sizes by their registers, whatever the graph knows of them.
  Symbols local_symbols_;
  Assumptions local_{local_symbols_};
  std::unordered_map<Register, Dim> local_sizes_;
  Facts local_facts_;
};

}  // namespace anyshape
