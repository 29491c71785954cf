#include "verify/shape_box.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/work.h"
#include "ops/graph_maker.h"

namespace anyshape {
namespace {

// y = x0, x1, ..., each with an axis of its own.
CheckedModel joined(size_t inputs) {
  ops::GraphMaker m;
  std::vector<std::string> names;
  for (size_t i = 0; i < inputs; ++i) m.input(names.emplace_back(fmt::format("x{}", i)), DType::f32, 1);
  m.node("Concat", names, {"y"}, "axis=0");
  CheckedModel out;
  out.graph = m.finish({"y"});
  return out;
}

TEST(ShapeBox, TheLargestShapesAreLookedForOnlySoLong) {
  const CheckedModel model = joined(10);
  // A node, ten inputs and ten axes, once for the smallest shapes, once for each axis.
  const auto all = shape_box(model, {}, 21 * 64);
  ASSERT_TRUE(all) << all.error().code;
  EXPECT_EQ(all->min.at("x9"), std::vector<int64_t>{1});
  EXPECT_EQ(all->max.at("x9"), std::vector<int64_t>{8});
  for (const int64_t visits : {0, 21, 21 * 7}) {
    const auto some = shape_box(model, {}, visits);
    ASSERT_FALSE(some) << visits;
    EXPECT_EQ(some.error().code, "work.budget") << visits;
  }
}

TEST(ShapeBox, TheSearchEndsWithTheWork) {
  const CheckedModel model = joined(3);
  model.accepted();
  const std::atomic<bool> cancel = true;
  const WorkScope scope({&cancel});
  const auto none = shape_box(model, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "work.cancelled");
}

}  // namespace
}  // namespace anyshape
