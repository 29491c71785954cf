#include "engine/target/target.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/call.h"
#include "tensor/tensor.h"

namespace anyshape {
namespace {

bool is_for(const KernelRow& row, const OpDef* op) {
  return std::find(row.ops.begin(), row.ops.end(), op) != row.ops.end();
}

}  // namespace

Result<std::shared_ptr<std::byte>> EngineMemory::place(const Tensor& constant) const {
  const auto bytes = constant.bytes();
  TRY(std::shared_ptr<std::byte> placed, allocate(static_cast<int64_t>(bytes.size())));
  TRY_OK(write(placed.get(), bytes));
  return placed;
}

bool Target::has_kernel(const OpDef& op) const {
  return std::any_of(rows.begin(), rows.end(), [&](const KernelRow& row) { return is_for(row, &op); });
}

Target::Choice Target::choose(const Call& call) const {
  std::string reason = "no faster kernel";
  for (const KernelRow& row : rows) {
    if (!is_for(row, call.op())) continue;
    const std::string_view why_not = row.kernel->accepts(call);
    if (why_not.empty()) return {row.kernel, "best kernel that takes it"};
    reason = fmt::format("{}: {}", row.kernel->name, why_not);
  }
  return {nullptr, std::move(reason)};
}

}  // namespace anyshape
