#include "engine/target/target.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/target/prepared.h"
#include "ir/call.h"
#include "tensor/tensor.h"

namespace anyshape {
namespace {

bool is_for(const KernelRow& row, const OpDef* op) {
  return std::find(row.ops.begin(), row.ops.end(), op) != row.ops.end();
}

constexpr std::string_view kTaken = "best kernel that takes it", kNone = "no faster kernel";

std::string why_not_taken(const EngineKernel& kernel, std::string_view why_not) {
  return fmt::format("{}: {}", kernel.name, why_not);
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
  std::string reason(kNone);
  for (const KernelRow& row : rows) {
    if (!is_for(row, call.op())) continue;
    const std::string_view why_not = row.kernel->accepts(call);
    if (why_not.empty()) return {row.kernel, std::string(kTaken)};
    reason = why_not_taken(*row.kernel, why_not);
  }
  return {nullptr, std::move(reason)};
}

Result<PreparedKernel> prepare_kernel(const Target& target, const Call& call) {
  std::string reason(kNone);
  for (const KernelRow& row : target.rows) {
    const EngineKernel& kernel = *row.kernel;
    if (!is_for(row, call.op())) continue;
    if (const std::string_view why_not = kernel.accepts(call); !why_not.empty()) {
      reason = why_not_taken(kernel, why_not);
      continue;
    }
    if (!kernel.prepare) return PreparedKernel{&kernel, nullptr, std::string(kTaken)};
    auto made = kernel.prepare(call);
    if (made) return PreparedKernel{&kernel, *std::move(made), std::string(kTaken)};
    if (made.error().kind != Error::Kind::unknown) return tl::unexpected(std::move(made).error());
    reason = why_not_taken(kernel, made.error().message);
  }
  return PreparedKernel{nullptr, nullptr, std::move(reason)};
}

}  // namespace anyshape
