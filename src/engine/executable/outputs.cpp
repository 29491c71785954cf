#include "engine/executable/outputs.h"

#include <algorithm>
#include <cstring>

#include "kernels/dense_copy.h"
#include "tensor/alignment.h"
#include "tensor/own.h"

namespace anyshape {
namespace {

using Kind = PlanValue::Kind;

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  return !a.empty() && !b.empty() && a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
}

}  // namespace

Outputs::Outputs(const RunState& state, Storage& storage)
    : state_(state), plan_(*state.plan), storage_(storage), memory_(plan_.outputs.size()) {
  for (Memory& memory : memory_) memory.blocks.reserve(Memory::kKept);
}

void Outputs::begin_run() {
  write_inputs_ = false;
  for (size_t i = 0; i < memory_.size(); ++i) {
    memory_[i].given = !state_.run->own_outputs && state_.run->outputs[i].is_tensor();
    memory_[i].last = memory_[i].given && is_input(i);
    write_inputs_ |= memory_[i].last;
  }
}

bool Outputs::is_input(size_t output) const {
  const auto bytes = state_.run->outputs[output].tensor().bytes();
  const auto& inputs = state_.run->inputs;
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const Datum& input) { return overlap(input.tensor().bytes(), bytes); });
}

Status Outputs::reserve() {
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    const PlanValue& value = plan_.values[plan_.outputs[i]];
    if (value.kind == Kind::dynamic || !value.has_sizes || value.stage != 0) continue;
    auto& blocks = memory_[i].blocks;
    std::erase_if(blocks, [](const Block& block) { return block.unused(); });
    while (blocks.size() < Memory::kReserved) {
      Block block;
      TRY_OK(block.reserve(std::max<int64_t>(state_.binding->bytes(plan_.outputs[i]), 1)));
      blocks.push_back(std::move(block));
    }
  }
  return {};
}

Result<std::byte*> Outputs::memory_for(size_t output, int64_t bytes) {
  auto& blocks = memory_[output].blocks;
  // Those of a body count as long as somebody holds them.
  if (!state_.is_body) TRY_OK(storage_.charge(bytes));
  // Memory that a caller still holds is left alone.
  for (Block& block : blocks)
    if (block.size() >= std::max<int64_t>(bytes, 1) && block.unused()) {
      if (state_.is_body) TRY_OK(block.count());
      std::swap(block, blocks.back());
      return blocks.back().data();
    }
  std::erase_if(blocks, [](const Block& block) { return block.unused(); });
  if (blocks.size() >= Memory::kKept) blocks.erase(blocks.begin());
  Block fresh;
  TRY_OK(fresh.reserve(std::max<int64_t>(bytes, 1), state_.is_body));
  blocks.push_back(std::move(fresh));
  return blocks.back().data();
}

Status Outputs::prepare(size_t stage) {
  for (uint32_t value : plan_.stages[stage].values) {
    const PlanValue& planned = plan_.values[value];
    if (planned.kind != Kind::output) continue;
    const size_t i = planned.index;
    if (memory_[i].given) {
      Tensor& out = state_.run->outputs[i].tensor();
      TRY_OK(check_given(i, state_.binding->view(value)));
      if (is_aligned(out) && !memory_[i].last) {
        storage_.output(i) = out.data();
        continue;
      }
    }
    TRY(storage_.output(i), memory_for(i, state_.binding->bytes(value)));
  }
  return {};
}

Status Outputs::check_given(size_t output, const View& made) const {
  const Datum& out = state_.run->outputs[output];
  if (out.dtype() == made.dtype && std::ranges::equal(out.tensor().dims(), made.dims)) return {};
  return refuse("output.shape", "output {:?} is {}[{}], the memory given for it is {}[{}]", plan_.output_names[output],
                name(made.dtype), fmt::join(made.dims, ", "), name(out.dtype()), fmt::join(out.tensor().dims(), ", "));
}

Status Outputs::hand_over() {
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    const bool dynamic = plan_.values[plan_.outputs[i]].kind == Kind::dynamic;
    TRY_OK(dynamic ? hand_over_dynamic(i) : hand_over_view(i));
  }
  for (size_t i = 0; write_inputs_ && i < plan_.outputs.size(); ++i) {
    if (!memory_[i].last) continue;
    Tensor& out = state_.run->outputs[i].tensor();
    const uint32_t value = plan_.outputs[i];
    if (plan_.values[value].kind == Kind::dynamic) {
      TRY_OK(copy_into(state_.run->outputs[i], storage_.own_memory(value), plan_.output_names[i]));
    } else if (out.data() != storage_.output(i)) {
      std::memcpy(out.data(), storage_.output(i), out.bytes().size());
    }
  }
  return {};
}

Status Outputs::hand_over_dynamic(size_t output) {
  Datum &out = state_.run->outputs[output], &made = storage_.own_memory(plan_.outputs[output]);
  if (memory_[output].last) {
    TRY(made, own(made, true));
    return {};
  }
  if (memory_[output].given) return copy_into(out, made, plan_.output_names[output]);
  // A caller may write into what it gets: it is neither a constant nor memory of another output.
  const bool shared = !state_.is_body && (!made.is_tensor() || made.tensor().shared());
  TRY(out, own(made, shared || write_inputs()));
  return {};
}

Status Outputs::hand_over_view(size_t output) {
  const uint32_t value = plan_.outputs[output];
  const PlanValue& planned = plan_.values[value];
  Datum& out = state_.run->outputs[output];
  const bool given = memory_[output].given, last = memory_[output].last;
  if (planned.kind == Kind::constant && !fits_view(planned.dtype)) {
    if (given) return copy_into(out, planned.constant, plan_.output_names[output]);
    TRY(out, own(planned.constant, !state_.is_body));
    return {};
  }
  const bool direct = planned.kind == Kind::output && planned.index == output;
  if (direct && given && (last || storage_.output(output) == out.tensor().bytes().data())) return {};
  const View from = storage_.view(value);
  if (given) TRY_OK(check_given(output, from));
  if (!direct && (!given || last)) {
    TRY(storage_.output(output), memory_for(output, state_.binding->bytes(value)));
  }
  if (!given) {
    if (!out.is_tensor()) forget(out);
    const Block& block = memory_[output].blocks.back();
    out.tensor().point_at(planned.dtype, from.dims, storage_.output(output),
                          state_.is_body ? block.sole_owner() : block.owner());
    out.settle();
    if (direct) return {};
  }
  if (from.count() == 0) return {};
  std::byte* to = last ? storage_.output(output) : out.tensor().data();
  if (from.dense()) {
    std::memcpy(to, from.data, out.tensor().bytes().size());
  } else {
    kernels::dense_copy(from, {from.dtype, from.dims, from.strides, to});
  }
  return {};
}

Status Outputs::set(std::vector<Datum> made) {
  // All before the first is written: memory of an output may be that of an input which is an output itself.
  for (Datum& output : made) {
    TRY(output, own(output, true));
  }
  const Run& run = *state_.run;
  for (size_t i = 0; i < made.size(); ++i) {
    if (memory_[i].given) {
      TRY_OK(copy_into(run.outputs[i], made[i], plan_.output_names[i]));
    } else {
      run.outputs[i] = std::move(made[i]);
    }
  }
  return {};
}

}  // namespace anyshape
