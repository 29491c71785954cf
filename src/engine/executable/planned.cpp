#include "engine/executable/planned.h"

#include <algorithm>

#include "base/effort.h"
#include "base/os/block.h"
#include "base/work.h"
#include "solve/budget.h"
#include "solve/walk_shape.h"
#include "tensor/own.h"

namespace anyshape {
namespace {

void log_passes(const Plan& plan, const std::function<void(std::string_view)>& log) {
  if (!log) return;
  for (const auto& ran : plan.passes)
    log(fmt::format("pass {}: {} -> {} nodes in {:.3f} ms", ran.pass, ran.nodes_before, ran.nodes_after,
                    static_cast<double>(ran.nanoseconds) * 1e-6));
}

// Sizes of an input that is not named; all of them must be numbers.
Result<std::vector<int64_t>> fixed_sizes(const Plan& plan, const PlanInput& input) {
  std::vector<int64_t> registers(plan.formulas.registers());
  plan.formulas.start(registers);
  // Only numbers are there before anything is evaluated.
  const auto open = [&](const PlanInput::Axis& axis) { return registers[axis.size] < 0; };
  if (!input.has_rank || std::any_of(input.axes.begin(), input.axes.end(), open))
    return at(fmt::format("input {:?}", input.name), usage("input.missing", "no shape is given for it").value());
  std::vector<int64_t> dims;
  for (const auto& axis : input.axes) dims.push_back(registers[axis.size]);
  return dims;
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
    const auto it = shapes.find(input.name);
    if (input.kind == Fact::Kind::sequence && it == shapes.end()) {
      out.push_back(Datum::sequence(input.dtype, {}));
      continue;
    }
    TRY(std::vector<int64_t> dims,
        it != shapes.end() ? Result<std::vector<int64_t>>(it->second) : fixed_sizes(plan, input));
    const DType dtype = input.dtype == DType::undefined ? DType::f32 : input.dtype;
    out.emplace_back(Tensor::borrow(dtype, std::move(dims), {}, nullptr));
  }
  return out;
}

class PlannedContext final : public EngineContext {
 public:
  PlannedContext(std::unique_ptr<Queue> queue, std::shared_ptr<const Plan> plan, Judge judge)
      : queue_(std::move(queue)), executor_(std::move(plan), *queue_, std::move(judge)) {}

  Status run(const Run& run) override { return executor_.run(run); }

  void make_room(std::span<Datum> inputs, std::span<Datum> outputs) const override {
    const Plan& plan = executor_.plan();
    const auto room = [](Datum& datum, size_t rank) {
      datum.tensor().point_at(DType::u8, std::vector<int64_t>(rank), nullptr);
      forget(datum);
    };
    for (size_t i = 0; i < inputs.size(); ++i) room(inputs[i], plan.inputs[i].axes.size());
    for (size_t i = 0; i < outputs.size(); ++i) room(outputs[i], plan.values[plan.outputs[i]].dims.size());
  }

  Status reserve(const Shapes& largest) override {
    TRY_OK(Work::check());
    TRY(const auto inputs, hollow_inputs(executor_.plan(), largest));
    return executor_.reserve(inputs);
  }

  Result<OutputSizes> output_sizes(const Shapes& shapes) override {
    TRY(const auto inputs, hollow_inputs(executor_.plan(), shapes));
    TRY(OutputSizes sizes, executor_.output_sizes(inputs));
    TRY_OK(Work::check());
    return sizes;
  }

  int64_t memory() const override { return executor_.arena_bytes(); }

 private:
  std::unique_ptr<Queue> queue_;
  Executor executor_;
};

class PlannedExecutable final : public Executable {
 public:
  PlannedExecutable(const PlanEngine& engine, PlannedModel model, std::function<void(std::string_view)> log)
      : name_(engine.name), make_queue_(engine.make_queue), model_(std::move(model)), log_(std::move(log)) {}

  std::string engine() const override { return name_; }

  std::unique_ptr<EngineContext> make_context(const Threads& threads) const override {
    const auto judge = [this](std::span<const Datum> inputs, const PlanStage::Guard* guard) -> Status {
      TRY_OK(model_.judge(inputs, guard));
      if (log_) log_("these shapes are beyond what the plan is for: reference kernels run");
      return {};
    };
    return std::make_unique<PlannedContext>(make_queue_(threads), model_.plan(), judge);
  }

  Result<std::string> plan_text(const Shapes& shapes) const override {
    const Plan& plan = *model_.plan();
    if (shapes.empty()) return print_plan(plan, nullptr);
    TRY(const auto numbers, numbers_at(shapes));
    return print_plan(plan, numbers ? &*numbers : nullptr);
  }

  Result<PlanData> plan_data(const Shapes& shapes) const override {
    const Plan& plan = *model_.plan();
    TRY(const auto numbers, numbers_at(shapes));
    if (!numbers) return usage("plan.numbers", "these shapes are beyond what the plan is for");
    PlanData out{plan_json(plan, *numbers), {}};
    for (const PlanStep& step : plan.steps) out.steps.push_back(step.label);
    return out;
  }

 private:
  // Nothing where the source runs instead of the plan.
  Result<std::optional<PlanNumbers>> numbers_at(const Shapes& shapes) const {
    TRY(const auto inputs, hollow_inputs(*model_.plan(), shapes));
    const auto queue = make_queue_(1);
    Executor executor(model_.plan(), *queue, [this](std::span<const Datum> given, const PlanStage::Guard* guard) {
      return model_.judge(given, guard);
    });
    TRY(auto numbers, executor.plan_numbers(inputs));
    TRY_OK(Work::check());
    return numbers;
  }

  std::string name_;
  std::unique_ptr<Queue> (*make_queue_)(const Threads& threads);
  PlannedModel model_;
  std::function<void(std::string_view)> log_;
};

}  // namespace

Result<PlannedModel> PlannedModel::make(const Target& target, const EngineModel& model, const PlanOptions& options) {
  if (model.typed->refusal()) return tl::unexpected(*model.typed->refusal());
  PlannedModel out;
  out.source_ = model.graph;
  const os::BlockScope packed;  // weights, which live as long as the plan
  TRY(out.plan_, make_plan(*model.typed, target, options));
  return out;
}

Status PlannedModel::judge(std::span<const Datum> inputs, const PlanStage::Guard* guard) const {
  Shapes shapes;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].is_tensor()) shapes[plan_->inputs[i].name] = inputs[i].tensor().dims();
  const Answer answer = walk_shape(*source_, shapes).answer;
  if (answer.kind == Answer::Kind::refuse)
    return tl::unexpected(Error{Error::Kind::refused, answer.code, answer.place, answer.sentence, {}});
  if (guard && guard->recorded)
    return tl::unexpected(Error{Error::Kind::refused, guard->code, guard->node, guard->sentence, {}});
  return {};
}

Result<std::unique_ptr<Executable>> load_planned(const PlanEngine& engine, const EngineModel& model,
                                                 const EngineOptions& options) {
  PlanOptions plan_options;
  plan_options.plain = !options.optimize;
  plan_options.without = options.without;
  plan_options.dump = options.dump;
  plan_options.verify |= options.verify;
  plan_options.assumed = model.assumed;
  // All bodies together are solved within it.
  const Effort effort(budget::with_nodes(budget::kSolve, model.graph->nodes.size()));
  Target target = engine.target;
  target.exact = options.exact;
  if (target.lanes > 0) target.lanes = options.lanes.value_or(target.lanes);
  TRY(PlannedModel planned, PlannedModel::make(target, model, plan_options));
  log_passes(*planned.plan(), options.log);
  return std::make_unique<PlannedExecutable>(engine, std::move(planned), options.log);
}

}  // namespace anyshape
