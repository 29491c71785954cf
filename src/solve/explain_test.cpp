#include "solve/explain.h"

#include <gtest/gtest.h>

#include "ops/all.h"

namespace anyshape {
namespace {

// x[batch, 12] -> Reshape by the constant [-1, 3, 4] -> y -> Relu -> z.
std::shared_ptr<const Graph> reshape_graph() {
  auto graph = std::make_shared<Graph>();
  const auto add = [&](std::string name) {
    Value value;
    value.name = std::move(name);
    graph->values.push_back(std::move(value));
    return static_cast<ValueId>(graph->values.size() - 1);
  };
  const ValueId x = add("x"), target = add("target"), y = add("y"), z = add("z");
  Declared declared;
  declared.kind = Fact::Kind::tensor;
  declared.dtype = DType::f32;
  declared.dims = {{std::nullopt, "batch"}, {12, ""}};
  graph->values[x].declared = declared;
  const int64_t entries[] = {-1, 3, 4};
  graph->values[target].constant = std::make_shared<const Fact>(Fact::of_constant(Tensor::of_ints({3}, entries)));
  graph->values[target].is_initializer = true;
  graph->inputs = {x};
  graph->outputs = {z};
  const auto node = [&](std::string type, std::vector<ValueId> in, std::vector<ValueId> out) {
    Node made;
    made.name = "/" + type;
    made.type = std::move(type);
    made.version = 17;
    made.op = all_ops().find("", made.type, 17);
    made.in = std::move(in);
    made.out = std::move(out);
    graph->nodes.push_back(std::move(made));
  };
  node("Reshape", {x, target}, {y});
  node("Relu", {y}, {z});
  graph->finish();
  return graph;
}

std::string chain(const AxisStory& story) {
  std::string out;
  for (const AxisStep& s : story.steps) out += fmt::format("{}:{}={} ", s.value, s.axis, s.size);
  return out + "| " + story.conclusion;
}

TEST(Explain, FollowsAnAxisToItsCause) {
  const Typed typed = solve(reshape_graph());
  const std::pair<int64_t, std::string> rows[] = {
      {0, "z:0=batch y:0=batch x:0=batch | dynamic: batch is axis 0 of input \"x\""},
      {1, "z:1=3 y:1=3 target:1=3 | static: 3 comes from entry 1 of \"target\""},
      {-1, "z:2=4 y:2=4 target:2=4 | static: 4 comes from entry 2 of \"target\""},
  };
  for (const auto& [axis, expected] : rows) {
    const auto story = explain_axis(typed, "z", axis);
    ASSERT_TRUE(story) << axis;
    EXPECT_EQ(chain(*story), expected);
  }
}

TEST(Explain, RefusesWhatIsNotThere) {
  const Typed typed = solve(reshape_graph());
  EXPECT_EQ(explain_axis(typed, "w", 0).error().code, "explain.value");
  EXPECT_EQ(explain_axis(typed, "z", 3).error().code, "explain.axis");
  EXPECT_EQ(explain_axis(typed, "z", -4).error().code, "explain.axis");
  EXPECT_EQ(*rank_of(typed, "z"), 3u);
}

TEST(Explain, TellsOfOneAxisOrOfAll) {
  const Typed typed = solve(reshape_graph());
  const std::pair<std::string_view, size_t> rows[] = {{"z", 3}, {"z:1", 1}, {"z:-3", 1}};
  for (const auto& [text, stories] : rows) EXPECT_EQ(explain_axes(typed, text)->size(), stories) << text;
  EXPECT_EQ(explain_axes(typed, "w").error().code, "explain.value");
  EXPECT_EQ(explain_axes(typed, "z:3").error().code, "explain.axis");
}

TEST(Explain, SplitsFromTheRight) {
  EXPECT_EQ(split_axis("input:0:1"), (std::pair<std::string_view, std::optional<int64_t>>("input:0", 1)));
  EXPECT_EQ(split_axis("y:-1"), (std::pair<std::string_view, std::optional<int64_t>>("y", -1)));
  for (std::string_view text : {"y", "y:", "y:a", "a:b", "y:1x"})
    EXPECT_EQ(split_axis(text), (std::pair<std::string_view, std::optional<int64_t>>(text, std::nullopt)));
}

}  // namespace
}  // namespace anyshape
