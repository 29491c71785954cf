#include "base/memory_meter.h"

#include <gtest/gtest.h>

namespace anyshape {
namespace {

TEST(MemoryMeter, CountsForAsLongAsItIsHeld) {
  const auto meter = std::make_shared<MemoryMeter>(100);
  MemoryMeter::Share kept;
  {
    const MemoryMeter::Scope scope(meter.get());
    kept = MemoryMeter::share();
    ASSERT_TRUE(kept.take(60));
    auto second = MemoryMeter::share();
    EXPECT_TRUE(MemoryMeter::fits(40));
    EXPECT_FALSE(second.take(41));
    EXPECT_EQ(second.bytes(), 0);
    EXPECT_EQ(MemoryMeter::out_of_memory().value().code, "run.memory");
    EXPECT_TRUE(second.take(40));
    EXPECT_TRUE(MemoryMeter::check());
    second.add(1);
    EXPECT_EQ(MemoryMeter::check().error().code, "run.memory");
    second.reset();
    EXPECT_TRUE(MemoryMeter::fits(40));
    EXPECT_FALSE(MemoryMeter::fits(INT64_MAX));
    MemoryMeter::Share moved = std::move(kept);
    EXPECT_FALSE(MemoryMeter::fits(41));
    kept = std::move(moved);
  }
  EXPECT_EQ(kept.bytes(), 60);
  kept.reset();
  const MemoryMeter::Scope scope(meter.get());
  EXPECT_TRUE(MemoryMeter::fits(100));
}

TEST(MemoryMeter, WithoutOneEverythingFits) {
  EXPECT_FALSE(MemoryMeter::counts());
  auto share = MemoryMeter::share();
  EXPECT_TRUE(share.take(INT64_MAX));
  EXPECT_EQ(share.bytes(), 0);
  EXPECT_TRUE(MemoryMeter::check());
  EXPECT_EQ(MemoryMeter::out_of_memory(5).value().code, "tensor.memory");
}

}  // namespace
}  // namespace anyshape
