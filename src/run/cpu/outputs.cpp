#include <algorithm>
#include <cstring>

#include "kernels/dense_copy.h"
#include "run/cpu/executor.h"
#include "run/cpu/own.h"

namespace anyshape {
namespace {

using Kind = PlanValue::Kind;

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  return !a.empty() && !b.empty() && a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
}

bool is_placed(const Tensor& tensor) {
  const auto unit = static_cast<uintptr_t>(std::max(1, bits(tensor.dtype()) / 8));
  return reinterpret_cast<uintptr_t>(tensor.bytes().data()) % unit == 0;
}

}  // namespace

Status Executor::reserve_outputs() {
  for (size_t i = 0; i < plan_->outputs.size(); ++i) {
    const PlanValue& value = plan_->values[plan_->outputs[i]];
    if (value.kind == Kind::dynamic || !value.has_sizes || value.stage != 0) continue;
    auto& blocks = output_memory_[i].blocks;
    std::erase_if(blocks, [](const Block& block) { return block.unused(); });
    while (blocks.size() < OutputMemory::kReserved) {
      Block block;
      TRY_OK(block.reserve(std::max<int64_t>(binding_->bytes(plan_->outputs[i]), 1)));
      blocks.push_back(std::move(block));
    }
  }
  return {};
}

Result<std::byte*> Executor::own_output(size_t output, int64_t bytes) {
  auto& blocks = output_memory_[output].blocks;
  // Those of a body count as long as somebody holds them.
  if (!is_body_) TRY_OK(charge(bytes));
  // Memory that a caller still holds is left alone.
  for (Block& block : blocks)
    if (block.size() >= std::max<int64_t>(bytes, 1) && block.unused()) {
      if (is_body_) TRY_OK(block.count());
      std::swap(block, blocks.back());
      return blocks.back().data();
    }
  std::erase_if(blocks, [](const Block& block) { return block.unused(); });
  if (blocks.size() >= OutputMemory::kKept) blocks.erase(blocks.begin());
  Block fresh;
  TRY_OK(fresh.reserve(std::max<int64_t>(bytes, 1), is_body_));
  blocks.push_back(std::move(fresh));
  return blocks.back().data();
}

Status Executor::prepare_outputs(size_t stage) {
  for (uint32_t value : plan_->stages[stage].values) {
    const PlanValue& planned = plan_->values[value];
    if (planned.kind != Kind::output) continue;
    const size_t i = planned.index;
    Datum& out = run_->outputs[i];
    const View& view = binding_->view(value);
    const int64_t bytes = binding_->bytes(value);
    if (!run_->own_outputs && out.is_tensor()) {
      TRY_OK(check_given(i, view));
      if (is_placed(out.tensor()) && !written_last(i)) {
        output_data_[i] = out.tensor().data();
        continue;
      }
    }
    TRY(output_data_[i], own_output(i, bytes));
  }
  return {};
}

// Memory that is an input's, too, is written last: other outputs may be read off that input.
bool Executor::written_last(size_t output) const {
  const Datum& out = run_->outputs[output];
  return !run_->own_outputs && out.is_tensor() &&
         std::any_of(run_->inputs.begin(), run_->inputs.end(),
                     [&](const Datum& input) { return overlap(input.tensor().bytes(), out.tensor().bytes()); });
}

bool Executor::writes_inputs() const {
  for (size_t i = 0; i < run_->outputs.size(); ++i)
    if (written_last(i)) return true;
  return false;
}

Status Executor::check_given(size_t output, const View& made) const {
  const Datum& out = run_->outputs[output];
  if (out.dtype() == made.dtype && std::ranges::equal(out.tensor().dims(), made.dims)) return {};
  return refuse("output.shape", "output {:?} is {}[{}], the memory given for it is {}[{}]", plan_->output_names[output],
                name(made.dtype), fmt::join(made.dims, ", "), name(out.dtype()), fmt::join(out.tensor().dims(), ", "));
}

Status Executor::hand_over() {
  for (size_t i = 0; i < plan_->outputs.size(); ++i) {
    const bool dynamic = plan_->values[plan_->outputs[i]].kind == Kind::dynamic;
    TRY_OK(dynamic ? hand_over_dynamic(i) : hand_over_view(i));
  }
  for (size_t i = 0; i < plan_->outputs.size(); ++i) {
    if (!written_last(i)) continue;
    Tensor& out = run_->outputs[i].tensor();
    const uint32_t value = plan_->outputs[i];
    if (plan_->values[value].kind == Kind::dynamic) {
      TRY_OK(copy_into(run_->outputs[i], data_[value], plan_->output_names[i]));
    } else if (out.data() != output_data_[i]) {
      std::memcpy(out.data(), output_data_[i], out.bytes().size());
    }
  }
  return {};
}

Status Executor::hand_over_dynamic(size_t output) {
  Datum &out = run_->outputs[output], &made = data_[plan_->outputs[output]];
  if (written_last(output)) {
    TRY(made, own(made, true));
    return {};
  }
  if (!run_->own_outputs && out.is_tensor()) return copy_into(out, made, plan_->output_names[output]);
  // A caller may write into what it gets: it is neither a constant nor memory of another output.
  const bool shared = !is_body_ && (!made.is_tensor() || made.tensor().shared());
  TRY(out, own(made, shared || writes_inputs()));
  return {};
}

Status Executor::hand_over_view(size_t output) {
  const uint32_t value = plan_->outputs[output];
  const PlanValue& planned = plan_->values[value];
  Datum& out = run_->outputs[output];
  const bool given = !run_->own_outputs && out.is_tensor(), last = written_last(output);
  if (planned.kind == Kind::constant && !fits_view(planned.dtype)) {
    if (given) return copy_into(out, planned.constant, plan_->output_names[output]);
    TRY(out, own(planned.constant, !is_body_));
    return {};
  }
  const View from = view(value);
  const bool direct = planned.kind == Kind::output && planned.index == output;
  if (given) TRY_OK(check_given(output, from));
  if (direct && given && (last || output_data_[output] == out.tensor().bytes().data())) return {};
  if (!direct && (!given || last)) {
    TRY(output_data_[output], own_output(output, binding_->bytes(value)));
  }
  if (!given) {
    if (!out.is_tensor()) forget(out);
    const Block& block = output_memory_[output].blocks.back();
    out.tensor().point_at(planned.dtype, from.dims, output_data_[output],
                          is_body_ ? block.sole_owner() : block.owner());
    out.settle();
    if (direct) return {};
  }
  if (from.count() == 0) return {};
  std::byte* to = last ? output_data_[output] : out.tensor().data();
  if (from.dense()) {
    std::memcpy(to, from.data, out.tensor().bytes().size());
  } else {
    kernels::dense_copy(from, {from.dtype, from.dims, from.strides, to});
  }
  return {};
}

}  // namespace anyshape
