#include "engine/executable/bound_plan.h"

#include <algorithm>

#include "engine/executable/block.h"

namespace anyshape {
namespace {

constexpr int64_t kSlotUnit = 64;
// Room for sizes that changes hands with that of temporary tensors.
constexpr size_t kUsualRank = 8;

int64_t element_bytes(DType dtype) { return std::max(1, bits(dtype) / 8); }

bool stays_inside(const PlanValue& window, const View& base, const View& view, const std::vector<int64_t>& registers) {
  if (window.dense) return view.count() == base.count();
  if (view.count() == 0) return true;
  for (size_t axis = 0; axis < window.start.size(); ++axis) {
    int64_t least = registers[window.start[axis]], most = least;
    for (size_t k = 0; k < window.axis.size(); ++k) {
      // Strides of an axis of one position are not used.
      if (window.axis[k] != axis || view.dims[k] <= 1) continue;
      const int64_t way = (view.dims[k] - 1) * window.step[k];
      (way < 0 ? least : most) += way;
    }
    if (least < 0 || most >= base.dims[axis]) return false;
  }
  return true;
}

}  // namespace

BoundPlan::BoundPlan(const Plan& plan)
    : plan_(plan),
      registers_(plan.formulas.registers()),
      views_(plan.values.size()),
      offsets_(plan.values.size()),
      slot_offsets_(plan.slots.size()),
      stage_bytes_(plan.stages.size()),
      stage_scratch_(plan.stages.size()),
      steps_(plan.steps.size()) {
  size_t total = 0, axes = 0;
  for (const PlanValue& value : plan.values) {
    size_start_.push_back(total);
    total += 2 * value.dims.size();
  }
  for (const PlanInput& input : plan.inputs) axes += input.axes.size();
  sizes_.resize(total);
  key_.reserve(axes);
  std::vector<size_t> lines;
  for (const PlanStep& step : plan.steps) {
    lines.push_back(bound_.size());
    if (step.kind == PlanStep::Kind::planned && step.kernel->bind)
      bound_.resize(bound_.size() + (static_cast<size_t>(step.kernel->bound_bytes) + sizeof(Line) - 1) / sizeof(Line));
  }
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (plan.steps[i].kind == PlanStep::Kind::planned && plan.steps[i].kernel->bind)
      steps_[i].bound = bound_[lines[i]].bytes;
    const PlanStep& step = plan.steps[i];
    if (step.kind == PlanStep::Kind::planned) steps_[i].views.resize(step.in.size() + step.out.size());
    if (step.kind != PlanStep::Kind::reference) continue;
    steps_[i].in.resize(step.in.size());
    steps_[i].out.resize(step.out.size());
    prepare_operands(step, steps_[i]);
  }
}

void BoundPlan::prepare_operands(const PlanStep& step, Step& operands) const {
  const auto prepare = [&](Datum& operand, uint32_t value) {
    if (value == kNone || plan_.values[value].dtype == DType::string) return;
    const std::vector<int64_t> room(std::max(plan_.values[value].dims.size(), kUsualRank));
    operand.tensor().point_at(plan_.values[value].dtype, room, nullptr);
    operand.settle();
  };
  for (size_t k = 0; k < step.in.size(); ++k) prepare(operands.in[k], step.in[k]);
  for (size_t k = 0; k < step.out.size(); ++k) prepare(operands.out[k], step.out[k]);
}

void BoundPlan::begin(std::span<const int64_t> key, uint64_t serial) {
  valid_ = false;
  serial_ = serial;
  for (Step& step : steps_) step.recording.reset();
  key_.assign(key.begin(), key.end());
  plan_.formulas.start(registers_);
}

const PlanStage::Guard* BoundPlan::evaluate(size_t stage) {
  const PlanStage& s = plan_.stages[stage];
  plan_.formulas.evaluate(registers_, s.code_begin, s.code_end);
  for (const auto& guard : s.guards)
    if (registers_[guard.holds] != 1) return &guard;
  return nullptr;
}

bool BoundPlan::has_sizes(size_t stage) const {
  const auto is_size = [&](Register reg) { return registers_[reg] >= 0; };
  const auto& values = plan_.stages[stage].values;
  return std::all_of(values.begin(), values.end(), [&](uint32_t value) {
    const auto& dims = plan_.values[value].dims;
    return std::all_of(dims.begin(), dims.end(), is_size);
  });
}

Status BoundPlan::check_claims(size_t stage) const {
  for (const auto& claim : plan_.stages[stage].claims)
    if (registers_[claim.holds] != 1)
      return anyshape::at(fmt::format("node {:?}", plan_.graph->label(plan_.graph->nodes[claim.node])),
                          system_error(kWrongSize, "its sizes are not those of its rule: a fault of anyshape").value());
  return {};
}

Status BoundPlan::set_sizes(uint32_t value) {
  const PlanValue& planned = plan_.values[value];
  const size_t rank = planned.dims.size();
  int64_t* dims = sizes_.data() + size_start_[value];
  int64_t* strides = dims + rank;
  for (size_t i = 0; i < rank; ++i) {
    dims[i] = registers_[planned.dims[i]];
    if (dims[i] < 0) return refuse(kWrongSize, "a tensor would get the size {}", dims[i]);
  }
  int64_t step = 1;
  const bool empty = std::find(dims, dims + rank, 0) != dims + rank;
  for (size_t i = rank; i-- > 0;) {
    strides[i] = step;
    if (!__builtin_mul_overflow(step, std::max<int64_t>(dims[i], 1), &step) && step <= Block::kLargest) continue;
    // An empty axis makes all others harmless, whatever their product.
    step = 1;
    if (!empty)
      return system_error("tensor.memory", "out of memory: a tensor of sizes [{}] is needed",
                          fmt::join(std::span(dims, rank), ", "));
  }
  views_[value] = {planned.dtype, {dims, rank}, {strides, rank}, nullptr};
  return {};
}

Status BoundPlan::set_window(uint32_t value) {
  const PlanValue& planned = plan_.values[value];
  offsets_[value] = 0;
  const View& base = views_[planned.index];
  if (!stays_inside(planned, base, views_[value], registers_))
    return system_error(kWrongSize, "a window of sizes [{}] does not fit on [{}]: a fault of anyshape",
                        fmt::join(views_[value].dims, ", "), fmt::join(base.dims, ", "));
  if (planned.dense) return {};
  int64_t* strides = sizes_.data() + size_start_[value] + planned.dims.size();
  int64_t offset = 0;
  for (size_t i = 0; i < planned.start.size(); ++i) offset += registers_[planned.start[i]] * base.strides[i];
  for (size_t k = 0; k < planned.axis.size(); ++k)
    // An axis of one position may come with any step.
    strides[k] =
        planned.axis[k] == kNone || views_[value].dims[k] <= 1 ? 0 : base.strides[planned.axis[k]] * planned.step[k];
  offsets_[value] = views_[value].count() == 0 ? 0 : offset * element_bytes(planned.dtype);
  return {};
}

int64_t BoundPlan::bytes(uint32_t value) const {
  return (views_[value].count() * std::max(1, bits(plan_.values[value].dtype)) + 7) / 8;
}

Status BoundPlan::lay_out(size_t stage) {
  TRY_OK(check_claims(stage));
  for (uint32_t value : plan_.stages[stage].values) {
    TRY_OK(set_sizes(value));
    if (plan_.values[value].kind == PlanValue::Kind::window) TRY_OK(set_window(value));
  }
  TRY_OK(place_slots(stage));
  size_steps(stage);
  return {};
}

Status BoundPlan::place_slots(size_t stage) {
  stage_bytes_[stage] = {};
  for (size_t i = 0; i < plan_.slots.size(); ++i) {
    const PlanSlot& slot = plan_.slots[i];
    if (slot.stage != stage) continue;
    int64_t size = 0;
    for (Register bytes : slot.bytes) size = std::max(size, registers_[bytes]);
    int64_t& total = stage_bytes_[stage][static_cast<size_t>(slot.space)];
    slot_offsets_[i] = total;
    total += (size + kSlotUnit - 1) / kSlotUnit * kSlotUnit;
    if (total > Block::kLargest)
      return system_error("tensor.memory", "out of memory: over {} bytes are needed", Block::kLargest);
  }
  return {};
}

void BoundPlan::set_views(const PlanStep& step, Step& bound) const {
  size_t k = 0;
  for (const auto* values : {&step.in, &step.out})
    for (uint32_t value : *values) bound.views[k++] = value == kNone ? View() : views_[value];
  bound.placed_at = 0;
}

void BoundPlan::size_steps(size_t stage) {
  const auto [first, last] = steps_of(plan_, stage);
  int64_t& most = stage_scratch_[stage];
  most = 0;
  if (stage == 0) has_tasks_ = false;
  for (size_t i = first; i < last; ++i) {
    const PlanStep& step = plan_.steps[i];
    if (step.kind != PlanStep::Kind::planned) continue;
    Step& bound = steps_[i];
    set_views(step, bound);
    ViewArgs args = args_of(step, bound, nullptr);
    args.bound = nullptr;
    bound.tasks = step.kernel->tasks ? step.kernel->tasks(args) : 1;
    bound.scratch = step.kernel->scratch ? step.kernel->scratch(args) : 0;
    if (step.kernel->bind) step.kernel->bind(args, bound.bound);
    most = std::max(most, bound.scratch);
    if (stage == 0 && bound.tasks > 1) has_tasks_ = true;
  }
}

}  // namespace anyshape
