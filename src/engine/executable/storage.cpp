#include "engine/executable/storage.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tensor/own.h"

namespace anyshape {
namespace {

using Kind = PlanValue::Kind;

}  // namespace

Storage::Storage(const RunState& state)
    : state_(state),
      plan_(*state.plan),
      scratch_(plan_.target.memory),
      data_(plan_.values.size()),
      outputs_(plan_.outputs.size()) {
  for (size_t i = 0; i < plan_.stages.size(); ++i) blocks_.push_back({Block(), Block(plan_.target.memory)});
  for (uint32_t value = 0; value < plan_.values.size(); ++value)
    if (plan_.values[value].kind == Kind::dynamic) dynamic_values_.push_back(value);
}

void Storage::begin_run() {
  charged_ = MemoryMeter::share();
  charged_scratch_ = 0;
}

void Storage::end_run() {
  for (uint32_t value : dynamic_values_) forget(data_[value]);
  charged_.reset();
}

Status Storage::charge(int64_t bytes) {
  if (!charged_.take(bytes)) return MemoryMeter::out_of_memory();
  return {};
}

Status Storage::enter(size_t stage) {
  const BoundPlan& binding = *state_.binding;
  // All of it is there since the last run.
  if (stage == 0 && written_ == binding.serial() && !MemoryMeter::counts()) return {};
  const int64_t host = binding.stage_bytes(stage, Space::host), engine = binding.stage_bytes(stage, Space::engine);
  TRY_OK(charge(host + engine));
  if (stage == 0 && host > block(stage, Space::host).size()) written_ = 0, ++host_generation_;
  TRY_OK(block(stage, Space::host).reserve(host));
  if (stage == 0 && engine > block(stage, Space::engine).size()) ++generation_;
  TRY_OK(block(stage, Space::engine).reserve(engine));
  const int64_t scratch = binding.scratch(stage);
  if (scratch > charged_scratch_) TRY_OK(charge(scratch - std::exchange(charged_scratch_, scratch)));
  if (scratch > scratch_.size()) ++generation_;
  TRY_OK(scratch_.reserve(scratch));
  if (stage > 0 || written_ != binding.serial()) write_computed(stage);
  if (stage == 0) written_ = binding.serial();
  return {};
}

void Storage::write_computed(size_t stage) {
  for (uint32_t value : plan_.stages[stage].values) {
    const PlanValue& planned = plan_.values[value];
    if (planned.kind != Kind::computed) continue;
    std::byte* to = pointer(value);
    const auto size = static_cast<size_t>(bits(planned.dtype) / 8);
    for (size_t i = 0; i < planned.entries.size(); ++i) {
      const int64_t entry = state_.binding->at(planned.entries[i]);
      std::memcpy(to + i * size, &entry, size);
    }
  }
}

std::byte* Storage::pointer(uint32_t value) const {
  const PlanValue& planned = plan_.values[value];
  switch (planned.kind) {
    case Kind::constant:
      return planned.resident ? planned.resident.get()
                              : const_cast<std::byte*>(planned.constant.tensor().bytes().data());
    case Kind::input:
      return const_cast<std::byte*>(state_.run->inputs[planned.index].tensor().bytes().data());
    case Kind::output:
      return outputs_[planned.index];
    case Kind::slot:
    case Kind::computed: {
      const PlanSlot& slot = plan_.slots[planned.index];
      return blocks_[slot.stage][static_cast<size_t>(slot.space)].data() + state_.binding->slot_offset(planned.index);
    }
    case Kind::window:
      return pointer(planned.index) + state_.binding->offset(value);
    case Kind::dynamic:
      return const_cast<std::byte*>(data_[value].tensor().bytes().data());
    case Kind::unused:
      break;
  }
  return nullptr;
}

View Storage::view(uint32_t value) const {
  View out = state_.binding->view(value);
  out.data = pointer(value);
  return out;
}

void Storage::set_datum(Datum& datum, uint32_t value) const {
  const PlanValue& planned = plan_.values[value];
  if (planned.kind == Kind::constant || planned.kind == Kind::dynamic) {
    datum = planned.kind == Kind::constant ? planned.constant : data_[value];
    return;
  }
  if (!datum.is_tensor()) forget(datum);
  datum.tensor().point_at(planned.dtype, state_.binding->view(value).dims, pointer(value));
  datum.settle();
}

Datum Storage::datum(uint32_t value) const {
  Datum out;
  set_datum(out, host_form(plan_, value));
  return out;
}

int64_t Storage::bytes() const {
  int64_t total = scratch_.size();
  for (const auto& both : blocks_)
    for (const Block& block : both) total += block.size();
  return total;
}

}  // namespace anyshape
