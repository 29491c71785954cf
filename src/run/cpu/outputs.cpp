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
  // Memory that a caller still holds is left alone.
  for (Block& block : blocks)
    if (block.size() >= std::max<int64_t>(bytes, 1) && block.unused()) {
      std::swap(block, blocks.back());
      return blocks.back().data();
    }
  std::erase_if(blocks, [](const Block& block) { return block.unused(); });
  if (blocks.size() >= OutputMemory::kKept) blocks.erase(blocks.begin());
  Block fresh;
  TRY_OK(fresh.reserve(std::max<int64_t>(bytes, 1), is_body_ ? meter_ : nullptr));
  blocks.push_back(std::move(fresh));
  if (is_body_) TRY_OK(charge(0));
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
      if (out.dtype() != planned.dtype || !std::ranges::equal(out.tensor().dims(), view.dims))
        return refuse("output.shape", "output \"{}\" is {}[{}], the memory given for it is {}[{}]",
                      plan_->output_names[i], name(planned.dtype), fmt::join(view.dims, ", "), name(out.dtype()),
                      fmt::join(out.tensor().dims(), ", "));
      const auto shared = [&](const Datum& input) { return overlap(input.tensor().bytes(), out.tensor().bytes()); };
      if (is_placed(out.tensor()) && std::none_of(run_->inputs.begin(), run_->inputs.end(), shared)) {
        output_data_[i] = out.tensor().data();
        continue;
      }
    }
    TRY(output_data_[i], own_output(i, bytes));
  }
  return {};
}

Status Executor::hand_over() {
  for (size_t i = 0; i < plan_->outputs.size(); ++i) {
    const uint32_t value = plan_->outputs[i];
    const PlanValue& planned = plan_->values[value];
    Datum& out = run_->outputs[i];
    const bool given = !run_->own_outputs && out.is_tensor();
    if (planned.kind == Kind::dynamic) {
      if (given) {
        TRY_OK(copy_into(out, data_[value], plan_->output_names[i]));
      } else {
        TRY(out, own(data_[value]));
      }
      continue;
    }
    if (planned.kind == Kind::constant && !fits_view(planned.dtype)) {
      out = planned.constant;
      continue;
    }
    const View from = view(value);
    const bool direct = planned.kind == Kind::output && planned.index == i;
    if (direct && !given) {
      if (!out.is_tensor()) forget(out);
      out.tensor().point_at(planned.dtype, from.dims, output_data_[i], output_memory_[i].blocks.back().owner());
      out.settle();
      continue;
    }
    if (direct && output_data_[i] == out.tensor().bytes().data()) continue;
    if (!given) {
      TRY(std::byte * memory, own_output(i, binding_->bytes(value)));
      if (!out.is_tensor()) forget(out);
      out.tensor().point_at(planned.dtype, from.dims, memory, output_memory_[i].blocks.back().owner());
      out.settle();
    } else if (out.dtype() != planned.dtype || !std::ranges::equal(out.tensor().dims(), from.dims)) {
      return refuse("output.shape", "output \"{}\" is {}[{}], the memory given for it is another shape or type",
                    plan_->output_names[i], name(planned.dtype), fmt::join(from.dims, ", "));
    }
    if (from.count() == 0) continue;
    if (from.dense()) {
      std::memcpy(out.tensor().data(), from.data, out.tensor().bytes().size());
    } else {
      kernels::dense_copy(from, {from.dtype, from.dims, from.strides, out.tensor().data()});
    }
  }
  return {};
}

}  // namespace anyshape
