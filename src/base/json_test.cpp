#include "base/json.h"

#include <gtest/gtest.h>

#include "base/nearest.h"

namespace anyshape {
namespace {

TEST(Json, QuotesText) {
  const std::pair<std::string, std::string> rows[] = {
      {"", R"("")"},
      {"plain é", "\"plain é\""},
      {"a\"b\\c", R"("a\"b\\c")"},
      {"\n\t\r\x01\x7f", R"("\n\t\u000d\u0001\u007f")"},
      {std::string("a\0b", 3), R"("a\u0000b")"},
      {"\xff\xfe", R"("\ufffd\ufffd")"},
      {"\xc3", R"("\ufffd")"},
      {"\xc0\x80", R"("\ufffd\ufffd")"},
      {"\xed\xa0\x80", R"("\ufffd\ufffd\ufffd")"},
      {"\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\""},
      {"\xe2\x80\xa8\xe2\x80\xae\xc2\x9b", R"("\u2028\u202e\u009b")"},
      {"\xf3\xa0\x81\xa1", R"("\udb40\udc61")"},
      {"\xf4\x90\x80\x80", R"("\ufffd\ufffd\ufffd\ufffd")"},
  };
  for (const auto& [text, quoted] : rows) EXPECT_EQ(json_quote(text), quoted);
}

TEST(Json, WritesNestedDocuments) {
  JsonWriter out;
  out.begin_object().key("a").number(-1).key("b").begin_array().text("x").boolean(true).begin_object().end_object();
  out.end_array().key("c").begin_array().end_array().end_object();
  EXPECT_EQ(out.take(), "{\n  \"a\": -1,\n  \"b\": [\n    \"x\",\n    true,\n    {}\n  ],\n  \"c\": []\n}\n");
}

TEST(Nearest, FindsTheNameThatWasMeant) {
  const std::vector<std::string> names = {"input_ids", "attention_mask", "x"};
  EXPECT_EQ(nearest("inputids", names), "input_ids");
  EXPECT_EQ(nearest("Attention_Mask", names), "attention_mask");
  EXPECT_EQ(nearest("y", names), "x");
  EXPECT_EQ(nearest("completely_other_thing", names), "");
  EXPECT_EQ(nearest("anything", {"only"}), "only");
  EXPECT_EQ(nearest("anything", {}), "");
}

}  // namespace
}  // namespace anyshape
