// Options as one text: each option sets what it is to set, whatever the quoting; all else is a usage error.
#include <anyshape/options.h>
#include <gtest/gtest.h>

namespace anyshape {
namespace {

TEST(Options, Export) {
  const auto got = parse_export_options(
      "--dynamic x:0=batch,1=seq --dynamic-axes '{\"y\": {\"2\": \"w\"}}' --static --strict-axes --freeze seq=120 "
      "--input 'z=f32[batch, 120]' --input-names a,b --output-names=y --opset 18 --ir-version 9 --policy batch-only "
      "--allow x:1 --target mql5 --guards embed --custom ns=domain --custom-shape \"ns::op: y = [x0]\" "
      "--training preserve");
  ASSERT_TRUE(got) << got.error().text();
  ASSERT_EQ(got->dynamic.size(), 3u);
  EXPECT_EQ(got->dynamic[1].name, "seq");
  EXPECT_EQ(got->dynamic[2].value, "y");
  EXPECT_TRUE(got->all_static && got->strict_axes && got->batch_only && got->training);
  EXPECT_EQ(got->freeze, (std::vector<std::pair<std::string, int64_t>>{{"seq", 120}}));
  ASSERT_EQ(got->inputs.size(), 1u);
  EXPECT_EQ(got->inputs[0].sizes, (std::vector<std::string>{"batch", "120"}));
  EXPECT_EQ(got->input_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(got->output_names, (std::vector<std::string>{"y"}));
  EXPECT_EQ(got->opset, 18);
  EXPECT_EQ(got->ir_version, 9);
  EXPECT_EQ(got->allow, (std::vector<std::string>{"x:1"}));
  EXPECT_EQ(got->target, "mql5");
  EXPECT_EQ(got->guards, Guards::embed);
  EXPECT_EQ(got->custom.size() + got->custom_shapes.size(), 2u);
}

TEST(Options, FixCheckVerifyRead) {
  const auto fix = parse_fix_options("--rename a=b=c --simplify --dims expressions");
  ASSERT_TRUE(fix) << fix.error().text();
  EXPECT_EQ(fix->rename, (std::vector<std::pair<std::string, std::string>>{{"a=b", "c"}}));
  EXPECT_TRUE(fix->simplify && fix->dims == DimText::expressions && !fix->batch_only);
  const auto check = parse_check_options("--ignore-assumed\n--ignore a\t--ignore=b@c");
  ASSERT_TRUE(check) << check.error().text();
  EXPECT_EQ(check->ignore, (std::vector<std::string>{"a", "b@c"}));
  EXPECT_TRUE(check->ignore_assumed);
  const auto verify = parse_verify_options("--rtol 1e-4 --atol 0 --seed 9 --threads 2 --exact --without fold");
  ASSERT_TRUE(verify) << verify.error().text();
  EXPECT_EQ(verify->relative, 1e-4);
  EXPECT_EQ(verify->absolute, 0);
  EXPECT_EQ(verify->seed, 9u);
  EXPECT_EQ(verify->threads, 2);
  EXPECT_TRUE(verify->session.exact);
  EXPECT_TRUE(parse_read_options("--strict")->strict);
  EXPECT_FALSE(parse_read_options(" \n")->strict);
}

TEST(Options, Words) {
  const std::pair<const char*, const char*> rows[] = {
      {"--allow x:1", "x:1"},       {"--allow 'a b'", "a b"},         {"--allow \"a 'b'\"", "a 'b'"},
      {"--allow 'a'\"b\"c", "abc"}, {"--allow a\\ b", "a b"},         {"--allow \"a\\\"b\\n\"", "a\"b\\n"},
      {"--allow 'a\\b'", "a\\b"},   {"--allow=a=b", "a=b"},           {"'--allow' a", "a"},
      {"--allow ''", ""},           {"--allow --static", "--static"}, {"--allow a\\", "a\\"},
  };
  for (const auto& [text, value] : rows) {
    const auto got = parse_check_options(text);
    ASSERT_TRUE(got) << text << ": " << got.error().text();
    EXPECT_EQ(got->allow, std::vector<std::string>{value}) << text;
  }
}

TEST(Options, Mistakes) {
  const std::pair<const char*, const char*> rows[] = {
      {"--allow", "options.value"},
      {"--allow 'x", "options.quote"},
      {"--allow \"x\\\"", "options.quote"},
      {"x", "options.unknown"},
      {"--shape x=1", "options.unknown"},
      {"-o f", "options.unknown"},
      {"--ignore-assumed=no", "options.value"},
      {"--policy Any", "options.value"},
      {"''", "options.unknown"},
  };
  for (const auto& [text, code] : rows) {
    const auto got = parse_check_options(text);
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().code, code) << text;
    EXPECT_EQ(got.error().kind, Error::Kind::usage) << text;
  }
  EXPECT_EQ(parse_check_options("--alow x:1").error().hint, "--allow");
  for (const char* text : {"--opset 1x", "--opset ''", "--opset -1", "--opset 99999999999999999999", "--guards no"})
    EXPECT_EQ(parse_export_options(text).error().code, "options.value") << text;
  for (const char* text : {"--rtol nan", "--rtol -1", "--seed 1.5", "--threads 4096"})
    EXPECT_EQ(parse_verify_options(text).error().code, "options.value") << text;
}

}  // namespace
}  // namespace anyshape
