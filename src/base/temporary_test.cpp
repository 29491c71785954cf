#include "base/temporary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace anyshape {
namespace {

// Every list keeps what is in it, whatever the order in which others come and go.
void shuffle_lists(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Temporary<uint64_t>> lists(20);
  std::vector<uint64_t> marks(lists.size());
  for (int step = 0; step < 500; ++step) {
    const size_t i = random() % lists.size();
    for (uint64_t entry : lists[i]) ASSERT_EQ(entry, marks[i]) << "seed " << seed;
    Temporary<uint64_t>().swap(lists[i]);
    marks[i] = random();
    lists[i].assign(random() % 3 == 0 ? random() % 5000 : random() % 10, marks[i]);
    ASSERT_TRUE(lists[i].size() * 8 < 64 || reinterpret_cast<uintptr_t>(lists[i].data()) % 64 == 0);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(lists[i].data()) % 16, 0u);
  }
}

TEST(Temporary, ListsKeepTheirEntries) {
  TemporaryMemory memory;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const TemporaryMemory::Scope scope(memory);
    shuffle_lists(seed);
  }
  shuffle_lists(99);
}

TEST(Temporary, GrowsOnceToWhatIsNeeded) {
  TemporaryMemory memory;
  const auto step = [&] {
    const TemporaryMemory::Scope scope(memory);
    Temporary<int> first(1000), second(100000);
    for (int i = 0; i < 1000; ++i) Temporary<double> row(500);
    Temporary<int> grown;
    for (int i = 0; i < 5000; ++i) grown.push_back(i);
  };
  step();
  const int64_t bytes = memory.bytes();
  EXPECT_GT(bytes, 400000);
  EXPECT_LT(bytes, 1000000);
  for (int i = 0; i < 5; ++i) step();
  EXPECT_EQ(memory.bytes(), bytes);
}

TEST(Temporary, InnerScopesHaveTheirOwnMemory) {
  TemporaryMemory outer, inner;
  const TemporaryMemory::Scope one(outer);
  const Temporary<int> before(100, 7);
  {
    const TemporaryMemory::Scope two(inner);
    const Temporary<int> inside(100000, 1);
    EXPECT_GE(inner.bytes(), 400000);
  }
  EXPECT_LT(outer.bytes(), 400000);
  EXPECT_EQ(before, Temporary<int>(100, 7));
}

TEST(Temporary, SizesGoRound) {
  TemporaryMemory memory;
  const int64_t dims[] = {2, 3, 4};
  const TemporaryMemory::Scope scope(memory);
  auto sizes = TemporaryMemory::take_sizes(dims);
  EXPECT_EQ(sizes, (std::vector<int64_t>{2, 3, 4}));
  const int64_t* place = sizes.data();
  TemporaryMemory::give_sizes(std::move(sizes));
  EXPECT_EQ(TemporaryMemory::take_sizes({dims, 2}).data(), place);
}

TEST(Temporary, SizesOfTheWidestTensorFitEveryList) {
  TemporaryMemory memory;
  const std::vector<int64_t> narrow(3, 1), wide(20, 1);
  const auto step = [&] {
    const TemporaryMemory::Scope scope(memory);
    std::vector<std::vector<int64_t>> taken;
    for (const auto& sizes : {narrow, wide, narrow}) taken.push_back(TemporaryMemory::take_sizes(sizes));
    std::vector<const int64_t*> places;
    for (auto& sizes : taken) {
      EXPECT_GE(sizes.capacity(), &sizes == &taken[0] ? narrow.size() : wide.size());
      TemporaryMemory::give_sizes(std::move(sizes));
    }
    for (auto& sizes : taken) places.push_back((sizes = TemporaryMemory::take_sizes(wide)).data());
    for (auto& sizes : taken) TemporaryMemory::give_sizes(std::move(sizes));
    return places;
  };
  const auto first = step();
  auto second = step(), sorted = first;
  std::sort(sorted.begin(), sorted.end());
  std::sort(second.begin(), second.end());
  EXPECT_EQ(second, sorted);
}

}  // namespace
}  // namespace anyshape
