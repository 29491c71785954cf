#include "base/os/block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

namespace anyshape::os {
namespace {

TEST(Block, EveryByteIsThere) {
  constexpr size_t kPage = size_t{2} << 20;
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{4097}, kPage - 1, kPage, kPage + 1, 2 * kPage, 3 * kPage + 12345}) {
    auto* block = static_cast<unsigned char*>(allocate_block(bytes));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u);
    std::memset(block, 7, bytes);
    EXPECT_TRUE(bytes == 0 || (block[0] == 7 && block[bytes - 1] == 7));
    free_block(block, bytes);
  }
}

// In a scope and outside, freed before its end and behind it.
TEST(Block, ScopesKeepBlocksApart) {
  struct Block {
    unsigned char* at;
    size_t bytes;
    int value;
  };
  const auto take = [](size_t bytes, int value) {
    auto* at = static_cast<unsigned char*>(allocate_block(bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(at) % 64, 0u);
    std::memset(at, value, bytes);
    return Block{at, bytes, value};
  };
  const auto give = [](const Block& b) {
    EXPECT_TRUE(b.bytes == 0 || (b.at[0] == b.value && b.at[b.bytes / 2] == b.value && b.at[b.bytes - 1] == b.value));
    free_block(b.at, b.bytes);
  };
  std::vector<Block> kept = {take(100000, 1)};
  {
    const BlockScope scope;
    for (int i = 0; i < 30; ++i) {
      const BlockScope inner;
      const size_t bytes = (size_t{1} << i % 23) + static_cast<size_t>(i);
      kept.push_back(take(bytes, 2 + i));
      give(take(bytes, 99));
    }
    give(kept[20]);
  }
  kept.erase(kept.begin() + 20);
  kept.push_back(take(100000, 77));
  for (const Block& b : kept) give(b);
}

TEST(Block, ZeroBlocksAreZeroWhateverWasThere) {
  const auto all_zero = [](const unsigned char* at, size_t bytes) {
    return std::all_of(at, at + bytes, [](unsigned char b) { return b == 0; });
  };
  const auto make_dirty_and_zero = [&] {
    for (size_t bytes : {size_t{100}, size_t{5000}, size_t{20000}, size_t{300000}, size_t{3} << 20, size_t{17} << 20})
      for (int round = 0; round < 3; ++round) {
        void* dirty = allocate_block(bytes);
        std::memset(dirty, 7, bytes);
        free_block(dirty, bytes);
        auto* block = static_cast<unsigned char*>(allocate_zero_block(bytes));
        EXPECT_TRUE(all_zero(block, bytes)) << bytes;
        std::memset(block, 7, bytes);
        free_block(block, bytes);
      }
  };
  make_dirty_and_zero();
  const BlockScope scope;
  make_dirty_and_zero();
}

TEST(Block, MoreThanThereIs) {
  for (size_t bytes : {SIZE_MAX, SIZE_MAX - (size_t{3} << 20), SIZE_MAX / 2})
    EXPECT_THROW(allocate_block(bytes), std::bad_alloc);
}

}  // namespace
}  // namespace anyshape::os
