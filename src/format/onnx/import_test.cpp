#include "format/onnx/import.h"

#include <gtest/gtest.h>

#include <set>

#include "ops/all.h"

namespace anyshape::onnx {
namespace {

using Names = std::vector<std::string_view>;

NodeProto node(std::string_view type, Names in, Names out, std::string_view name = {}) {
  NodeProto n;
  n.op_type = type;
  n.input = std::move(in);
  n.output = std::move(out);
  n.name = name;
  return n;
}

ValueInfoProto value(std::string_view name) {
  ValueInfoProto v;
  v.name = name;
  return v;
}

GraphProto graph(Names inputs, std::vector<NodeProto> nodes, Names outputs) {
  GraphProto g;
  g.name = "g";
  for (auto name : inputs) g.input.push_back(value(name));
  g.node = std::move(nodes);
  for (auto name : outputs) g.output.push_back(value(name));
  return g;
}

NodeProto with_body(NodeProto n, std::string_view attribute, GraphProto body) {
  AttributeProto a;
  a.name = attribute;
  a.type = static_cast<int32_t>(AttributeType::graph);
  a.g = std::move(body);
  n.attribute.push_back(std::move(a));
  return n;
}

NodeProto if_node(GraphProto then_body, GraphProto else_body) {
  NodeProto n = with_body(node("If", {"c"}, {"y"}, "if"), "then_branch", std::move(then_body));
  return with_body(std::move(n), "else_branch", std::move(else_body));
}

ModelFile model(GraphProto g) {
  ModelFile file;
  file.proto.ir_version = 8;
  OperatorSetIdProto opset;
  opset.domain = "";
  opset.version = 17;
  file.proto.opset_import.push_back(opset);
  file.proto.graph = std::move(g);
  return file;
}

FunctionProto function(std::string_view name, std::vector<NodeProto> nodes) {
  FunctionProto f;
  f.domain = "local";
  f.name = name;
  f.input = {"a"};
  f.output = {"b"};
  f.node = std::move(nodes);
  return f;
}

NodeProto call(std::string_view name, std::string_view in, std::string_view out) {
  NodeProto n = node(name, {in}, {out});
  n.domain = "local";
  return n;
}

std::string code(const ModelFile& file) {
  const auto imported = import_model(file, all_ops());
  return imported ? "" : imported.error().code;
}

TEST(Import, RefusesWhatIsNoGraph) {
  const struct {
    GraphProto graph;
    std::string_view code;
  } rows[] = {
      {graph({"x"}, {node("Relu", {"x"}, {"y"})}, {"y"}), ""},
      {graph({"x"}, {node("Relu", {"y"}, {"z"}), node("Relu", {"x"}, {"y"})}, {"z"}), ""},  // out of order
      {graph({"x"}, {node("Relu", {"z"}, {"y"}), node("Relu", {"y"}, {"z"})}, {"z"}), "graph.cycle"},
      {graph({"x"}, {node("Relu", {"y"}, {"y"})}, {"y"}), "graph.cycle"},
      {graph({"x"}, {node("Relu", {"w"}, {"y"})}, {"y"}), "graph.missing"},
      {graph({"x"}, {node("Relu", {"x"}, {"y"})}, {"z"}), "graph.output"},
      {graph({"x", "x"}, {}, {"x"}), "graph.duplicate"},
      {graph({"x"}, {node("Relu", {"x"}, {"y"}), node("Abs", {"x"}, {"y"})}, {"y"}), "graph.duplicate"},
      {graph({"x"}, {node("Relu", {"x"}, {"x"})}, {"x"}), "graph.duplicate"},
      {graph({"x", "c"},
             {if_node(graph({}, {node("Relu", {"x"}, {"t"})}, {"t"}), graph({}, {node("Abs", {"x"}, {"t"})}, {"t"}))},
             {"y"}),
       ""},
      {graph({"x", "c"},
             {if_node(graph({}, {node("Relu", {"x"}, {"x"})}, {"x"}), graph({}, {node("Abs", {"x"}, {"t"})}, {"t"}))},
             {"y"}),
       "graph.shadow"},
      {graph({"x", "c"},
             {if_node(graph({}, {node("Relu", {"q"}, {"t"})}, {"t"}), graph({}, {node("Abs", {"x"}, {"t"})}, {"t"}))},
             {"y"}),
       "graph.missing"},
      {graph({"x"}, {node("NoSuchOperator", {"x"}, {"y"})}, {"y"}), ""},
  };
  for (const auto& row : rows) EXPECT_EQ(code(model(row.graph)), row.code) << row.graph.node.size();
}

TEST(Import, TakesTheInnermostOfNames) {
  // Loop: the second input of the body is called as the input of the graph.
  const GraphProto body =
      graph({"i", "go", "x"}, {node("Identity", {"go"}, {"on"}), node("Neg", {"x"}, {"z"})}, {"on", "z"});
  ModelFile file = model(graph({"x", "c"}, {with_body(node("Loop", {"", "", "c"}, {"y"}), "body", body)}, {"y"}));
  const auto imported = import_model(file, all_ops());
  ASSERT_TRUE(imported) << imported.error().text();
  ASSERT_EQ((*imported)->leniencies.size(), 1u);
  EXPECT_EQ((*imported)->leniencies[0].code, "lenient.shadow");
  for_each_body((*imported)->nodes[0], [](const Graph& inner) {
    EXPECT_TRUE(inner.captures.empty());
    EXPECT_EQ(inner.nodes[1].in[0], inner.inputs[2]);
  });
  file.strict = true;
  EXPECT_EQ(code(file), "lenient.shadow");
}

TEST(Import, RefusesModelsWithoutGraphOrOpset) {
  ModelFile no_graph = model(graph({"x"}, {}, {"x"}));
  no_graph.proto.graph.reset();
  EXPECT_EQ(code(no_graph), "model.graph");
  ModelFile no_opset = model(graph({"x"}, {node("Relu", {"x"}, {"y"})}, {"y"}));
  no_opset.proto.opset_import.clear();
  EXPECT_EQ(code(no_opset), "model.opset");
  no_opset.proto.ir_version = 2;
  EXPECT_EQ(code(no_opset), "");
}

// The names of values whose entries may tell sizes, in bodies too.
void collect_relevant(const Graph& graph, std::set<std::string>& names) {
  for (const Value& value : graph.values)
    if (value.shape_relevant) names.insert(value.name);
  for (const Node& node : graph.nodes) for_each_body(node, [&](const Graph& body) { collect_relevant(body, names); });
}

std::string relevant(const GraphProto& proto) {
  const auto imported = import_model(model(proto), all_ops());
  if (!imported) return imported.error().text();
  std::set<std::string> names;
  collect_relevant(**imported, names);
  return fmt::format("{}", fmt::join(names, " "));
}

TEST(Import, MarksWhatTellsSizes) {
  const auto branch = [](NodeProto last) { return graph({}, {node("Neg", {"v"}, {"w"}), std::move(last)}, {"t"}); };
  const auto branches = [&](const NodeProto& reader) {
    NodeProto taken = if_node(branch(node("Add", {"x", "w"}, {"t"})), branch(node("Mul", {"x", "w"}, {"t"})));
    return graph({"x", "c"}, {node("Abs", {"x"}, {"v"}), std::move(taken), reader}, {"z"});
  };
  EXPECT_EQ(relevant(branches(node("Relu", {"y"}, {"z"}))), "c");
  EXPECT_EQ(relevant(branches(node("Shape", {"y"}, {"z"}))), "c");
  EXPECT_EQ(relevant(branches(node("Reshape", {"x", "y"}, {"z"}))), "c t v w x y");
  // Read as a shape in a branch, and in a branch of a branch.
  const GraphProto reshapes = branch(node("Reshape", {"x", "w"}, {"t"})), adds = branch(node("Add", {"x", "w"}, {"t"}));
  const auto around = [](NodeProto taken) {
    return graph({"x", "c"}, {node("Abs", {"x"}, {"v"}), std::move(taken)}, {"y"});
  };
  EXPECT_EQ(relevant(around(if_node(reshapes, adds))), "c v w x");
  NodeProto inner = if_node(reshapes, adds);
  inner.output = {"u"};
  EXPECT_EQ(relevant(around(if_node(graph({}, {inner}, {"u"}), graph({}, {node("Neg", {"v"}, {"u"})}, {"u"})))),
            "c v w x");
  // What a Loop carries may be read in its next round.
  const GraphProto body = graph({"i", "go", "s"}, {node("Abs", {"s"}, {"r"})}, {"go", "r"});
  const NodeProto loop = with_body(node("Loop", {"", "", "v"}, {"y"}), "body", body);
  EXPECT_EQ(relevant(graph({"x"}, {node("Abs", {"x"}, {"v"}), loop}, {"y"})), "go r s v x");
}

TEST(Import, LocalFunctionsAreExpandedAndBounded) {
  ModelFile file = model(graph({"x"}, {call("f", "x", "y")}, {"y"}));
  file.proto.functions = {function("f", {node("Relu", {"a"}, {"b"})})};
  const auto imported = import_model(file, all_ops());
  ASSERT_TRUE(imported) << imported.error().text();
  ASSERT_TRUE((*imported)->nodes[0].body);
  EXPECT_EQ((*imported)->nodes[0].body->nodes[0].type, "Relu");

  file.proto.functions = {function("f", {call("f", "a", "b")})};
  EXPECT_EQ(code(file), "function.depth");

  // Each calls the next one twice: two to the fortieth nodes, if they were all made.
  std::vector<std::string> names;
  for (int i = 0; i <= 40; ++i) names.push_back(fmt::format("f{}", i));
  file = model(graph({"x"}, {call(names[0], "x", "y")}, {"y"}));
  for (size_t i = 0; i < 40; ++i)
    file.proto.functions.push_back(function(names[i], {call(names[i + 1], "a", "m"), call(names[i + 1], "m", "b")}));
  file.proto.functions.push_back(function(names[40], {node("Relu", {"a"}, {"b"})}));
  EXPECT_EQ(code(file), "model.size");
}

TEST(Import, DeepBodiesAreRefused) {
  GraphProto inner = graph({}, {node("Relu", {"x"}, {"t"})}, {"t"});
  std::vector<std::string> names;
  for (int i = 0; i < 80; ++i) names.push_back(fmt::format("t{}", i));
  for (int i = 0; i < 80; ++i) {
    NodeProto n = with_body(node("If", {"c"}, {names[static_cast<size_t>(i)]}), "then_branch", std::move(inner));
    inner = graph({}, {std::move(n)}, {names[static_cast<size_t>(i)]});
  }
  inner.input = {value("x"), value("c")};
  EXPECT_EQ(code(model(std::move(inner))), "graph.depth");
}

}  // namespace
}  // namespace anyshape::onnx
