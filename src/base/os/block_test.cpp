#include "base/os/block.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <new>

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

TEST(Block, MoreThanThereIs) {
  for (size_t bytes : {SIZE_MAX, SIZE_MAX - (size_t{3} << 20), SIZE_MAX / 2})
    EXPECT_THROW(allocate_block(bytes), std::bad_alloc);
}

}  // namespace
}  // namespace anyshape::os
