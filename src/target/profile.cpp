#include "target/profile.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/nearest.h"
#include "base/running_command.h"

namespace anyshape::target {
namespace {

using enum DType;

const std::vector<Profile>& profiles() {
  static const std::vector<Profile> table = {
      {.name = "mql5",
       .host = "MetaTrader 5",
       .runtime = "ONNX Runtime 1.14",
       .opset = 18,
       .ml_opset = 3,
       .ir_version = 8,
       .values = {f32, f64, f16, bf16, i8, i16, i32, i64, u8, u16, u32, u64, boolean, string, c64, c128},
       .held = {f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, boolean, c128},
       .converted = {f16, c64},
       .large_bytes = int64_t{128} << 20,
       .most_bytes = int64_t{1} << 30,
       .kernels = ort_1_14_kernels()},
  };
  return table;
}

}  // namespace

Result<const Profile*> find_profile(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Profile& profile : profiles()) {
    if (profile.name == name) return &profile;
    names.push_back(profile.name);
  }
  Error error = usage("target.unknown", "there is no target {:?}", name).value();
  std::string near = nearest(name, {names.begin(), names.end()});
  if (near.empty()) near = names.front();
  error.hint = corrected_command({"target", name, near}, "--target " + near);
  return tl::unexpected(std::move(error));
}

int64_t highest_version(const Profile& profile, std::string_view domain) {
  if (domain.empty() || domain == "ai.onnx") return profile.opset;
  return domain == "ai.onnx.ml" ? profile.ml_opset : 0;
}

const KernelRow* find_kernel(const Profile& profile, std::string_view domain, std::string_view op, int64_t version) {
  const KernelRow* best = nullptr;
  for (const KernelRow& row : profile.kernels)
    if (row.op == op && row.domain == domain && row.since <= version && (!best || row.since > best->since)) best = &row;
  return best;
}

}  // namespace anyshape::target
