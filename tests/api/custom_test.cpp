#include <anyshape/c.h>
#include <anyshape/check.h>
#include <anyshape/custom.h>
#include <anyshape/fix.h>
#include <anyshape/verify.h>

#include "testing.h"

namespace anyshape::testing {
namespace {

constexpr const char* kRule = "y = [x0, 3*x1] where x1 >= 2";

// Each row `times` times, scaled.
Status repeat(std::span<const AnyValue> in, std::span<AnyValue> out, const CustomNode& node) {
  const int64_t times = node.integer("times").value_or(1), rows = in[0].shape()[0], width = in[0].shape()[1];
  const float scale = node.number("scale").value_or(1);
  const auto* x = static_cast<const float*>(in[0].data());
  auto* y = static_cast<float*>(out[0].mutable_data());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < times * width; ++k) *y++ = scale * x[i * width + k % width];
  return {};
}

Floats repeated(const Floats& x, int64_t width) {
  Floats out;
  for (size_t row = 0; row < x.size(); row += static_cast<size_t>(width))
    for (int k = 0; k < 3; ++k)
      for (int64_t i = 0; i < width; ++i) out.push_back(x[row + static_cast<size_t>(i)] / 2);
  return out;
}

// Before anything is registered: the tests run in the order they are written in.
TEST(Custom, UnknownOperator) {
  const auto session = Session::load(model_path("custom"));
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, "run.missing");
  EXPECT_NE(session.error().message.find("test.Repeat"), std::string::npos) << session.error().text();
  EXPECT_NE(session.error().place.find("the repeat"), std::string::npos) << session.error().text();
  const auto model = Model::load(model_path("custom"));
  ASSERT_TRUE(model);
  EXPECT_EQ(accepts(*model, {{"x", {2, 2}}}).kind, Answer::Kind::unknown);
}

TEST(Custom, RulesThatAreNone) {
  for (const char* rule :
       {"", "y", "y = [", "y = [q0]", "y = [x0", "y = nothing[x0]", "y = [x0 +]", "y = z", "(x -> y = x",
        "y = [x0] where", "y = [x0] where x0", "y = [x0] where x0 ==", "(x, x) -> y = [x0]", "= [x0]", "() -> y = [x0]",
        "y = ['12']", "y = ['x 0']", "y = [x0 + '+']", "y = [x0] where '1' >= 1"}) {
    const Status status = register_op("test", "Broken", rule);
    ASSERT_FALSE(status) << rule;
    EXPECT_EQ(status.error().code, "custom.rule") << rule;
    EXPECT_EQ(status.error().kind, Error::Kind::usage) << rule;
    EXPECT_FALSE(status.error().message.empty());
  }
  EXPECT_EQ(register_op("", "Relu", "y = x").error().code, "custom.name");
  EXPECT_EQ(register_op("ai.onnx", "Relu", "y = x").error().code, "custom.name");
  EXPECT_EQ(register_op("test", "", "y = x").error().code, "custom.name");
  EXPECT_EQ(register_shape_rule("no rule").error().code, "custom.rule");
  EXPECT_EQ(register_shape_rule("a::b").error().code, "custom.rule");
}

TEST(Custom, WithoutKernelItIsCheckedButNotRun) {
  ASSERT_TRUE(register_op("test", "Repeat", kRule));
  const auto session = Session::load(model_path("custom"));
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, "run.missing");
  EXPECT_NE(session.error().message.find("kernel"), std::string::npos) << session.error().text();
  EXPECT_NE(session.error().place.find("the repeat"), std::string::npos) << session.error().text();
  const auto model = Model::load(model_path("custom"));
  ASSERT_TRUE(model);
  EXPECT_EQ(accepts(*model, {{"x", {2, 2}}}).kind, Answer::Kind::accept);
}

TEST(Custom, RuleAndKernel) {
  ASSERT_TRUE(register_op("test", "Repeat", kRule, repeat));
  const Session session = load("custom");
  Context context(session, 2);
  for (const auto& [n, m] : {std::pair<int64_t, int64_t>{2, 3}, {5, 2}, {0, 4}, {30, 7}}) {
    const Floats x = entries(n * m);
    const auto shapes = context.output_shapes({{"x", {n, m}}});
    ASSERT_TRUE(shapes) << shapes.error().text();
    EXPECT_EQ((*shapes)[0], (Sizes{n, 3 * m}));
    const auto out = run(context, {tensor({n, m}, x)});
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].shape(), (Sizes{n, 3 * m}));
    EXPECT_EQ(values(out[0]), repeated(x, m));
  }
}

TEST(Custom, ConditionOfTheRuleIsPartOfTheAcceptedSet) {
  ASSERT_TRUE(register_op("test", "Repeat", kRule, repeat));
  const auto model = Model::load(model_path("custom"));
  ASSERT_TRUE(model);
  const auto report = check(*model);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->accepted.conditions.size(), 1u);
  EXPECT_EQ(report->accepted.conditions[0].text, "m >= 2");
  const Answer answer = accepts(*model, {{"x", {2, 1}}});
  EXPECT_EQ(answer.kind, Answer::Kind::refuse);
  EXPECT_EQ(answer.code, "custom.where");
  const Session session = load("custom");
  Context context(session);
  const Error error = refused(context, {filled({2, 1})});
  EXPECT_EQ(error.code, "custom.where");
  EXPECT_NE(error.place.find("the repeat"), std::string::npos) << error.text();
  EXPECT_EQ(run(context, {filled({2, 2})}).size(), 1u);
}

TEST(Custom, WhatAKernelKeepsStays) {
  std::vector<AnyValue> kept;
  ASSERT_TRUE(register_op("test", "Repeat", kRule,
                          [&](std::span<const AnyValue> in, std::span<AnyValue> out, const CustomNode& node) -> Status {
                            kept.push_back(in[0].kept().value());
                            return repeat(in, out, node);
                          }));
  {
    const Session session = load("custom");
    Context context(session);
    for (int64_t rows = 1; rows < 6; ++rows) run(context, {filled({rows, 2}, static_cast<int>(rows))});
  }
  ASSERT_EQ(kept.size(), 5u);
  for (int64_t rows = 1; rows < 6; ++rows) {
    Floats wanted = entries(rows * 2, static_cast<int>(rows));
    std::transform(wanted.begin(), wanted.end(), wanted.begin(), std::negate<>());
    EXPECT_EQ(values(kept[static_cast<size_t>(rows - 1)]), wanted);
  }
}

TEST(Custom, Attributes) {
  bool ran = false;
  ASSERT_TRUE(register_op("test", "Repeat", kRule,
                          [&](std::span<const AnyValue>, std::span<AnyValue>, const CustomNode& node) -> Status {
                            ran = true;
                            EXPECT_EQ(node.name(), "the repeat");
                            EXPECT_EQ(node.integer("times"), 3);
                            EXPECT_EQ(node.number("scale"), 0.5f);
                            EXPECT_EQ(node.text("label"), "three");
                            EXPECT_EQ(node.integers("parts"), (std::vector<int64_t>{1, 2}));
                            EXPECT_EQ(node.numbers("shares"), (Floats{0.25f, 0.75f}));
                            EXPECT_FALSE(node.integer("absent"));
                            EXPECT_FALSE(node.number("absent"));
                            EXPECT_FALSE(node.text("absent"));
                            EXPECT_TRUE(node.integers("absent").empty());
                            // Asked for as something else than it is.
                            EXPECT_FALSE(node.integer("label"));
                            EXPECT_FALSE(node.number("times"));
                            EXPECT_FALSE(node.text("scale"));
                            EXPECT_TRUE(node.numbers("parts").empty());
                            return {};
                          }));
  const Session session = load("custom");
  Context context(session);
  // Outputs that a kernel leaves alone are zeros.
  EXPECT_EQ(values(run(context, {filled({1, 2})})[0]), Floats(6));
  EXPECT_TRUE(ran);
}

TEST(Custom, KernelThatFails) {
  bool fails = true;
  ASSERT_TRUE(register_op("test", "Repeat", kRule,
                          [&](std::span<const AnyValue> in, std::span<AnyValue> out, const CustomNode& node) -> Status {
                            if (fails)
                              return tl::unexpected(Error{Error::Kind::refused, "mine.bad", {}, "not today", {}});
                            return repeat(in, out, node);
                          }));
  const Session session = load("custom");
  Context context(session);
  const Error error = refused(context, {filled({2, 2})});
  EXPECT_EQ(error.code, "mine.bad");
  EXPECT_EQ(error.message, "not today");
  EXPECT_NE(error.place.find("the repeat"), std::string::npos) << error.text();
  fails = false;
  EXPECT_EQ(values(run(context, {filled({2, 2})})[0]), repeated(entries(4), 2));
}

// A model keeps the operator it was loaded with.
TEST(Custom, RegisteredAgain) {
  ASSERT_TRUE(register_op("test", "Repeat", kRule, repeat));
  const Session before = load("custom");
  ASSERT_TRUE(
      register_op("test", "Repeat", "y = x",
                  [](std::span<const AnyValue>, std::span<AnyValue>, const CustomNode&) -> Status { return {}; }));
  const Session after = load("custom");
  Context a(before), b(after);
  EXPECT_EQ(run(a, {filled({2, 2})})[0].shape(), (Sizes{2, 6}));
  EXPECT_EQ(run(b, {filled({2, 2})})[0].shape(), (Sizes{2, 2}));
}

// A kernel that puts another tensor into an output than its rule says.
TEST(Custom, KernelThatBreaksItsRule) {
  ASSERT_TRUE(register_op("test", "Repeat", kRule,
                          [](std::span<const AnyValue>, std::span<AnyValue> out, const CustomNode&) -> Status {
                            out[0] = filled({1});
                            return {};
                          }));
  const Session session = load("custom");
  Context context(session);
  const Error error = refused(context, {filled({2, 2})});
  EXPECT_EQ(error.code, "run.shape") << error.text();
  EXPECT_NE(error.place.find("the repeat"), std::string::npos) << error.text();
}

TEST(Custom, FromC) {
  static int calls = 0;
  const anyshape_kernel kernel = [](const anyshape_node* node, const anyshape_tensor* in, size_t inputs,
                                    const anyshape_tensor* out, size_t outputs, void* user) {
    ++*static_cast<int*>(user);
    int64_t times = 0;
    float scale = 0;
    if (inputs != 1 || outputs != 1 || in[0].type != 1 || out[0].rank != 2) return 1;
    if (!anyshape_node_integer(node, "times", &times) || !anyshape_node_number(node, "scale", &scale)) return 2;
    if (anyshape_node_integer(node, "absent", &times) || anyshape_node_number(node, "times", &scale)) return 3;
    if (in[0].dims[0] == 13) return 42;
    const auto* x = static_cast<const float*>(in[0].data);
    auto* y = static_cast<float*>(out[0].data);
    for (int64_t i = 0; i < in[0].dims[0]; ++i)
      for (int64_t k = 0; k < out[0].dims[1]; ++k) *y++ = scale * x[i * in[0].dims[1] + k % in[0].dims[1]];
    return 0;
  };
  anyshape_error* error = anyshape_register_op("test", "Repeat", "y = [", kernel, nullptr);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(anyshape_error_get_kind(error), ANYSHAPE_USAGE);
  EXPECT_STREQ(anyshape_error_code(error), "custom.rule");
  anyshape_error_free(error);
  ASSERT_EQ(anyshape_register_op("test", "Repeat", kRule, kernel, &calls), nullptr);
  const Session session = load("custom");
  Context context(session);
  EXPECT_EQ(values(run(context, {filled({2, 2})})[0]), repeated(entries(4), 2));
  EXPECT_EQ(calls, 1);
  const Error failed = refused(context, {filled({13, 2})});
  EXPECT_EQ(failed.code, "custom.kernel");
  EXPECT_NE(failed.message.find("42"), std::string::npos) << failed.text();
  EXPECT_NE(failed.place.find("the repeat"), std::string::npos) << failed.text();
}

// fix and verify read the same table as check and run.
TEST(Custom, FixAndVerify) {
  ASSERT_TRUE(register_op("test", "Repeat", kRule, repeat));
  const auto model = Model::load(model_path("custom"));
  ASSERT_TRUE(model);
  const std::string width = model->inputs()[0].dims.value()[1];
  FixOptions options;
  options.freeze = {{width, 1}};
  const auto refused = fix(*model, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "custom.where");
  options.freeze = {{width, 4}};
  options.simplify = true;
  const auto frozen = fix(*model, options);
  ASSERT_TRUE(frozen) << frozen.error().text();
  EXPECT_EQ(frozen->model.outputs()[0].dims.value()[1], "12");

  const auto compared = verify(frozen->model, *model);
  ASSERT_TRUE(compared) << compared.error().text();
  EXPECT_EQ(compared->front().kind, Compared::Kind::same);
  for (const Compared& one : *compared) EXPECT_NE(one.kind, Compared::Kind::differs) << one.sentence;
  const auto wider = verify(*model, frozen->model);
  ASSERT_TRUE(wider) << wider.error().text();
  EXPECT_EQ(wider->front().kind, Compared::Kind::only_first);
  EXPECT_EQ(wider->back().kind, Compared::Kind::same);
}

}  // namespace
}  // namespace anyshape::testing
