#include "anyshape/session.h"

#include <algorithm>
#include <thread>

#include "api/model_impl.h"
#include "base/effort.h"
#include "base/json.h"
#include "base/work.h"
#include "ir/defaults.h"
#include "ops/all.h"
#include "passes/body.h"
#include "plan/print.h"
#include "run/cpu/model.h"
#include "run/cpu/own.h"
#include "run/ort/session.h"
#include "solve/budget.h"
#include "tensor/bools.h"

namespace anyshape {
namespace {

AnyValue::Kind kind_of(Fact::Kind kind) {
  switch (kind) {
    case Fact::Kind::sequence:
      return AnyValue::Kind::sequence;
    case Fact::Kind::optional:
      return AnyValue::Kind::optional;
    case Fact::Kind::map:
      return AnyValue::Kind::map;
    default:
      return AnyValue::Kind::tensor;
  }
}

// As inferred; as declared where no rule tells the type.
IoInfo info_of(const Value& value, const Fact& fact) {
  if (fact.kind == Fact::Kind::unknown && value.declared) {
    const Declared& declared = *value.declared;
    const DType inner = declared.item ? declared.item->dtype : DType::undefined;
    return {value.name, kind_of(declared.kind), declared.kind == Fact::Kind::tensor ? declared.dtype : inner};
  }
  const DType inner = fact.item ? fact.item->dtype : DType::undefined;
  return {value.name, kind_of(fact.kind), fact.is_tensor() ? fact.dtype : inner};
}

std::vector<IoInfo> infos_of(const Typed& typed, const std::vector<ValueId>& ids) {
  std::vector<IoInfo> out;
  for (ValueId id : ids) out.push_back(info_of(typed.graph().values[id], typed.facts()[id]));
  return out;
}

// From the file where the model is still as it was read: only there external data is found.
Result<std::unique_ptr<OrtSession>> load_ort(const Model::Impl& source, const SessionOptions& options,
                                             const std::vector<IoInfo>& inputs) {
  OrtOptions wanted;
  for (const IoInfo& input : inputs) wanted.inputs.emplace_back(input.name, input.type);
  wanted.library = options.ort_library;
  wanted.threads = options.ort_threads;
  wanted.optimize = options.optimize;
  if (source.owners.empty() && !source.file.path.empty()) return OrtSession::load(wanted, source.file.path);
  if (source.owners.empty()) return OrtSession::load(wanted, source.file.file->bytes());
  std::vector<std::byte> bytes;
  const onnx::Encoded encoded = onnx::serialize(source.file.proto);
  for (const onnx::Bytes piece : encoded.pieces()) bytes.insert(bytes.end(), piece.begin(), piece.end());
  return OrtSession::load(wanted, bytes);
}

std::vector<Requirement> assumed_of(const Model::Impl& model, const Typed& typed) {
  std::vector<Requirement> out;
  for (const auto& entry : model.file.proto.metadata_props) {
    if (entry.key != kAssumedKey) continue;
    for (const Assumed::Entry& one : read_assumed(typed, entry.value).entries) {
      if (!one.text.binding) continue;
      Requirement r;
      r.condition = one.condition;
      r.code = "assumed.condition";
      r.node = one.text.origin;
      r.sentence = fmt::format("the exporter recorded that the file is right only where {}", one.text.text);
      out.push_back(std::move(r));
    }
  }
  return out;
}

// Errors get the model's name in front of their place.
template <class T>
Result<T> placed(const std::string& model, Result<T> result) {
  if (!result) return at(model, std::move(result).error());
  return result;
}

void log_passes(const Plan& plan, const std::function<void(std::string_view)>& log) {
  if (!log) return;
  for (const auto& ran : plan.passes)
    log(fmt::format("pass {}: {} -> {} nodes in {:.3f} ms", ran.pass, ran.nodes_before, ran.nodes_after,
                    static_cast<double>(ran.nanoseconds) * 1e-6));
}

// Tensors without memory, for asking about sizes only.
Result<std::vector<Datum>> hollow_inputs(const Plan& plan, const Shapes& shapes) {
  for (const auto& [name, sizes] : shapes) {
    const auto known = [&, wanted = std::string_view(name)](const PlanInput& input) { return input.name == wanted; };
    if (std::none_of(plan.inputs.begin(), plan.inputs.end(), known))
      return usage("input.unknown", "the model has no input {:?}", name);
  }
  std::vector<Datum> out;
  for (const PlanInput& input : plan.inputs) {
    if (input.kind == Fact::Kind::sequence && !shapes.contains(input.name)) {
      out.push_back(Datum::sequence(input.dtype, {}));
      continue;
    }
    const auto it = shapes.find(input.name);
    std::vector<int64_t> dims;
    if (it != shapes.end()) {
      dims = it->second;
    } else {
      std::vector<int64_t> registers(plan.formulas.registers());
      plan.formulas.start(registers);
      // Only numbers are there before anything is evaluated.
      const auto open = [&](const PlanInput::Axis& axis) { return registers[axis.size] < 0; };
      if (!input.has_rank || std::any_of(input.axes.begin(), input.axes.end(), open))
        return at(fmt::format("input {:?}", input.name), usage("input.missing", "no shape is given for it").value());
      for (const auto& axis : input.axes) dims.push_back(registers[axis.size]);
    }
    const DType dtype = input.dtype == DType::undefined ? DType::f32 : input.dtype;
    out.emplace_back(Tensor::borrow(dtype, std::move(dims), {}, nullptr));
  }
  return out;
}

}  // namespace

struct Session::Impl {
  std::string name;
  CpuModel model;  // without plan: ort runs
  std::unique_ptr<OrtSession> ort;
  std::vector<IoInfo> inputs, outputs, optional;
  std::function<void(std::string_view)> log;
  // What sessions with more inputs are made of; only where there are optional ones.
  std::optional<Model> source;
  SessionOptions options;

  void add_infos(const Typed& typed, const Model& from, const SessionOptions& wanted) {
    const Graph& graph = typed.graph();
    inputs = infos_of(typed, graph.required_inputs());
    outputs = infos_of(typed, graph.outputs);
    optional = infos_of(typed, anyshape::optional_inputs(graph));
    if (optional.empty()) return;
    source = from;
    options = wanted;
  }
};

std::vector<PassInfo> passes() {
  std::vector<PassInfo> out;
  for (const Pass& pass : all_passes()) out.push_back({std::string(pass.name), std::string(pass.does)});
  return out;
}

Result<Session> Session::load(const std::filesystem::path& path, const SessionOptions& options) {
  TRY(const Model model, Model::load(path));
  return from_model(model, options);
}

Result<Session> Session::from_bytes(std::vector<std::byte> bytes, const SessionOptions& options) {
  TRY(const Model model, Model::from_bytes(std::move(bytes)));
  return from_model(model, options);
}

Result<Session> Session::from_model(const Model& model, const SessionOptions& options) {
  const Model::Impl& source = model.impl();
  auto impl = std::make_shared<Impl>();
  impl->name = source.name;
  if (options.engine == Engine::onnxruntime) {
    impl->add_infos(source.typed(), model, options);
    TRY_OK(source.going_on());
    auto loaded = load_ort(source, options, impl->inputs);
    if (!loaded) return at(source.name, std::move(loaded).error());
    impl->ort = *std::move(loaded);
    return Session(std::move(impl));
  }
  const Typed typed = solve(inline_functions(source.graph), {.corners = false});
  TRY_OK(source.going_on());
  PlanOptions plan_options;
  plan_options.optimize = options.optimize;
  plan_options.without = options.without;
  plan_options.dump = options.dump;
  plan_options.assumed = assumed_of(source, typed);
  // All bodies together are solved within it.
  const Effort effort(budget::with_nodes(budget::kSolve, source.graph->nodes.size()));
  auto made = CpuModel::make(source.graph, typed, plan_options);
  if (!made) return at(source.name, std::move(made).error());
  impl->model = *std::move(made);
  impl->log = options.log;
  log_passes(*impl->model.plan, options.log);
  impl->add_infos(typed, model, options);
  return Session(std::move(impl));
}

const std::vector<IoInfo>& Session::inputs() const { return impl_->inputs; }
const std::vector<IoInfo>& Session::outputs() const { return impl_->outputs; }
const std::vector<IoInfo>& Session::optional_inputs() const { return impl_->optional; }

Result<Session> Session::overriding(const std::vector<std::string>& names) const {
  if (names.empty()) return *this;
  if (!impl_->source)
    return at(impl_->name, usage("input.unknown", "the model has no input {:?} with a default", names[0]).value());
  TRY(const Model model, impl_->source->overriding(names));
  return from_model(model, impl_->options);
}

std::string Session::engine() const { return impl_->ort ? "onnxruntime " + impl_->ort->version() : "anyshape"; }

struct Context::Impl {
  std::shared_ptr<const Session::Impl> session;
  Workers workers;
  std::optional<Executor> executor;  // none: ONNX Runtime runs
  Executor::Refusal refusal;
  StepObserver observer;
  std::vector<Datum> inputs, outputs;

  Impl(std::shared_ptr<const Session::Impl> shared, int threads)
      : session(std::move(shared)), workers(session->ort ? 1 : threads) {
    if (!session->ort) executor.emplace(session->model.plan, workers);
    refusal = [this](std::span<const Datum> given, const PlanStage::Guard* guard) -> Status {
      TRY_OK(session->model.refusal(given, guard));
      if (session->log) session->log("these shapes are beyond what the plan is for: reference kernels run");
      return {};
    };
    inputs.resize(session->inputs.size());
    outputs.resize(session->outputs.size());
    if (executor) make_room();
  }

  // Handles with room for the sizes of inputs and outputs, so that runs need none.
  void make_room() {
    const Plan& plan = executor->plan();
    const auto room = [](Datum& datum, size_t rank) {
      datum.tensor().point_at(DType::u8, std::vector<int64_t>(rank), nullptr);
      forget(datum);
    };
    for (size_t i = 0; i < inputs.size(); ++i) room(inputs[i], plan.inputs[i].axes.size());
    for (size_t i = 0; i < outputs.size(); ++i) room(outputs[i], plan.values[plan.outputs[i]].dims.size());
  }

  Status run(std::span<const AnyValue> given, bool own_outputs, const RunOptions& options);
  Status run_ort(bool own_outputs, const RunLimits& limits);
};

Context::Context(const Session& session, int threads)
    : impl_(std::make_unique<Impl>(
          session.shared(),
          threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency())))) {}
Context::~Context() = default;
Context::Context(Context&&) noexcept = default;
Context& Context::operator=(Context&&) noexcept = default;

Status Context::reserve(const Shapes& largest) {
  if (!impl_->executor) return {};
  const auto reserve = [&]() -> Status {
    TRY_OK(Work::check());
    TRY(const auto inputs, hollow_inputs(impl_->executor->plan(), largest));
    return impl_->executor->reserve(inputs, &impl_->refusal);
  };
  return placed(impl_->session->name, reserve());
}

Result<std::vector<std::optional<std::vector<int64_t>>>> Context::output_shapes(const Shapes& shapes) {
  using Sizes = std::vector<std::optional<std::vector<int64_t>>>;
  if (!impl_->executor) return Sizes(impl_->outputs.size());
  const auto ask = [&]() -> Result<Sizes> {
    TRY(const auto inputs, hollow_inputs(impl_->executor->plan(), shapes));
    TRY(Sizes sizes, impl_->executor->output_sizes(inputs, &impl_->refusal));
    TRY_OK(Work::check());
    return sizes;
  };
  return placed(impl_->session->name, ask());
}

Status Context::Impl::run(std::span<const AnyValue> given, bool own_outputs, const RunOptions& options) {
  if (given.size() != inputs.size())
    return refuse("run.inputs", "{} inputs are needed, {} are given", inputs.size(), given.size());
  // Nothing of the caller's is kept after the run.
  const struct Forget {
    std::vector<Datum>& data;
    ~Forget() {
      std::for_each(data.begin(), data.end(), [](Datum& datum) { forget(datum); });
    }
  } when_done{inputs};
  for (size_t i = 0; i < given.size(); ++i) {
    inputs[i] = given[i].datum();
    if (!inputs[i].is_tensor() || inputs[i].dtype() == DType::string) continue;
    if (inputs[i].dtype() == DType::boolean) {
      TRY(inputs[i].tensor(), clean_bools(std::move(inputs[i].tensor())));
      continue;
    }
    const auto unit = static_cast<uintptr_t>(std::max(1, anyshape::bits(inputs[i].dtype()) / 8));
    if (reinterpret_cast<uintptr_t>(inputs[i].tensor().bytes().data()) % unit == 0) continue;
    TRY(inputs[i].tensor(), inputs[i].tensor().aligned());
  }
  std::optional<WorkScope> scope;
  if (options.timeout > 0 || options.max_bytes > 0)
    scope.emplace(WorkLimits{nullptr, options.timeout, 0, options.max_bytes});
  const RunLimits limits{Work::max_bytes(), options.cancel};
  if (session->ort) return placed(session->name, run_ort(own_outputs, limits));
  Executor::Run run;
  run.inputs = inputs;
  run.outputs = outputs;
  run.own_outputs = own_outputs;
  run.limits = limits;
  run.seed = options.seed;
  run.observer = observer ? &observer : nullptr;
  run.refusal = &refusal;
  return placed(session->name, executor->run(run));
}

Status Context::Impl::run_ort(bool own_outputs, const RunLimits& limits) {
  OrtSession::Stop stop;
  if (Work::scope() || limits.cancel) stop = [&, scope = Work::scope()] { return limits.check_cancelled(scope); };
  TRY(std::vector<Datum> made, session->ort->run(inputs, stop));
  for (size_t i = 0; i < made.size(); ++i) {
    if (own_outputs || !outputs[i].is_tensor()) {
      outputs[i] = std::move(made[i]);
    } else {
      TRY_OK(copy_into(outputs[i], made[i], session->outputs[i].name));
    }
  }
  return {};
}

Result<std::vector<AnyValue>> Context::run(std::span<const AnyValue> inputs, const RunOptions& options) {
  TRY_OK(impl_->run(inputs, true, options));
  std::vector<AnyValue> out;
  for (Datum& datum : impl_->outputs) out.emplace_back(std::make_shared<Datum>(std::move(datum)));
  for (Datum& datum : impl_->outputs) datum = Datum();
  return out;
}

Status Context::run_into(std::span<const AnyValue> inputs, std::span<AnyValue> outputs, const RunOptions& options) {
  if (outputs.size() != impl_->outputs.size())
    return refuse("run.outputs", "the model has {} outputs, {} are asked for", impl_->outputs.size(), outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) impl_->outputs[i] = outputs[i].datum();
  TRY_OK(impl_->run(inputs, false, options));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]) outputs[i].datum() = impl_->outputs[i];
    forget(impl_->outputs[i]);
  }
  return {};
}

int64_t Context::memory() const { return impl_->executor ? impl_->executor->arena_bytes() : 0; }

void Context::observe(std::function<void(const ProfiledStep&)> observer) {
  if (!observer) {
    impl_->observer = nullptr;
    return;
  }
  impl_->observer = [observer = std::move(observer)](const StepTime& time) {
    const PlanStep& step = *time.step;
    observer({step.label, step.type, std::string(kernel_name(step)), time.begin_ns, time.end_ns});
  };
}

std::string chrome_trace(std::span<const ProfiledStep> steps) {
  std::string out = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
  const int64_t start = steps.empty() ? 0 : steps.front().begin_ns;
  std::string_view separator = "\n";
  for (const ProfiledStep& step : steps) {
    // Microseconds.
    out += fmt::format(R"({}{{"name": {}, "cat": {}, "ph": "X", "pid": 1, "tid": 1, "ts": {:.3f}, "dur": {:.3f}, )",
                       separator, json_quote(step.name), json_quote(step.type),
                       static_cast<double>(step.begin_ns - start) / 1e3,
                       static_cast<double>(step.end_ns - step.begin_ns) / 1e3);
    out += fmt::format(R"("args": {{"type": {}, "kernel": {}}}}})", json_quote(step.type), json_quote(step.kernel));
    separator = ",\n";
  }
  return out + "\n]}\n";
}

Result<std::string> Session::plan_text(const Shapes& shapes) const {
  if (impl_->ort) return usage("plan.engine", "ONNX Runtime has no plan to print");
  const Plan& plan = *impl_->model.plan;
  if (shapes.empty()) return print_plan(plan, nullptr);
  const auto print = [&]() -> Result<std::string> {
    TRY(const auto inputs, hollow_inputs(plan, shapes));
    Workers workers(1);
    Executor executor(impl_->model.plan, workers);
    const Executor::Refusal refusal = [&](std::span<const Datum> given, const PlanStage::Guard* guard) {
      return impl_->model.refusal(given, guard);
    };
    TRY(const auto numbers, executor.plan_numbers(inputs, &refusal));
    TRY_OK(Work::check());
    return print_plan(plan, numbers ? &*numbers : nullptr);
  };
  return placed(impl_->name, print());
}

}  // namespace anyshape
