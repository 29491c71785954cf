#include "base/printable.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/utf8.h"

namespace anyshape {
namespace {

using namespace std::string_literals;

TEST(Printable, EscapesWhatIsNotSeen) {
  const std::pair<std::string, std::string> rows[] = {
      {"", ""},
      {"plain \"text\" in 'quotes' \\ and a path C:\\new", "plain \"text\" in 'quotes' \\ and a path C:\\new"},
      {"é 日本 \xf0\x9f\x98\x80 e\xcc\x81", "é 日本 \xf0\x9f\x98\x80 e\xcc\x81"},
      {"a\nerror[x] b\r\n\tc", "a\\nerror[x] b\\r\\n\\tc"},
      {"\x1b[31mred\x1b[0m\x07\x7f", "\\x1b[31mred\\x1b[0m\\x07\\x7f"},
      {"nul\0l"s, "nul\\x00l"},
      {"\xc2\x85next \xc2\x9b"
       "31m \xc2\xad",
       "\\x85next \\x9b31m \\xad"},
      {"\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad\xe2\x80\xae", "\\u202a\\u202b\\u202c\\u202d\\u202e"},
      {"\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9", "\\u2066\\u2067\\u2068\\u2069"},
      {"\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "\\u200e\\u200f\\u061c"},
      {"\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\x8b\xef\xbb\xbf", "\\u2028\\u2029\\u200b\\ufeff"},
      {"\xf3\xa0\x81\xa1", "\\U000e0061"},
  };
  for (const auto& [text, shown] : rows) {
    EXPECT_EQ(printable(text), shown);
    EXPECT_EQ(printable(shown), shown);
  }
}

TEST(Printable, EscapesEveryByteThatIsNoUtf8) {
  const std::pair<std::string, std::string> rows[] = {
      {"\xff\xfe", "\\xff\\xfe"},
      {"\x80 alone", "\\x80 alone"},
      {"cut \xc3", "cut \\xc3"},
      {"cut \xe2\x80", "cut \\xe2\\x80"},
      {"cut \xf0\x9f\x98", "cut \\xf0\\x9f\\x98"},
      {"\xc3(", "\\xc3("},
      {"\xe2\x80\n", "\\xe2\\x80\\n"},
      {"overlong \xc0\x8a \xe0\x80\x8a \xf0\x80\x80\x8a", "overlong \\xc0\\x8a \\xe0\\x80\\x8a \\xf0\\x80\\x80\\x8a"},
      {"surrogate \xed\xa0\x80 \xed\xbf\xbf", "surrogate \\xed\\xa0\\x80 \\xed\\xbf\\xbf"},
      {"beyond \xf4\x90\x80\x80 \xf8\x88\x80\x80\x80", "beyond \\xf4\\x90\\x80\\x80 \\xf8\\x88\\x80\\x80\\x80"},
      {"good é then \xe9", "good é then \\xe9"},
  };
  for (const auto& [text, shown] : rows) EXPECT_EQ(printable(text), shown);
}

// Of every character: what is printed is UTF-8 without a hidden character, and has no quote or line end of its own in
// the quotes of {:?}.
TEST(Printable, NoCharacterBreaksOut) {
  for (char32_t point = 0; point <= 0x10ffff; ++point) {
    std::string text;
    if (!utf8_append(text, point)) continue;
    for (const std::string& shown : {printable(text), printable(fmt::format("{:?}", text)), printable_name(text)}) {
      const auto points = utf8_decode(shown);
      ASSERT_TRUE(points) << static_cast<uint32_t>(point);
      for (const char32_t p : *points) ASSERT_FALSE(is_hidden(p)) << static_cast<uint32_t>(point);
    }
    const std::string quoted = fmt::format("{:?}", text);
    ASSERT_EQ(quoted.find('"', 1), point == '"' ? 2 : quoted.size() - 1);
  }
}

TEST(Printable, NamesArePlainWordsOrQuoted) {
  const std::pair<std::string, std::string> rows[] = {
      {"x", "x"},
      {"/enc/input:0.weight", "/enc/input:0.weight"},
      {"größe", "größe"},
      {"", R"("")"},
      {"in put", R"("in put")"},
      {"error[matmul.inner]", R"("error[matmul.inner]")"},
      {"a\"b\\c", R"("a\"b\\c")"},
      {"a\nb\xff", R"("a\nb\xff")"},
      {"\xe2\x80\xae", R"("\u202e")"},
  };
  for (const auto& [name, shown] : rows) EXPECT_EQ(printable_name(name), shown);
}

TEST(Printable, ErrorsAreOneLine) {
  Error error = refuse("a.b", "the name {:?} of \n{}", "x\" (Relu): \n", "\x1b[2J").value();
  error.place = "m\n.onnx: " + fmt::format("node {:?}", "n\": fine\nerror[c.d] forged");
  error.hint = "--x \xe2\x80\xae";
  EXPECT_EQ(error.text(),
            R"(error[a.b] m\n.onnx: node "n\": fine\nerror[c.d] forged": the name "x\" (Relu): \n" of \n\x1b[2J. )"
            R"(Try: --x \u202e)");
  EXPECT_EQ(line("{} {}", "a\nb", 1), "a\\nb 1\n");
}

}  // namespace
}  // namespace anyshape
