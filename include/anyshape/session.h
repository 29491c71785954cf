#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "anyshape/any_value.h"
#include "anyshape/api.h"
#include "anyshape/error.h"
#include "anyshape/model.h"
#include "anyshape/report.h"

namespace anyshape {

// Names of engines.
struct Engine {
  static constexpr std::string_view anyshape = "anyshape";
  // Its C library, loaded when the first session of it is made; for comparing with what is deployed.
  static constexpr std::string_view onnxruntime = "onnxruntime";
};

// The names of all engines, the usual one first.
ANYSHAPE_API std::vector<std::string> engines();

// A rewrite of the graph before it is planned.
struct PassInfo {
  std::string name, does;
};

// All of them, in order.
ANYSHAPE_API std::vector<PassInfo> passes();

struct SessionOptions {
  bool optimize = true;              // false: reference kernels only
  std::vector<std::string> without;  // names of passes to leave out
  bool exact = false;   // no transforms that round otherwise: plain products in convolutions, f16 rounded by every node
  bool strict = false;  // of load() and from_bytes(): as ReadOptions::strict
  // Channels of a block in blocked layouts as on another machine: such a session shows its plan and does not run.
  std::optional<int64_t> lanes = {};
  // Gets the graph as text: as read ("source"), and after each pass; those of bodies follow. Called while loading.
  std::function<void(std::string_view pass, std::string_view graph)> dump = {};
  // One line at a time: what each pass did while loading, and shapes that run slowly because they are beyond what the
  // plan is for. Called by the thread that loads or runs.
  std::function<void(std::string_view)> log;
  std::string engine{Engine::anyshape};  // one of engines()
  // Of ONNX Runtime only, whose threads belong to the session. `ort_library`: the file or a folder with it; empty: the
  // variable ANYSHAPE_ORT_LIB, then Python's packages, then the system's folders.
  std::filesystem::path ort_library = {};
  int ort_threads = 0;  // 0: as ONNX Runtime sees fit
};

struct RunOptions {
  // Of all that the run makes, strings and sequences too; 0: no limit. Beyond: error "run.memory", in most cases before
  // the memory is taken. Inputs, weights, and outputs in memory of the caller do not count.
  int64_t max_bytes = 0;
  // Looked at between steps and between tasks of one, as are the WorkScopes around the run: true ends it with
  // "run.cancelled".
  const std::atomic<bool>* cancel = nullptr;
  double timeout = 0;  // seconds; 0: none. Past them the run ends between two tasks with "work.timeout"
  uint64_t seed = 0;   // of random operators that have no seed of their own
};

// One step of a run, for profiles.
struct ProfiledStep {
  std::string name, type, kernel;
  int64_t begin_ns = 0, end_ns = 0;
};

// The steps as a trace that browsers and ui.perfetto.dev show: JSON, one event per step.
ANYSHAPE_API std::string chrome_trace(std::span<const ProfiledStep> steps);

// An input or output of a model that runs.
struct IoInfo {
  std::string name;
  AnyValue::Kind kind = AnyValue::Kind::tensor;
  DType type = DType::undefined;  // of tensors
};

// A model ready to run at any shape it takes. Immutable: any number of threads may use one, each with its own Context.
class ANYSHAPE_API Session {
 public:
  // Errors: those of Model::load, "run.missing" (an operator without kernel), and the refusal of a model that takes no
  // shape at all; usage errors "pass.unknown", "engine.unknown"; of ONNX Runtime "ort.*" and "library.open".
  static Result<Session> load(const std::filesystem::path& path, const SessionOptions& options = {});
  static Result<Session> from_bytes(std::vector<std::byte> bytes, const SessionOptions& options = {});
  static Result<Session> from_model(const Model& model, const SessionOptions& options = {});

  // What run() takes and gives, in this order.
  const std::vector<IoInfo>& inputs() const;
  const std::vector<IoInfo>& outputs() const;
  // Inputs that have a default value and are not among inputs().
  const std::vector<IoInfo>& optional_inputs() const;
  // A session for callers that feed these, too: they are among its inputs(). It is solved and planned anew, for any
  // value of them; weights are shared. Usage error "input.unknown".
  Result<Session> overriding(const std::vector<std::string>& names) const;

  // "anyshape", or "onnxruntime 1.31.1".
  std::string engine() const;
  // Steps with their kernels and why, buffers and the peak as formulas; at `shapes` also as numbers. Usage error
  // "plan.engine" for ONNX Runtime.
  Result<std::string> plan_text(const Shapes& shapes = {}) const;
  // The memory of each step at `shapes` as one HTML file that needs no other; the time of each, too, where `trace` is
  // what chrome_trace() gave. Usage errors "plan.engine", "plan.numbers", "plan.profile".
  Result<std::string> plan_html(const Shapes& shapes, std::optional<std::string_view> trace = std::nullopt) const;

  struct Impl;
  const Impl& impl() const { return *impl_; }
  std::shared_ptr<const Impl> shared() const { return impl_; }

 private:
  explicit Session(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// Threads of the caller, which work on runs instead of those of the process.
struct TaskPool {
  using Work = void (*)(void* state, int64_t first, int64_t last);
  // Calls work(state, first, last) for ranges first..last - 1 that have every task of 0..tasks - 1 once, in any order
  // and by any threads, and returns when all calls have returned. Throws nothing. Error "run.pool" of the run when
  // tasks are left out or done twice. Null: the thread that runs works alone.
  void (*parallel)(void* user, int64_t tasks, Work work, void* state) = nullptr;
  void* user = nullptr;
};

// The memory of runs. Used by one thread at a time. A failed run leaves it usable.
class ANYSHAPE_API Context {
 public:
  // `threads`: how many work on one run; 0: all cores. ONNX Runtime has its own.
  explicit Context(const Session& session, int threads = 0);
  // The pool is called by the thread of each run, for steps that are worth sharing.
  Context(const Session& session, const TaskPool& pool);
  ~Context();
  Context(Context&&) noexcept;
  Context& operator=(Context&&) noexcept;

  // Runs up to these input shapes allocate nothing, but for values whose size depends on data, strings, sequences,
  // bodies of control flow and operators of the caller. Takes about as long as one run of the steps that have a
  // reference kernel only: they run once on zeros. Errors: as run().
  Status reserve(const Shapes& largest);
  // Without running; nullopt for an output whose size depends on data. Errors: the refusal of the shape.
  Result<std::vector<std::optional<std::vector<int64_t>>>> output_shapes(const Shapes& shapes);

  // Inputs in order of Session::inputs(). The outputs live as long as somebody holds them: they may be inputs of the
  // next call. Errors: "input.*" and the codes of the rules for what the model refuses, before anything runs; codes of
  // kernels for entries they refuse; "tensor.memory", "run.memory", "run.cancelled", "work.*".
  Result<std::vector<AnyValue>> run(std::span<const AnyValue> inputs, const RunOptions& options = {});
  // The same into memory of the caller: outputs that are tensors are written to where they are and must have the right
  // type and shape ("output.shape"); those that are nothing are set.
  Status run_into(std::span<const AnyValue> inputs, std::span<AnyValue> outputs, const RunOptions& options = {});

  // Bytes held for intermediate values.
  int64_t memory() const;
  // Called after each step; empty: off. ONNX Runtime does not tell its steps, and knows no reserve, max_bytes or seed.
  void observe(std::function<void(const ProfiledStep&)> observer);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace anyshape
