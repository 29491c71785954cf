#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/target/target.h"
#include "ir/graph.h"
#include "passes/pipeline.h"
#include "solve/solve.h"
#include "sym/formula.h"

namespace anyshape {

using Register = Formulas::Register;
inline constexpr uint32_t kNone = ~0u;

// Elements that a View can show: whole bytes, no strings.
inline bool fits_view(DType dtype) { return dtype != DType::string && bits(dtype) >= 8; }

// Where a value lives while a plan runs.
struct PlanValue {
  enum class Kind : uint8_t {
    unused,
    constant,  // in the plan
    input,     // the caller's tensor
    output,    // written straight into an output buffer
    slot,      // in the arena, shared with values of other lifetimes
    computed,  // integers that follow from sizes: written when a shape is bound, no kernel runs
    window,    // strides over another value
    dynamic,   // its own memory, made by the step: sizes not known before, strings, sequences, optionals, maps
  };
  Kind kind = Kind::unused;
  Space space = Space::host;
  DType dtype = DType::undefined;
  bool has_sizes = false;      // dims below are there; always but for some dynamic values
  std::vector<Register> dims;  // constants too
  std::string text;            // dims for people: "[batch, 64]"
  uint32_t stage = 0;          // from which its sizes are known
  uint32_t index = kNone;      // of the input, output or slot; of the value a window is on
  bool dense = true;           // row-major without gaps
  uint32_t copy = kNone;       // of a window that is not: its dense copy, where some step needs one
  uint32_t twin = kNone;       // the same in the other memory, where some step needs it
  uint32_t last_step = kNone;  // that uses it or a window on it; kNone: none does; the number of steps: an output
  // Window that is not just other dims: axis k walks axis[k] of the value it is on (kNone: none) in steps of step[k],
  // from start[axis[k]] on.
  std::vector<uint32_t> axis;
  std::vector<int64_t> step;
  std::vector<Register> start;
  std::vector<Register> entries;        // computed
  Datum constant;                       // in host memory
  std::shared_ptr<std::byte> resident;  // a constant in the engine's memory
};

// Predicates, trip counts, sizes that are read, strings and sequences are host values: `reference` and `dynamic` steps
// work in host memory.
struct PlanStep {
  enum class Kind : uint8_t {
    planned,    // kernel of the engine over views
    reference,  // reference kernel into memory whose size is known
    dynamic,    // sizes by the rule from the values at hand, then the reference kernel; also nodes with bodies
    copy,       // a window made dense, in the memory where it is
    transfer,   // a value that the other memory needs
  };
  Kind kind = Kind::dynamic;
  uint32_t node = kNone;  // of Plan::graph; kNone: copy, transfer
  const EngineKernel* kernel = nullptr;
  std::shared_ptr<const void> prepared;  // what the kernel made of the node; its own
  std::vector<uint32_t> in, out;         // values; kNone: absent
  bool runs_bodies = false;              // by plans of their own
  std::vector<uint32_t> captured;        // values its bodies read
  std::vector<uint32_t> ends;            // values whose last_step it is
  std::string label, reason;
  std::string type;
};

// Memory that values of disjoint lifetimes share. Its size is the largest of theirs.
struct PlanSlot {
  Space space = Space::host;
  uint32_t stage = 0;
  std::vector<Register> bytes;  // one per value in it
  std::string formula;          // for people
};

// What is evaluated when the sizes of a stage are known: stage 0 from the input shapes, later ones after the step that
// makes a size which depends on data.
struct PlanStage {
  uint32_t first_step = 0;
  size_t code_begin = 0, code_end = 0;
  struct Read {
    uint32_t value;
    size_t axis;
    Register to;
  };
  std::vector<Read> reads;  // sizes read off dynamic values
  struct Guard {
    Register holds;
    std::string code, node, sentence;
    bool recorded = false;  // as in Requirement
  };
  std::vector<Guard> guards;
  // What the rules of the steps say of the sizes planned for them. It follows from the guards, or a fact is wrong.
  struct Claim {
    Register holds;
    uint32_t node;  // of Plan::graph
  };
  std::vector<Claim> claims;
  std::vector<uint32_t> values;  // whose sizes become known here
};

struct PlanInput {
  std::string name;
  Fact::Kind kind = Fact::Kind::tensor;
  DType dtype = DType::undefined;  // of a tensor, or of those of a sequence; undefined: any
  bool has_rank = false;
  struct Axis {
    Register size;
    bool reads;  // the size is read here; otherwise it must be equal
  };
  std::vector<Axis> axes;
  uint32_t value = kNone;
};

// How the requirements of the source graph are enforced: each of them in one of these ways.
struct PlanEnforced {
  size_t guards = 0;  // formulas, in the stage where their sizes are known
  size_t walked = 0;  // by the numeric walk over `Plan::walked`, once for each shape that is bound
  size_t rules = 0;   // by the rule of the node whenever it runs, or by the plan of the body it stands in
  size_t source = 0;  // by none of these: the source runs node by node
};

// How a graph is run at any shape: immutable, shared by threads, without Dims.
struct Plan {
  Target target;  // of its bodies, too
  std::shared_ptr<const Graph> graph;
  // As it was before the passes: what runs, node by node, where the plan is not for.
  std::shared_ptr<const Graph> source;
  // The part of the source that the numeric walk must accept before a shape is bound; null: nothing. Where it cannot
  // tell, the source runs if `walk_decides`.
  std::shared_ptr<const Graph> walked;
  bool walk_decides = false;
  PlanEnforced enforced;
  // The requirement because of which the source always runs; empty: there is none.
  std::string only_source;
  Formulas formulas;
  std::vector<PlanInput> inputs;
  std::vector<std::string> output_names;
  std::vector<uint32_t> outputs;  // values
  std::vector<PlanValue> values;
  std::vector<PlanStep> steps;
  std::vector<PlanSlot> slots;
  std::vector<PlanStage> stages;
  Facts types;  // by value: dtype, and all of constants, for Calls at run time
  std::map<const Graph*, std::shared_ptr<const Plan>> bodies;
  std::vector<RunGraph::Ran> passes;
  // Past this size of an axis that is not fixed the claims behind the plan end; 0: never.
  int64_t largest_axis = 0;
};

struct PlanOptions : PassOptions {
  bool plain = false;  // no passes, reference kernels only, no windows, no computed values
  // Conditions beside those of the graph that inputs must fulfil, over the symbols of `typed`.
  std::vector<Requirement> assumed;
};

// REQUIRES: no calls of local functions in the graph (inline_functions). Errors: "run.missing" for an operator without
// kernel, those of preparing kernels.
Result<std::shared_ptr<const Plan>> make_plan(const Typed& typed, const Target& target,
                                              const PlanOptions& options = {});

// The value whose memory a window is on, else itself.
inline uint32_t holder_of(const Plan& plan, uint32_t value) {
  while (plan.values[value].kind == PlanValue::Kind::window) value = plan.values[value].index;
  return value;
}

// The steps of a stage: first and end.
inline std::pair<size_t, size_t> steps_of(const Plan& plan, size_t stage) {
  const size_t end = stage + 1 < plan.stages.size() ? plan.stages[stage + 1].first_step : plan.steps.size();
  return {plan.stages[stage].first_step, end};
}

// The form of a value that steps in host memory read: dense, and there. REQUIRES: some step of the plan needs it.
inline uint32_t host_form(const Plan& plan, uint32_t value) {
  if (!plan.values[value].dense) value = plan.values[value].copy;
  return plan.values[value].space == Space::host ? value : plan.values[value].twin;
}

}  // namespace anyshape
