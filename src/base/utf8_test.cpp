#include "base/utf8.h"

#include <gtest/gtest.h>

namespace anyshape {
namespace {

TEST(Utf8, EveryCharacterComesBack) {
  for (char32_t point = 0; point <= 0x110000; ++point) {
    std::string text = "a";
    const bool character = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
    ASSERT_EQ(utf8_append(text, point), character) << static_cast<unsigned>(point);
    std::u32string want = U"a";
    if (character) want += point;
    ASSERT_TRUE(utf8_decode(text) == want) << static_cast<unsigned>(point);
  }
}

TEST(Utf8, WrongTextsAreNone) {
  for (std::string_view text :
       {"\x80", "a\xc3", "\xc0\x80", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"})
    EXPECT_FALSE(utf8_decode(text).has_value());
  EXPECT_TRUE(utf8_decode("") == U"");
  EXPECT_TRUE(utf8_decode("\xc3\xbc") == U"\u00fc");
}

}  // namespace
}  // namespace anyshape
