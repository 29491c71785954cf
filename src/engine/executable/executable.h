#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "anyshape/report.h"
#include "base/workers.h"
#include "engine/executable/limits.h"
#include "ir/infer.h"
#include "solve/solve.h"

namespace anyshape {

// A model as an engine gets it.
struct EngineModel {
  std::shared_ptr<const Graph> graph;  // as read
  std::shared_ptr<const Typed> typed;  // of the same with functions inlined
  std::vector<Requirement> assumed;    // beside those of the graph, over the symbols of `typed`
  std::filesystem::path file;          // that holds the model as it is; empty: none does
  struct Bytes {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
  };
  std::function<Bytes()> bytes;  // the model as it is, without external data
  // In the order of runs; type of tensors, or of those of a sequence.
  struct Port {
    std::string name;
    DType type = DType::undefined;
  };
  std::vector<Port> inputs, outputs;
};

struct EngineOptions {
  bool optimize = true;              // false: the graph as it is, plain kernels
  std::vector<std::string> without;  // passes to leave out
  std::function<void(std::string_view pass, std::string_view graph)> dump;
  std::function<void(std::string_view line)> log;
  bool exact = false;                 // no convolution by other sums than the plain ones
  std::optional<int64_t> lanes = {};  // of blocked layouts, to look at plans for other machines
  bool verify = false;                // passes are verified in release builds, too
  std::filesystem::path library;      // of engines that are loaded
  int threads = 0;                    // of engines whose threads belong to the model; 0: as they see fit
};

// What happened in one step, for profiles.
struct StepTime {
  size_t index;
  std::string_view name, type, kernel;
  int64_t begin_ns, end_ns;
};
using StepObserver = std::function<void(const StepTime&)>;

struct Run {
  std::span<const Datum> inputs;
  std::span<Datum> outputs;
  // True: outputs are set to memory of the context, which lives as long as somebody holds it. False: those that are
  // tensors are written to where they are.
  bool own_outputs = true;
  RunLimits limits;
  uint64_t seed = 0;
  const StepObserver* observer = nullptr;
};

// By output; nothing where the sizes follow from more than those of the inputs.
using OutputSizes = std::vector<std::optional<std::vector<int64_t>>>;

// The memory of runs. One thread at a time; a failed run leaves it usable.
class EngineContext {
 public:
  virtual ~EngineContext() = default;
  virtual Status run(const Run& run) = 0;
  // Gives handles room for the sizes of inputs and outputs, so that runs need none.
  virtual void make_room(std::span<Datum> /*inputs*/, std::span<Datum> /*outputs*/) const {}
  // Memory for these input sizes is there when run() needs it.
  virtual Status reserve(const Shapes& /*largest*/) { return {}; }
  // Without running. Nothing at all where the engine cannot tell.
  virtual Result<OutputSizes> output_sizes(const Shapes& /*shapes*/) { return OutputSizes(); }
  // Bytes held for intermediate values, as far as the engine tells.
  virtual int64_t memory() const { return 0; }
};

// A model that an engine has loaded. Immutable, shared by threads.
class Executable {
 public:
  virtual ~Executable() = default;
  virtual std::string engine() const = 0;  // "anyshape", "onnxruntime 1.31.1"
  // `threads`: who works on one run, where the engine has no threads of its own. The executable outlives it.
  virtual std::unique_ptr<EngineContext> make_context(const Threads& threads) const = 0;
  // Steps, kernels and buffers, also as numbers where shapes are given. Usage error "plan.engine" without a plan.
  virtual Result<std::string> plan_text(const Shapes& shapes) const = 0;
  // The same as JSON, with the names of the steps. The same error, and "plan.numbers" where nothing follows from the
  // shapes.
  struct PlanData {
    std::string json;
    std::vector<std::string> steps;
  };
  virtual Result<PlanData> plan_data(const Shapes& shapes) const = 0;
};

// An engine: its name and how it loads a model.
struct EngineRow {
  std::string_view name;
  Result<std::unique_ptr<Executable>> (*load)(const EngineModel&, const EngineOptions&);
};

}  // namespace anyshape
