// The graph of a model as tools see it: nodes, values with what is known of them, requirements, bodies.
#include <anyshape/graph.h>
#include <anyshape/work.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace anyshape {
namespace {

GraphView graph_of(const char* path) {
  const auto model = Model::load(path);
  EXPECT_TRUE(model) << model.error().text();
  const auto graph = GraphView::of(*model);
  EXPECT_TRUE(graph) << graph.error().text();
  return *graph;
}

// The first node of that operator.
size_t node_of(const GraphView& graph, std::string_view op) {
  for (size_t i = 0; i < graph.node_count(); ++i)
    if (graph.node(i).op == op) return i;
  ADD_FAILURE() << "no " << op;
  return 0;
}

// What producers, consumers and captures say must agree, in bodies too.
void expect_sound(const GraphView& graph) {
  for (size_t i = 0; i < graph.node_count(); ++i) {
    const GraphNode node = graph.node(i);
    EXPECT_FALSE(node.label.empty());
    for (const auto& id : node.outputs)
      if (id) {
        EXPECT_EQ(graph.value(*id).producer, i);
        for (size_t reader : graph.consumers(*id)) EXPECT_GT(reader, i);
      }
    for (const auto& id : node.inputs)
      if (id) {
        const auto& readers = graph.consumers(*id);
        EXPECT_EQ(std::count(readers.begin(), readers.end(), i), 1);
      }
    for (const GraphBody& body : node.bodies) {
      expect_sound(body.graph);
      for (const auto& [outer, inner] : body.graph.captures()) {
        EXPECT_LT(outer, graph.value_count());
        EXPECT_LT(inner, body.graph.value_count());
      }
    }
  }
}

TEST(Graph, FactsOfAModel) {
  const GraphView graph = graph_of("examples/lstm_baked.onnx");
  expect_sound(graph);
  ASSERT_EQ(graph.inputs().size(), 1u);
  const GraphValue x = graph.value(graph.inputs()[0]);
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.type.type, "f32[batch, seq, 1]");
  EXPECT_EQ(x.type.kind, ValueType::Kind::tensor);
  EXPECT_FALSE(x.constant || x.stored || x.producer);
  EXPECT_EQ(graph.find("x"), graph.inputs()[0]);
  EXPECT_FALSE(graph.find("no such value"));
  const GraphValue y = graph.value(graph.outputs().at(0));
  EXPECT_EQ(y.type.dims, (std::vector<std::string>{"batch", "1"}));
  EXPECT_TRUE(y.producer);
}

TEST(Graph, EntriesAndConstants) {
  const GraphView graph = graph_of("examples/lstm_baked.onnx");
  const GraphNode reshape = graph.node(node_of(graph, "Reshape"));
  EXPECT_TRUE(reshape.known);
  ASSERT_EQ(reshape.inputs.size(), 2u);
  const GraphValue target = graph.value(reshape.inputs[1].value());
  ASSERT_TRUE(target.entries);
  EXPECT_EQ(*target.entries, (std::vector<std::string>{"batch", "120", "1"}));
  EXPECT_FALSE(target.constant);
  EXPECT_FALSE(graph.constant(*reshape.inputs[1]));
  const GraphNode lstm = graph.node(node_of(graph, "LSTM"));
  const GraphValue weights = graph.value(lstm.inputs.at(1).value());
  EXPECT_TRUE(weights.constant);
  const AnyValue stored = graph.constant(*lstm.inputs[1]);
  EXPECT_EQ(stored.type(), DType::f32);
  EXPECT_EQ(stored.shape().size(), 3u);
  const auto hidden = std::find_if(lstm.attributes.begin(), lstm.attributes.end(),
                                   [](const GraphAttribute& a) { return a.name == "hidden_size"; });
  ASSERT_NE(hidden, lstm.attributes.end());
  EXPECT_EQ(std::get<int64_t>(hidden->value), stored.shape()[1] / 4);
}

TEST(Graph, Requirements) {
  const GraphView graph = graph_of("examples/lstm_baked.onnx");
  std::set<std::string> codes;
  for (const GraphRequirement& one : graph.requirements()) {
    codes.insert(one.because.code);
    EXPECT_FALSE(one.because.sentence.empty());
    ASSERT_TRUE(one.node);
    EXPECT_EQ(graph.node(*one.node).op, one.because.op);
  }
  EXPECT_TRUE(codes.contains("reshape.count"));
}

TEST(Graph, RequirementOfABranch) {
  const auto all = graph_of("tests/fixtures/run/branch.onnx").requirements();
  const auto even = std::find_if(all.begin(), all.end(), [](const auto& one) { return one.text == "n % 2 == 0"; });
  ASSERT_NE(even, all.end());
  EXPECT_EQ(even->path, "n <= 4");
  EXPECT_EQ(even->because.op, "Reshape");
}

TEST(Graph, Limits) {
  const auto model = Model::load("examples/unet.onnx");
  ASSERT_TRUE(model);
  const std::atomic<bool> cancel = true;
  WorkLimits limits;
  limits.cancel = &cancel;
  std::optional<WorkScope> scope(std::in_place, limits);
  const auto none = GraphView::of(*model);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "work.cancelled");
  scope.reset();
  EXPECT_TRUE(GraphView::of(*model));
}

TEST(Graph, Bodies) {
  for (const char* path : {"tests/fixtures/run/branch.onnx", "tests/fixtures/run/loop.onnx"}) {
    const GraphView graph = graph_of(path);
    expect_sound(graph);
    size_t bodies = 0;
    for (size_t i = 0; i < graph.node_count(); ++i)
      for (const GraphBody& body : graph.node(i).bodies) {
        ++bodies;
        EXPECT_FALSE(body.attribute.empty());
        EXPECT_TRUE(body.graph.requirements().empty());
        ASSERT_FALSE(body.graph.outputs().empty());
        EXPECT_NE(body.graph.value(body.graph.outputs().back()).type.kind, ValueType::Kind::unknown) << path;
      }
    EXPECT_GT(bodies, 0u) << path;
  }
}

}  // namespace
}  // namespace anyshape
