#include "kernels/regex.h"

#include <gtest/gtest.h>

namespace anyshape::kernels {
namespace {

struct Row {
  std::string_view pattern, yes, no;  // texts separated by '|'; "\1" stands for the empty text
};

std::vector<std::string> texts(std::string_view list) {
  std::vector<std::string> out;
  while (!list.empty()) {
    const size_t end = std::min(list.find('|'), list.size());
    out.emplace_back(list.substr(0, end) == "\1" ? std::string_view() : list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

TEST(Regex, FullMatch) {
  constexpr Row kRows[] = {
      {"", "\1", "a"},
      {"a|bc|", "a|bc|\1", "ab|b"},
      {"a*b+c?", "b|aab|bbc", "a|c|bcc"},
      {"a{2}", "aa", "a|aaa"},
      {"a{2,}b{0,2}", "aa|aaaab|aabb", "ab|aabbb"},
      {"a{,2}", "a{,2}", "a|aa"},
      {"(ab)*?c", "c|ababc", "abab"},
      {"[a-cx-]+", "abc-x", "d|\1"},
      {"[^a\\]]", "b|\xc3\xa9", "a|]"},
      {"[]a]", "]|a", "b"},
      {"[[:alpha:]_][[:^space:]]*", "ab1|_", "1a|a b"},
      {"\\d+\\.\\d*", "1.5|10.", ".5|15"},
      {"\\w\\W\\s\\S\\D", "a- xy", "a- x1"},
      {".", "a|\xe2\x82\xac", "\n|ab|\1"},
      {"(?s).", "\n", "\1"},
      {"(?i)h(?-i:E)llo", "hEllo|HELLO", "Hello"},
      {"(?i)[k-m]\xc3\x84", "K\xc3\xa4|l\xc3\x84", "a\xc3\xa4"},
      {"(?P<user>\\w+)@(?<host>\\w+)\\.(?:com|org)", "me@here.org", "me@here.net"},
      {"^ab$", "ab", "b"},
      {"(?m)a$\n^b", "a\nb", "ab"},
      {"\\bfoo\\b.*", "foo|foo bar", "foot"},
      {"fo\\Bo", "foo", "fo"},
      {"\\Q.*\\E", ".*", "ab"},
      {"\\x41\\x{20ac}\\101\\t\\.",
       "A\xe2\x82\xac"
       "A\t.",
       "A"},
      {"(a?){30}a{30}", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "a"},
      {"((a*)*)*b", "b|aaab", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
  };
  for (const Row& row : kRows) {
    const auto regex = Regex::compile(row.pattern);
    ASSERT_TRUE(regex) << row.pattern << ": " << regex.error().text();
    for (const std::string& text : texts(row.yes)) EXPECT_TRUE(regex->full_match(text)) << row.pattern << ": " << text;
    for (const std::string& text : texts(row.no)) EXPECT_FALSE(regex->full_match(text)) << row.pattern << ": " << text;
  }
}

TEST(Regex, Refused) {
  for (std::string_view pattern : {"(", ")", "a**", "*a", "[a", "[b-a]", "\\", "a{1001}", "a{3,2}", "(?=a)", "(?<=a)b",
                                   "\\1", "\\y", "\\x{110000}", "[[:nope:]]", "(?P<>a)"}) {
    const auto regex = Regex::compile(pattern);
    ASSERT_FALSE(regex) << pattern;
    EXPECT_EQ(regex.error().code, "regex.syntax") << pattern;
  }
  EXPECT_EQ(Regex::compile("\\pL").error().code, "regex.class");
}

TEST(Regex, HostileSizes) {
  EXPECT_EQ(Regex::compile(std::string(100'000, '(')).error().code, "regex.size");
  EXPECT_EQ(Regex::compile("((a{1000}){1000}){1000}").error().code, "regex.size");
  EXPECT_EQ(Regex::compile("(((){1000}){1000}){1000}").error().code, "regex.size");
  const auto regex = Regex::compile("(x+x+)+y");
  ASSERT_TRUE(regex);
  EXPECT_FALSE(regex->full_match(std::string(20'000, 'x')));
}

}  // namespace
}  // namespace anyshape::kernels
