#include <gtest/gtest.h>

#include "ops/all.h"
#include "ops/elementwise/elementwise.h"
#include "ops/operator_table.h"
#include "ops/testing.h"

// Adding an operator takes two places, its record and its row of a table: with them it is inferred, run and printed.
namespace anyshape::ops {
namespace {

constexpr Port kIn[] = {{"X"}};
constexpr Port kOut[] = {{"Y"}};
constexpr AttributeDef kAttributes[] = {{"times", 2}};

// Its input `times` times along the first axis.
Result<Facts> infer(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, kMaskInt));
  TRY_OK(require_min_rank(call, 0, 1));
  Dims dims = *call.in(0).dims;
  TRY_OK(context.require(Condition::ge(dims[0], 1), "repeat.empty", "the first axis must not be empty"));
  dims[0] = dims[0] * Dim(call.i("times"));
  return Facts{Fact::tensor(call.in(0).dtype, std::move(dims))};
}

Status reference(const Call&, KernelArgs& args) {
  const int64_t count = args.in(0).count();
  for (int64_t i = 0; i < args.out(0).count(); ++i) args.out(0).set_int(i, args.in(0).int_at(i % count));
  return {};
}

constexpr Kernel kKernels[] = {{"reference", reference}};
constexpr OpDef kRepeat3{.name = "Repeat",
                         .since = 3,
                         .domain = "test",
                         .sig = {kIn, kOut, "its input, repeated", kAttributes},
                         .infer = infer,
                         .kernels = kKernels};
constexpr const OpDef* kRecords[] = {&kRepeat3};

Graph graph_of(const OpTable& table, std::string_view attributes) {
  Graph graph;
  Node node;
  node.domain = "test";
  node.type = "Repeat";
  node.version = 4;
  node.op = table.find(node.domain, node.type, node.version);
  node.in = {0};
  node.out = {1};
  Symbols unused;
  node.attributes = parse_attributes(attributes, unused);
  graph.values.resize(2);
  graph.inputs = {0};
  graph.outputs = {1};
  graph.nodes.push_back(std::move(node));
  graph.finish();
  return graph;
}

// What comes out of the graph for that input, entries included where they are known.
std::string infer_text(const Graph& graph, std::string_view in) {
  Symbols symbols;
  Assumptions assumptions(symbols);
  Walk walk(assumptions, {});
  const auto facts = walk.run(graph, {parse_fact(in, symbols)});
  std::string out = facts ? print_all((*facts)[1]) : fmt::format("error[{}]", facts.error().code);
  for (const auto& requirement : walk.requirements()) out += " if " + print(requirement.condition);
  return out;
}

TEST(AddedOperator, IsInferredRunAndPrinted) {
  const OpTable table(kRecords, &all_ops());
  EXPECT_EQ(table.find("test", "Repeat", 2), nullptr);
  EXPECT_NE(table.find("", "Relu", 17), nullptr);
  EXPECT_EQ(infer_text(graph_of(table, ""), "i64[n, 3]"), "i64[2*n, 3] if n >= 1");
  EXPECT_EQ(infer_text(graph_of(table, "times=3"), "i64[n]"), "i64[3*n] if n >= 1");
  EXPECT_EQ(infer_text(graph_of(table, "times=1.5"), "i64[n]"), "error[attr.type] if n >= 1");
  EXPECT_EQ(infer_text(graph_of(table, ""), "f32[n]"), "error[dtype]");

  const Graph graph = graph_of(table, "times=3");
  const int64_t entries[] = {7, 8};
  const Tensor tensor = Tensor::of_ints({2}, entries);
  const Fact in = Fact::of_constant(tensor);
  const Fact* facts[] = {&in};
  const auto out = run_reference(Call(graph.nodes[0], "node", facts), {Datum(tensor)}, {Fact::tensor(DType::i64, {6})});
  ASSERT_TRUE(out);
  EXPECT_EQ(print_all(Fact::of((*out)[0])), "i64[6] = [7, 8, 7, 8, 7, 8]");

  EXPECT_NE(operator_table(table).find("| Repeat | 3 | X | Y | times: int = 2 | yes | its input, repeated |"),
            std::string::npos);
}

}  // namespace
}  // namespace anyshape::ops
