#include <anyshape/check.h>
#include <anyshape/custom.h>
#include <anyshape/fix.h>

#include <thread>

#include "testing.h"

// Rules that a file carries in its metadata: they are the file's own.
namespace anyshape::testing {
namespace {

// Fields of a protobuf message.
std::string number(int field, uint64_t value) {
  std::string out(1, static_cast<char>(field << 3));
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  return out + static_cast<char>(value);
}
std::string bytes(int field, const std::string& content) {
  std::string out(1, static_cast<char>(field << 3 | 2));
  return out + number(0, content.size()).substr(1) + content;
}

std::string value_info(const std::string& name, const std::string& type) { return bytes(1, name) + bytes(2, type); }
std::string opset(const std::string& domain, uint64_t version) {
  return bytes(8, bytes(1, domain) + number(2, version));
}

// x f32[n, m] -> test.Op -> t -> Shape -> y
Result<Model> model_with(const std::string& rules, const std::string& op = "Op") {
  const std::string dims = bytes(1, bytes(2, "n")) + bytes(1, bytes(2, "m"));
  const std::string x = value_info("x", bytes(1, number(1, 1) + bytes(2, dims)));
  const std::string y = value_info("y", bytes(1, number(1, 7)));
  const std::string custom = bytes(1, "x") + bytes(2, "t") + bytes(3, "the op") + bytes(4, op) + bytes(7, "test");
  const std::string shape = bytes(1, "t") + bytes(2, "y") + bytes(3, "the shape") + bytes(4, "Shape");
  const std::string graph = bytes(1, custom) + bytes(1, shape) + bytes(2, "g") + bytes(11, x) + bytes(12, y);
  std::string all = number(1, 8) + bytes(7, graph) + opset("", 17) + opset("test", 1);
  if (!rules.empty()) all += bytes(14, bytes(1, "anyshape.custom") + bytes(2, rules));
  const auto* data = reinterpret_cast<const std::byte*>(all.data());
  return Model::from_bytes({data, data + all.size()});
}

// What the model says of x[2, 5]: the verdict, then the sizes of t as y has them.
std::string verdict(const Model& model) {
  const Answer answer = accepts(model, {{"x", {2, 5}}});
  if (answer.kind == Answer::Kind::unknown) return "unknown " + answer.code;
  if (answer.kind == Answer::Kind::refuse) return "refuse " + answer.code;
  const auto report = check(model);
  return "accept, " + model.outputs()[0].dims.value()[0] + " axes, " + (report->accepted.exact ? "exact" : "not exact");
}

std::string verdict(const std::string& rules) {
  const auto model = model_with(rules);
  return model ? verdict(*model) : model.error().code;
}

struct Row {
  const char *rules, *verdict;
};
constexpr Row kRows[] = {
    {"", "unknown infer.missing"},
    {"test::Op: y = [x0, 2*x1]", "accept, 2 axes, exact"},
    {"test::Op: y = [x0, x1, 3]", "accept, 3 axes, exact"},
    {"test::Op: y = [x0] where x1 % 2 == 0", "refuse custom.where"},
    {"other::Op: y = [x0]", "unknown infer.missing"},
    {"test::Op: y = [", "unknown infer.missing"},
    {"test::Op: y = ['12']", "unknown infer.missing"},
    {"test::Op: y = [x0 - x0 + 3, min(x0, x1)//2]", "accept, 2 axes, exact"},
    {"test::Op: y = [select(x0 >= x1, x0 % 3, x1)] where x0 >= 1 and x1 >= 1 or x0 == x1", "accept, 1 axes, exact"},
    {"no rule\ntest::Op: y = [x0]\n\n", "accept, 1 axes, exact"},
    // The first that can be read holds.
    {"test::Op: y = [x0]\ntest::Op: y = [x0, x1]", "accept, 1 axes, exact"},
    {"test::Op: y = [q0]\ntest::Op: y = [x0, x1]", "accept, 2 axes, exact"},
};

TEST(CustomFile, NoFileSpeaksForAnother) {
  for (const Row& first : kRows)
    for (const Row& second : kRows) {
      EXPECT_EQ(verdict(first.rules), first.verdict) << first.rules;
      EXPECT_EQ(verdict(second.rules), second.verdict) << second.rules << " after " << first.rules;
    }
}

TEST(CustomFile, ModelsSideBySide) {
  std::vector<Model> models;
  for (const Row& row : kRows) models.push_back(*model_with(row.rules));
  for (size_t i = models.size(); i-- > 0;) EXPECT_EQ(verdict(models[i]), kRows[i].verdict) << kRows[i].rules;
}

TEST(CustomFile, ThreadsWithRulesOfTheirOwn) {
  std::vector<std::thread> threads;
  for (size_t me = 0; me < 4; ++me)
    threads.emplace_back([me] {
      for (size_t i = 0; i < 50; ++i) {
        const Row& row = kRows[(i + me) % std::size(kRows)];
        EXPECT_EQ(verdict(row.rules), row.verdict) << row.rules;
        EXPECT_TRUE(register_op("threads", "Op" + std::to_string(i % 7), "y = x"));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

// The rules live with whatever was made of the model.
TEST(CustomFile, RulesOutliveTheModel) {
  FixOptions options;
  options.rename = {{"m", "width"}};
  std::optional<Model> fixed;
  {
    const auto model = model_with("test::Op: y = [x0, 2*x1]");
    ASSERT_TRUE(model);
    auto renamed = fix(*model, options);
    ASSERT_TRUE(renamed) << renamed.error().text();
    fixed = renamed->model;
  }
  for (const Row& row : kRows) EXPECT_EQ(verdict(row.rules), row.verdict);
  EXPECT_EQ(verdict(*fixed), "accept, 2 axes, exact");
}

TEST(CustomFile, SessionOutlivesTheModel) {
  const auto twice = [](std::span<const AnyValue>, std::span<AnyValue>, const CustomNode&) -> Status { return {}; };
  ASSERT_TRUE(register_op("test", "Run", "y = [x0, 2*x1]", twice));
  std::optional<Session> session;
  {
    const auto model = model_with("test::Op: y = [x0]", "Run");
    ASSERT_TRUE(model);
    auto made = Session::from_model(*model);
    ASSERT_TRUE(made) << made.error().text();
    session = *std::move(made);
  }
  Context context(*session);
  EXPECT_EQ(values<int64_t>(run(context, {filled({2, 5})})[0]), (std::vector<int64_t>{2, 10}));
  // A rule alone does not run.
  const auto model = model_with("test::Op: y = [x0]");
  ASSERT_TRUE(model);
  const auto refused = Session::from_model(*model);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "run.missing");
}

// A file's rule stands behind ONNX's own operators and behind what the program says.
TEST(CustomFile, ProgramGoesFirst) {
  const std::string rules =
      "test::Op: y = [x0]\ntest::Mine: y = [x0]\n::Shape: y = i64[x0]\nai.onnx::Shape: y = i64[x0]";
  const auto before = model_with(rules, "Mine");
  ASSERT_TRUE(register_op("test", "Mine", "y = [x0, x1, 3]"));
  const auto after = model_with(rules, "Mine");
  ASSERT_TRUE(before && after);
  EXPECT_EQ(verdict(*before), "accept, 1 axes, exact");
  EXPECT_EQ(verdict(*after), "accept, 3 axes, exact");
  EXPECT_EQ(verdict(rules), "accept, 1 axes, exact");
}

std::string many_rules(int count) {
  std::string out = "test::Op: y = [x0, x1, 3]\n";
  for (int i = 1; i < count; ++i) out += "test::Op" + std::to_string(i) + ": y = [x0, 2*x1]\n";
  return out;
}

TEST(CustomFile, Limits) {
  EXPECT_EQ(verdict(many_rules(1000)), "accept, 3 axes, exact");
  for (int count : {1001, 20000}) {
    const auto model = model_with(many_rules(count));
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().code, "custom.limit");
    EXPECT_EQ(model.error().kind, Error::Kind::refused);
  }
  EXPECT_EQ(verdict("test::Op: y = [" + std::string(4000, ' ') + "x0]"), "accept, 1 axes, exact");
  EXPECT_EQ(verdict("test::Op: y = [" + std::string(5000, ' ') + "x0]"), "custom.limit");
}

// Each within the limits, and as large as they allow.
TEST(CustomFile, HostileRules) {
  const auto repeated = [](std::string_view part, size_t length) {
    std::string out;
    while (out.size() + part.size() <= length) out += part;
    return out;
  };
  const std::string texts[] = {
      "y = [x0" + repeated("*x0", 4000) + "]",
      "y = [x0" + repeated("+x1*x0", 4000) + "]",
      "y = [" + repeated("(x0+x1+1)*", 3900) + "1]",
      "y = [" + repeated("(", 4000) + "x0]",
      "y = [" + repeated("min(x0,", 3900) + "]",
      "y = [" + repeated("x0,", 3900) + "x0]",
      "(" + repeated("a,b,c,d,", 3900) + "x) -> y = [x0]",
      "y = [x0] where x0 >= 1" + repeated(" or x1 == x0", 3900),
      "y = [x0] where x0 >= 1" + repeated("; x1 >= 0", 3900),
      repeated("y = x;", 4000),
      "y = [" + repeated("select(x0 >= x1, x0, x1)+", 3900) + "1]",
  };
  for (const std::string& text : texts) {
    std::string rules = "test::Op: " + text + "\n";
    for (int i = 0; i < 200; ++i) rules += "t" + std::to_string(i) + "::Op: " + text + "\n";
    EXPECT_NE(verdict(rules), "") << text.substr(0, 40);
  }
}

TEST(CustomFile, ProgramMayRegisterMany) {
  for (int i = 0; i < 20000; ++i) ASSERT_TRUE(register_op("many", "Op" + std::to_string(i), "y = [x0, 2*x1]"));
  EXPECT_EQ(verdict(kRows[1].rules), kRows[1].verdict);
}

}  // namespace
}  // namespace anyshape::testing
