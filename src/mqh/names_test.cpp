#include "mqh/names.h"

#include <gtest/gtest.h>

namespace anyshape::mqh {
namespace {

TEST(MqhNames, AreLegalAndNoKeywords) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"x", "x"},
      {"input", "input_"},
      {"input:0", "input_0"},
      {"OnnxRun", "onnxrun"},
      {"NULL", "null"},
      {"m_handle", "t_m_handle"},
      {"0", "t_0"},
      {"", "t_"},
      {"_Symbol", "t__symbol"},
      {"x); Print(1", "x___print_1"},
      {"\xc3\xa9", "t___"},
      {"and", "and_"},
  };
  for (const auto& [like, want] : rows) EXPECT_EQ(Names().unique(like), want) << like;
}

TEST(MqhNames, StayDistinct) {
  Names names;
  EXPECT_EQ(names.unique("a.b"), "a_b");
  EXPECT_EQ(names.unique("a:b"), "a_b_2");
  EXPECT_EQ(names.unique("A_B"), "a_b_3");
  EXPECT_EQ(names.unique("a_b_2"), "a_b_2_2");
  const std::string longer(200, 'x');
  EXPECT_NE(names.unique(longer), names.unique(longer + "y"));
  EXPECT_LE(names.unique(longer).size(), 63u);
}

TEST(MqhNames, WordsOfAFileName) {
  EXPECT_EQ(camel_case("lstm-eurusd h1"), "LstmEurusdH1");
  EXPECT_EQ(camel_case("RSI_model.v2"), "RSIModelV2");
  EXPECT_EQ(camel_case("--"), "");
}

TEST(MqhNames, StringsCannotEnd) {
  EXPECT_EQ(quoted("plain"), "\"plain\"");
  EXPECT_EQ(quoted("a\"; Print(\""), R"("a\"; Print(\"")");
  EXPECT_EQ(quoted("a\nb"), R"("a\\nb")");
  EXPECT_EQ(quoted("\\"), R"("\\")");
  EXPECT_EQ(quoted("\xc3\xa9"), R"("\\xc3\\xa9")");
}

TEST(MqhNames, CommentsEndWithTheirLine) {
  EXPECT_EQ(commented("one\n\ntwo\n"), "// one\n//\n// two\n");
  EXPECT_EQ(commented("ends with \\\nnext"), "// ends with \\.\n// next\n");
  EXPECT_EQ(commented("a\rb"), "// a\\rb\n");
}

}  // namespace
}  // namespace anyshape::mqh
