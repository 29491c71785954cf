#include "mqh/scaler.h"

#include <gtest/gtest.h>

namespace anyshape::mqh {
namespace {

TEST(Scaler, NamedInputsAndOutputs) {
  const auto read = parse_scaler(
      R"({"x": {"mean": [1, 2.5], "std": [3, 4], "axis": 1}, "outputs": {"y": {"mean": 0.5, "scale": 2}}})");
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].name, "x");
  EXPECT_EQ((*read)[0].mean, (std::vector<double>{1, 2.5}));
  EXPECT_EQ((*read)[0].axis, 1);
  EXPECT_FALSE((*read)[0].output);
  EXPECT_TRUE((*read)[1].output);
  EXPECT_EQ((*read)[1].std, std::vector<double>{2});
  EXPECT_EQ((*read)[1].axis, -1);
}

TEST(Scaler, TheOnlyInput) {
  const auto read = parse_scaler(R"({"mean": [1], "scale": [3], "outputs": {"y": {"mean": [0], "std": [1]}}})");
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].name, "");
  EXPECT_EQ((*read)[1].name, "y");
  // An input may have that name.
  EXPECT_EQ(parse_scaler(R"({"mean": {"mean": [1], "std": [3]}})").value()[0].name, "mean");
}

TEST(Scaler, WrongTexts) {
  for (std::string_view text :
       {"", "[1]", "{}", R"({"x": 1})", R"({"x": {"mean": [1]}})", R"({"x": {"mean": [1], "std": []}})",
        R"({"mean": [1]})", R"({"mean": ["a"], "std": [1]})", R"({"x": {"mean": [1], "std": [1], "axes": 0}})",
        R"({"x": {"mean": [1], "std": [1], "axis": 0.5}})", R"({"mean": [NaN], "std": [1]})", R"({"outputs": []})"}) {
    const auto read = parse_scaler(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, "mql5.scaler") << text;
    EXPECT_EQ(read.error().kind, Error::Kind::refused) << text;
  }
}

}  // namespace
}  // namespace anyshape::mqh
