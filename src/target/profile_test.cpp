#include "target/profile.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "ops/all.h"
#include "target/lower_steps.h"

namespace anyshape::target {
namespace {

const Profile& mql5() { return **find_profile("mql5"); }

TEST(Profile, NamesAreListed) {
  const auto none = find_profile("mt4");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, Error::Kind::usage);
  EXPECT_EQ(none.error().code, "target.unknown");
  EXPECT_NE(none.error().hint.find("mql5"), std::string::npos);
}

TEST(Profile, HighestVersions) {
  EXPECT_EQ(highest_version(mql5(), ""), 18);
  EXPECT_EQ(highest_version(mql5(), "ai.onnx"), 18);
  EXPECT_EQ(highest_version(mql5(), "ai.onnx.ml"), 3);
  EXPECT_EQ(highest_version(mql5(), "com.microsoft"), 0);
}

// Every row is about an operator that exists at its version, and no two are about the same.
TEST(Kernels, RowsAreOfOperators) {
  std::set<std::tuple<std::string_view, std::string_view, int>> seen;
  for (const KernelRow& row : mql5().kernels) {
    EXPECT_TRUE(seen.emplace(row.domain, row.op, row.since).second) << row.op;
    if (row.domain == "com.microsoft") continue;
    EXPECT_NE(all_ops().find(row.domain, row.op, row.since), nullptr) << row.op << " " << row.since;
  }
}

TEST(Kernels, TheRowInForce) {
  struct {
    std::string_view op;
    int64_t version;
    int since;
  } const rows[] = {{"Clip", 11, 6}, {"Clip", 12, 12}, {"Clip", 18, 13}, {"Add", 18, 7}, {"Mish", 18, 18}};
  for (const auto& row : rows) {
    const KernelRow* found = find_kernel(mql5(), "", row.op, row.version);
    ASSERT_NE(found, nullptr) << row.op;
    EXPECT_EQ(found->since, row.since) << row.op << " " << row.version;
  }
  EXPECT_EQ(find_kernel(mql5(), "", "Mish", 17), nullptr);
  EXPECT_EQ(find_kernel(mql5(), "", "Gelu", 18), nullptr);
  EXPECT_NE(find_kernel(mql5(), "com.microsoft", "Gelu", 1), nullptr);
}

TEST(LowerSteps, AreOfOperatorsAboveTheTarget) {
  for (const LowerStep& step : lower_steps()) {
    EXPECT_GT(step.since, highest_version(mql5(), step.domain)) << step.op;
    EXPECT_LE(step.since, step.domain.empty() ? kNewestOpset : kNewestMlOpset) << step.op;
    EXPECT_NE(all_ops().find(step.domain, step.op, step.since), nullptr) << step.op;
    // A new operator is refused or written in others; one that was there is not refused as such.
    const bool there = all_ops().find(step.domain, step.op, highest_version(mql5(), step.domain)) != nullptr;
    EXPECT_FALSE(there && step.no_equal) << step.op;
  }
}

}  // namespace
}  // namespace anyshape::target
