#include "verify/boundary.h"

#include <gtest/gtest.h>

#include "ops/all.h"
#include "solve/contract.h"
#include "verify/solutions.h"
#include "verify/typical.h"

namespace anyshape {
namespace {

struct Input {
  std::string name;
  std::vector<DeclaredDim> dims;
};

// Inputs, each handed through by a node.
Typed typed_of(const std::vector<Input>& inputs) {
  auto graph = std::make_shared<Graph>();
  for (const Input& input : inputs) {
    const auto x = static_cast<ValueId>(graph->values.size());
    graph->values.resize(x + 2);
    graph->values[x].name = input.name;
    graph->values[x + 1].name = input.name + "_out";
    Declared declared;
    declared.kind = Fact::Kind::tensor;
    declared.dtype = DType::f32;
    declared.dims = input.dims;
    graph->values[x].declared = declared;
    Node node;
    node.type = "Identity";
    node.version = 17;
    node.op = all_ops().find("", "Identity", 17);
    node.in = {x};
    node.out = {x + 1};
    graph->nodes.push_back(std::move(node));
    graph->inputs.push_back(x);
    graph->outputs.push_back(x + 1);
  }
  graph->finish();
  return solve(std::move(graph));
}

bool holds(const Typed& typed, const Condition& condition, const Shapes& shapes) {
  const Binding binding = [&](Dim symbol) -> std::optional<int64_t> {
    for (const AxisSymbol& axis : typed.axes())
      if (axis.symbol == symbol) return shapes.find(axis.axes[0].input)->second[axis.axes[0].axis];
    return std::nullopt;
  };
  return evaluate(condition, binding) == Tri::yes;
}

// The shapes chosen for the set of shapes where the condition holds.
std::string chosen(const std::vector<Input>& inputs, std::string_view condition_text) {
  const Typed typed = typed_of(inputs);
  const Condition condition = *parse_condition(condition_text, typed.symbols());
  AcceptedSet accepted;
  accepted.conditions = {{condition, {{}}}};
  std::vector<std::string> out;
  for (const Shapes& shapes : shapes_around(typed, smallest_accepted(typed, accepted),
                                            [&](const Shapes& one) { return holds(typed, condition, one); }))
    out.push_back(to_text(shapes));
  return fmt::format("{}", fmt::join(out, " | "));
}

const DeclaredDim kBatch{std::nullopt, "b"}, kSeq{std::nullopt, "s"}, kFour{4, ""};

TEST(Boundary, ShapesOfASet) {
  struct Row {
    std::vector<Input> inputs;
    std::string_view condition, shapes;
  };
  const Row rows[] = {
      // No limit.
      {{{"x", {kSeq, kFour}}}, "s >= 1", "x=1x4 | x=2x4 | x=3x4 | x=5x4 | x=16x4"},
      // The smallest is not 1.
      {{{"x", {kSeq, kFour}}}, "s >= 3", "x=3x4 | x=4x4 | x=6x4 | x=9x4 | x=13x4 | x=48x4"},
      // Steps that are refused are left out.
      {{{"x", {kSeq}}}, "s % 4 == 0 and s >= 1", "x=4 | x=8 | x=12 | x=64"},
      // The largest size there is.
      {{{"x", {kSeq}}}, "s >= 1 and s <= 77", "x=1 | x=2 | x=3 | x=5 | x=16 | x=77"},
      {{{"x", {kSeq}}}, "s == 120", "x=120"},
      // Each symbol alone, then all together; both axes of a symbol.
      {{{"x", {kBatch, kSeq}}, {"m", {kBatch}}},
       "b >= 1 and s >= 1 and b <= 2",
       "m=1 x=1x1 | m=2 x=2x1 | m=1 x=1x2 | m=2 x=2x2 | m=1 x=1x3 | m=1 x=1x5 | m=1 x=1x16"},
      {{{"x", {kFour, kFour}}}, "always", "x=4x4"},
  };
  for (const Row& row : rows) EXPECT_EQ(chosen(row.inputs, row.condition), row.shapes) << row.condition;
}

TEST(Boundary, WhatIsMeantIsNotWhatBroadcasts) {
  const Typed typed = typed_of({{"x", {kBatch, kSeq}}});
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"s == 1 or s % 32 == 0", "s % 32 == 0"},
      {"s == 1 or s == 120", "s == 1 or s == 120"},
      {"s >= 16 or s == 1", "s >= 16"},
      {"b == 1 or b == s", "b == s"},
      {"s >= 2", "s >= 2"},
  };
  for (const auto& [condition, meant] : rows) {
    AcceptedSet accepted;
    accepted.conditions = {{*parse_condition(condition, typed.symbols()), {{}}}};
    const auto found = meant_conditions(accepted);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0], *parse_condition(meant, typed.symbols())) << print(found[0]);
    EXPECT_FALSE(all_hold(typed, found, {{"x", {2, 1}}}) && meant != condition) << condition;
  }
}

TEST(Boundary, AllWaysOfAnEquationThatHasFew) {
  const Typed typed = typed_of({{"x", {kBatch, kSeq}}});
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"b*s == 12", "1x12 2x6 3x4 4x3 6x2 12x1"},
      {"b*s == 7 or b == 4", "1x7 4x1"},
      {"(b//8)*(s//8) == 4", "8x32 16x16 32x8"},
      {"b == s", ""},
      {"b >= s", ""},
      {"b == 3", ""},
  };
  for (const auto& [text, expected] : rows) {
    const Condition condition = *parse_condition(text, typed.symbols());
    const Dim b = typed.axes()[0].symbol, s = typed.axes()[1].symbol;
    std::vector<std::string> found;
    for (const SymbolSizes& one : few_solutions(condition, {}))
      found.push_back(fmt::format("{}x{}", one.at(b), one.at(s)));
    EXPECT_EQ(fmt::format("{}", fmt::join(found, " ")), expected) << text;
  }
}

TEST(Boundary, InputsOfOneShapeNeedNotBeGiven) {
  const Typed typed = typed_of({{"x", {kBatch, kFour}}, {"w", {kFour, kFour}}, {"s", {}}});
  EXPECT_EQ(to_text(completed(typed, {{"x", {2, 4}}})), "s=scalar w=4x4 x=2x4");
  EXPECT_EQ(to_text(completed(typed, {{"x", {2, 4}}, {"w", {4, 5}}})), "s=scalar w=4x5 x=2x4");
}

}  // namespace
}  // namespace anyshape
