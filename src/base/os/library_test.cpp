#include "base/os/library.h"

#include <gtest/gtest.h>

namespace anyshape {
namespace {

TEST(SharedLibrary, FindsWhatItExports) {
  auto library = SharedLibrary::open(ANYSHAPE_OTHER_LIBRARY);
  ASSERT_TRUE(library.has_value()) << library.error().text();
  EXPECT_NE(library->find("answer"), nullptr);
  EXPECT_EQ(library->find("no_such_function_anywhere"), nullptr);
  const SharedLibrary moved = std::move(*library);
  EXPECT_NE(moved.find("answer"), nullptr);
}

TEST(SharedLibrary, SaysWhyNot) {
  const auto missing = SharedLibrary::open("/nonexistent/libx.so");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, "library.open");
  EXPECT_EQ(missing.error().kind, Error::Kind::usage);
  EXPECT_EQ(missing.error().place, "/nonexistent/libx.so");
  EXPECT_FALSE(SharedLibrary::open("README.md").has_value());
}

}  // namespace
}  // namespace anyshape
