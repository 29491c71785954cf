#include "anyshape/session.h"

#include <algorithm>
#include <thread>

#include "api/model_impl.h"
#include "base/json.h"
#include "base/work.h"
#include "ir/defaults.h"
#include "passes/pipeline.h"
#include "picture/page.h"
#include "run/engines.h"
#include "tensor/alignment.h"
#include "tensor/bools.h"
#include "tensor/own.h"

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

std::vector<Requirement> assumed_of(const Model::Impl& model, const Typed& typed) {
  std::vector<Requirement> out;
  for (const auto& entry : model.file.proto.metadata_props) {
    if (entry.key != kAssumedKey) continue;
    for (const Assumed::Entry& one : read_assumed(typed, entry.value).entries) {
      if (!one.text.binding) continue;
      Requirement r;
      r.condition = one.condition;
      r.code = kAssumedCode;
      r.recorded = true;
      r.node = one.text.origin;
      r.sentence = fmt::format("the exporter recorded that the file is right only where {}", one.text.text);
      out.push_back(std::move(r));
    }
  }
  return out;
}

// The model as a file would hold it.
EngineModel::Bytes encoded(const Model::Impl& source) {
  if (source.owners.empty()) return {source.file.file->bytes(), source.file.file};
  auto bytes = std::make_shared<std::vector<std::byte>>();
  const onnx::Encoded encoded = onnx::serialize(source.file.proto);
  for (const onnx::Bytes piece : encoded.pieces()) bytes->insert(bytes->end(), piece.begin(), piece.end());
  return {*bytes, bytes};
}

EngineModel engine_model(const Model::Impl& source) {
  EngineModel out;
  out.graph = source.graph;
  out.typed = source.typed_for_runs();
  out.assumed = assumed_of(source, *out.typed);
  if (source.owners.empty()) out.file = source.file.path;
  out.bytes = [&source] { return encoded(source); };
  return out;
}

std::vector<EngineModel::Port> ports_of(const std::vector<IoInfo>& infos) {
  std::vector<EngineModel::Port> out;
  for (const IoInfo& info : infos) out.push_back({info.name, info.type});
  return out;
}

EngineOptions engine_options(const SessionOptions& options) {
  EngineOptions out;
  out.optimize = options.optimize;
  out.without = options.without;
  out.exact = options.exact;
  out.lanes = options.lanes;
  out.dump = options.dump;
  out.log = options.log;
  out.library = options.ort_library;
  out.threads = options.ort_threads;
  return out;
}

// Errors get the model's name in front of their place.
template <class T>
Result<T> placed(const std::string& model, Result<T> result) {
  if (!result) return at(model, std::move(result).error());
  return result;
}

}  // namespace

struct Session::Impl {
  std::string name;
  std::unique_ptr<Executable> executable;
  std::vector<IoInfo> inputs, outputs, optional;
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

std::vector<std::string> engines() {
  std::vector<std::string> out;
  for (const EngineRow& row : engine_table()) out.emplace_back(row.name);
  return out;
}

std::vector<PassInfo> passes() {
  std::vector<PassInfo> out;
  for (const Pass& pass : all_passes()) out.push_back({std::string(pass.name), std::string(pass.does)});
  return out;
}

Result<Session> Session::load(const std::filesystem::path& path, const SessionOptions& options) {
  TRY(const Model model, Model::load(path, {.strict = options.strict}));
  return from_model(model, options);
}

Result<Session> Session::from_bytes(std::vector<std::byte> bytes, const SessionOptions& options) {
  TRY(const Model model, Model::from_bytes(std::move(bytes), "model", {.strict = options.strict}));
  return from_model(model, options);
}

Result<Session> Session::from_model(const Model& model, const SessionOptions& options) {
  const Model::Impl& source = model.impl();
  TRY(const EngineRow* engine, find_engine(engine_table(), options.engine));
  EngineModel given = engine_model(source);
  TRY_OK(source.going_on());
  auto impl = std::make_shared<Impl>();
  impl->name = source.name;
  impl->add_infos(*given.typed, model, options);
  given.inputs = ports_of(impl->inputs);
  given.outputs = ports_of(impl->outputs);
  auto loaded = engine->load(given, engine_options(options));
  if (!loaded) return at(source.name, std::move(loaded).error());
  impl->executable = *std::move(loaded);
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

std::string Session::engine() const { return impl_->executable->engine(); }

struct Context::Impl {
  std::shared_ptr<const Session::Impl> session;
  std::unique_ptr<EngineContext> context;
  StepObserver observer;
  std::vector<Datum> inputs, outputs;

  Impl(std::shared_ptr<const Session::Impl> shared, const Threads& threads)
      : session(std::move(shared)),
        context(session->executable->make_context(threads)),
        inputs(session->inputs.size()),
        outputs(session->outputs.size()) {
    context->make_room(inputs, outputs);
  }

  Status run(std::span<const AnyValue> given, bool own_outputs, const RunOptions& options);
  // Bools clean, entries at addresses their type allows.
  Status take_inputs(std::span<const AnyValue> given);
};

Context::Context(const Session& session, int threads)
    : impl_(std::make_unique<Impl>(
          session.shared(),
          threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency())))) {}
Context::Context(const Session& session, const TaskPool& pool)
    : impl_(std::make_unique<Impl>(session.shared(), Threads(pool.parallel, pool.user))) {}
Context::~Context() = default;
Context::Context(Context&&) noexcept = default;
Context& Context::operator=(Context&&) noexcept = default;

Status Context::reserve(const Shapes& largest) {
  return placed(impl_->session->name, impl_->context->reserve(largest));
}

Result<std::vector<std::optional<std::vector<int64_t>>>> Context::output_shapes(const Shapes& shapes) {
  return placed(impl_->session->name, impl_->context->output_sizes(shapes));
}

Status Context::Impl::take_inputs(std::span<const AnyValue> given) {
  for (size_t i = 0; i < given.size(); ++i) {
    lend(inputs[i], given[i].datum());
    if (!inputs[i].is_tensor()) continue;
    if (inputs[i].dtype() == DType::boolean) {
      TRY(inputs[i].tensor(), clean_bools(std::move(inputs[i].tensor())));
    } else if (!is_aligned(inputs[i].tensor())) {
      TRY(inputs[i].tensor(), inputs[i].tensor().aligned());
    }
  }
  return {};
}

Status Context::Impl::run(std::span<const AnyValue> given, bool own_outputs, const RunOptions& options) {
  if (given.size() != inputs.size())
    return refuse("run.inputs", "{} inputs are needed, {} are given", inputs.size(), given.size());
  // Nothing of the caller's is held after the run.
  const struct Forget {
    std::vector<Datum>& data;
    ~Forget() { std::ranges::for_each(data, forget_shares); }
  } when_done{inputs};
  TRY_OK(take_inputs(given));
  std::optional<WorkScope> scope;
  if (options.timeout > 0 || options.max_bytes > 0)
    scope.emplace(WorkLimits{nullptr, options.timeout, 0, options.max_bytes});
  Run run;
  run.inputs = inputs;
  run.outputs = outputs;
  run.own_outputs = own_outputs;
  run.limits = {Work::max_bytes(), options.cancel};
  run.seed = options.seed;
  run.observer = observer ? &observer : nullptr;
  return placed(session->name, context->run(run));
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
  for (size_t i = 0; i < outputs.size(); ++i) lend(impl_->outputs[i], outputs[i].datum());
  TRY_OK(impl_->run(inputs, false, options));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]) outputs[i].datum() = impl_->outputs[i];
    forget_shares(impl_->outputs[i]);
  }
  return {};
}

int64_t Context::memory() const { return impl_->context->memory(); }

void Context::observe(std::function<void(const ProfiledStep&)> observer) {
  if (!observer) {
    impl_->observer = nullptr;
    return;
  }
  impl_->observer = [observer = std::move(observer)](const StepTime& step) {
    observer({std::string(step.name), std::string(step.type), std::string(step.kernel), step.begin_ns, step.end_ns});
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

Result<std::string> Session::plan_html(const Shapes& shapes, std::optional<std::string_view> trace) const {
  TRY(const Executable::PlanData plan, placed(impl_->name, impl_->executable->plan_data(shapes)));
  return picture::plan_page({impl_->name, to_text(shapes), plan.json, plan.steps, trace});
}

Result<std::string> Session::plan_text(const Shapes& shapes) const {
  return placed(impl_->name, impl_->executable->plan_text(shapes));
}

}  // namespace anyshape
