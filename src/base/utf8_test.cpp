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
       {"\x80", "a\xc3", "\xc0\x80", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "\xe2\x80",
        "\xf0\x9f\x98", "\xf0\x8f\xbf\xbf", "\xed\xbf\xbf", "\xc3\x28", "\xf8\x88\x80\x80\x80"})
    EXPECT_FALSE(utf8_decode(text).has_value());
  EXPECT_TRUE(utf8_decode("") == U"");
  EXPECT_TRUE(utf8_decode("\xc3\xbc") == U"\u00fc");
}

TEST(Utf8, FirstCharacterOrByte) {
  const auto first = [](std::string_view text) { return utf8_first(text); };
  EXPECT_EQ(first("\xc3\xbcx").point, U'\u00fc');
  EXPECT_EQ(first("\xc3\xbcx").bytes, "\xc3\xbc");
  EXPECT_FALSE(first("\xc3x").point.has_value());
  EXPECT_EQ(first("\xe2\x80x").bytes, "\xe2");
}

TEST(Utf8, ShortenedBetweenCharacters) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "abc");
  EXPECT_EQ(shortened("ab\xc3\xbc", 3), "ab");
  EXPECT_EQ(shortened("\xf0\x9f\x98\x80", 3), "");
  EXPECT_EQ(shortened("a\x80\x80\x80\x80\x80", 3), "a\x80\x80");
  EXPECT_EQ(shortened("\xff\xff\xff", 2), "\xff\xff");
  EXPECT_EQ(shortened("abc", 0), "");
}

}  // namespace
}  // namespace anyshape
