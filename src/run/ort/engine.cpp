#include "run/ort/engine.h"

#include "run/ort/session.h"
#include "tensor/own.h"

namespace anyshape::ort {
namespace {

class OrtContext final : public EngineContext {
 public:
  OrtContext(const OrtSession& session, std::span<const EngineModel::Port> outputs)
      : session_(session), outputs_(outputs) {}

  Status run(const anyshape::Run& run) override {
    OrtSession::Stop stop;
    if (Work::scope() || run.limits.cancel)
      stop = [&, scope = Work::scope()] { return run.limits.check_cancelled(scope); };
    TRY(std::vector<Datum> made, session_.run(run.inputs, stop));
    for (size_t i = 0; i < made.size(); ++i) {
      if (run.own_outputs || !run.outputs[i].is_tensor()) {
        run.outputs[i] = std::move(made[i]);
      } else {
        TRY_OK(copy_into(run.outputs[i], made[i], outputs_[i].name));
      }
    }
    return {};
  }

  Result<OutputSizes> output_sizes(const Shapes&) override { return OutputSizes(outputs_.size()); }

 private:
  const OrtSession& session_;
  std::span<const EngineModel::Port> outputs_;
};

class OrtExecutable final : public Executable {
 public:
  OrtExecutable(std::unique_ptr<OrtSession> session, std::vector<EngineModel::Port> outputs)
      : session_(std::move(session)), outputs_(std::move(outputs)) {}

  std::string engine() const override { return "onnxruntime " + session_->version(); }
  std::unique_ptr<EngineContext> make_context(const Threads&) const override {
    return std::make_unique<OrtContext>(*session_, outputs_);
  }
  Result<std::string> plan_text(const Shapes&) const override {
    return usage("plan.engine", "ONNX Runtime has no plan to print");
  }
  Result<PlanData> plan_data(const Shapes&) const override {
    return usage("plan.engine", "ONNX Runtime has no plan to show");
  }

 private:
  std::unique_ptr<OrtSession> session_;
  std::vector<EngineModel::Port> outputs_;
};

// From the file where the model is still as it was read: only there external data is found.
Result<std::unique_ptr<OrtSession>> open(const EngineModel& model, const OrtOptions& options) {
  if (!model.file.empty()) return OrtSession::load(options, model.file);
  const EngineModel::Bytes held = model.bytes();
  return OrtSession::load(options, held.bytes);
}

}  // namespace

Result<std::unique_ptr<Executable>> load(const EngineModel& model, const EngineOptions& options) {
  OrtOptions wanted;
  for (const EngineModel::Port& input : model.inputs) wanted.inputs.emplace_back(input.name, input.type);
  wanted.library = options.library;
  wanted.threads = options.threads;
  wanted.optimize = options.optimize;
  TRY(auto session, open(model, wanted));
  return std::make_unique<OrtExecutable>(std::move(session), model.outputs);
}

}  // namespace anyshape::ort
