#include "solve/solve.h"

#include <gtest/gtest.h>

#include "base/effort.h"
#include "ops/all.h"
#include "solve/accepted.h"
#include "solve/contract.h"

namespace anyshape {
namespace {

// x[DIMS] -> y by one node, called so.
std::shared_ptr<const Graph> one_node(std::string type, std::string name, std::vector<DeclaredDim> dims) {
  auto graph = std::make_shared<Graph>();
  graph->values.resize(2);
  graph->values[0].name = "x";
  graph->values[1].name = "y";
  Declared declared;
  declared.kind = Fact::Kind::tensor;
  declared.dtype = DType::f32;
  declared.dims = std::move(dims);
  graph->values[0].declared = std::move(declared);
  graph->inputs = {0};
  graph->outputs = {1};
  Node node;
  node.name = std::move(name);
  node.op = all_ops().find("", type, 17);
  node.type = std::move(type);
  node.version = 17;
  node.in = {0};
  node.out = {1};
  graph->nodes.push_back(std::move(node));
  graph->finish();
  return graph;
}

// Names of files hold anything, what the places of errors are made of too.
TEST(Solve, NamesTheNodeThatEndsTheWalk) {
  for (const char* name : {"/a", "say \"a\": node \"b\"", "a\\\"", "\""}) {
    const Typed refused = solve(one_node("GlobalAveragePool", name, {{3, ""}}));
    ASSERT_TRUE(refused.refusal()) << name;
    EXPECT_EQ(refused.refused_by().node, name);
    EXPECT_EQ(refused.refused_by().op, "GlobalAveragePool");
    EXPECT_EQ(accepted_set(refused).conditions[0].because[0].node, name);

    const Effort effort(1);
    const Typed cut = solve_part(one_node("Relu", name, {{std::nullopt, "n"}}));
    ASSERT_TRUE(cut.cut_short()) << name;
    EXPECT_EQ(cut.cut_short()->node, name);
    EXPECT_EQ(cut.cut_short()->op, "Relu");
  }
}

// Symbols of the two models are matched by the axes they name.
TEST(Solve, SetsOfTwoModelsAreCompared) {
  struct Row {
    std::vector<DeclaredDim> next, old;
    std::string_view condition;  // of the next one
    bool proved;
  };
  const DeclaredDim any{std::nullopt, "n"}, other{std::nullopt, "size of it"}, four{4, ""};
  const Row rows[] = {
      {{any, any}, {other, other}, "always", true},
      {{any, other}, {any, any}, "'size of it' == n", true},
      {{any, other}, {other, any}, "'size of it' == n", false},
      {{any}, {four}, "n % 2 == 0 and (n + 3)//2 >= 3", true},
      {{any}, {four}, "min(n, 7) == 7", false},
  };
  for (const Row& row : rows) {
    const Typed next = solve(one_node("Relu", "r", row.next)), old = solve(one_node("Relu", "r", row.old));
    AcceptedSet set = accepted_set(next);
    set.conditions.push_back({*parse_condition(row.condition, next.symbols()), {{}}});
    const auto proof = prove_covers(next, set, old, accepted_set(old));
    ASSERT_TRUE(proof) << row.condition;
    EXPECT_EQ(proof->kind == Proof::Kind::proved, row.proved) << row.condition << ": " << proof->why;
  }
}

TEST(Solve, InputOfAWantedBox) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"x=[1..64, 80]", "x"}, {" input:0 =[1]", "input:0"}, {"a[0]=[2]", "a[0]"}, {"n % 2 == 0", ""}, {"n >= 3", ""},
  };
  for (const auto& [text, input] : rows) EXPECT_EQ(wanted_input(text), input) << text;
}

}  // namespace
}  // namespace anyshape
