#include "solve/rows.h"

#include <gtest/gtest.h>

#include <functional>

#include "ops/graph_maker.h"

namespace anyshape {
namespace {

using ops::GraphMaker;

// Of the rows that axis `axis` of "x" counts: "y axis 1" for a single output with them, "y" for one without, or the
// node that mixes them.
std::string told(const Graph& graph, size_t axis) {
  const Typed typed = solve(std::make_shared<Graph>(graph));
  EXPECT_FALSE(typed.refusal());
  const std::vector<RowsProof> proofs = prove_rows(typed, accepted_set(typed));
  for (size_t i = 0; i < proofs.size(); ++i) {
    const InputAxis& place = typed.axes()[i].axes.front();
    if (place.input != "x" || place.axis != axis) continue;
    if (!proofs[i].independent) return "mixed by " + proofs[i].mixed_by.node;
    const auto& layout = proofs[i].outputs.front();
    return layout ? fmt::format("axis {}, {} each", layout->axis, print(layout->inner)) : "the same";
  }
  return "no such axis";
}

struct AxesRow {
  const char* what;
  std::function<void(GraphMaker&)> nodes;  // x[x.0, x.1, 4] -> y
  const char* along_0;
  const char* along_1;
};

TEST(Rows, OfOneNodeAndOfMany) {
  const AxesRow rows[] = {
      {"elementwise", [](GraphMaker& g) { g.node("Relu", {"x"}, {"y"}); }, "axis 0, 1 each", "axis 1, 1 each"},
      {"softmax", [](GraphMaker& g) { g.node("Softmax", {"x"}, {"y"}, "axis=1"); }, "axis 0, 1 each", "mixed by y"},
      {"transpose", [](GraphMaker& g) { g.node("Transpose", {"x"}, {"y"}, "perm=[1,0,2]"); }, "axis 1, 1 each",
       "axis 0, 1 each"},
      {"reduce", [](GraphMaker& g) { g.node("ReduceMean", {"x"}, {"y"}, "axes=[0] keepdims=0"); }, "mixed by y",
       "axis 0, 1 each"},
      {"rows of a block",
       [](GraphMaker& g) {
         g.constant("to", {2}, {-1, 4}).node("Reshape", {"x", "to"}, {"y"});
       },
       "axis 0, x.1 each", "mixed by y"},
      {"and back",
       [](GraphMaker& g) {
         g.constant("to", {2}, {-1, 4}).node("Reshape", {"x", "to"}, {"flat"}).node("Shape", {"x"}, {"shape"});
         g.node("Reshape", {"flat", "shape"}, {"y"});
       },
       "axis 0, 1 each", "axis 1, 1 each"},
      {"under a target that holds the one size that is accepted",
       [](GraphMaker& g) {
         g.node("Shape", {"x"}, {"rows"}, "end=1").constant("others", {2}, {7, 4});
         g.node("Concat", {"rows", "others"}, {"to"}, "axis=0").node("Reshape", {"x", "to"}, {"y"});
       },
       "axis 0, 1 each", "mixed by y"},
      {"broken up",
       [](GraphMaker& g) {
         g.constant("to", {2}, {4, -1}).node("Reshape", {"x", "to"}, {"y"});
       },
       "mixed by y", "mixed by y"},
      {"their number",
       [](GraphMaker& g) {
         g.node("Shape", {"x"}, {"shape"}, "start=0 end=1").node("Cast", {"shape"}, {"n"}, "to=1");
         g.node("Div", {"x", "n"}, {"y"});
       },
       "mixed by y", "axis 1, 1 each"},
      {"a token for each",
       [](GraphMaker& g) {
         g.constant("token", {1, 1, 4}, {1, 2, 3, 4}).node("Cast", {"token"}, {"t"}, "to=1");
         g.node("Shape", {"x"}, {"n"}, "start=0 end=1").constant("rest", {2}, {1, 4});
         g.node("Concat", {"n", "rest"}, {"to"}, "axis=0").node("Expand", {"t", "to"}, {"tokens"});
         g.node("Concat", {"tokens", "x"}, {"y"}, "axis=1");
       },
       "axis 0, 1 each", "mixed by y"},
      {"products of rows",
       [](GraphMaker& g) {
         g.node("Transpose", {"x"}, {"t"}, "perm=[0,2,1]").node("MatMul", {"x", "t"}, {"y"});
       },
       "axis 0, 1 each", "mixed by y"},
      {"drawn", [](GraphMaker& g) { g.node("RandomNormalLike", {"x"}, {"y"}); }, "mixed by y", "mixed by y"},
      {"indices of the whole", [](GraphMaker& g) { g.node("NonZero", {"x"}, {"y"}); }, "mixed by y", "mixed by y"},
      {"sums of letters and dots",
       [](GraphMaker& g) {
         g.node("Einsum", {"x", "x"}, {"y"}, "equation=...i,...i->...");
       },
       "axis 0, 1 each", "axis 1, 1 each"},
      {"the dots to the end", [](GraphMaker& g) { g.node("Einsum", {"x"}, {"y"}, "equation=b...->...b"); },
       "axis 2, 1 each", "axis 0, 1 each"},
      {"dots that stand for a constant of one, and for one of three",
       [](GraphMaker& g) {
         g.constant("some", {1, 3, 4}, std::vector<int64_t>(12)).node("Cast", {"some"}, {"t"}, "to=1");
         g.node("Einsum", {"x", "t"}, {"y"}, "equation=...i,...i->...");
       },
       "axis 0, 1 each", "mixed by y"},
      {"drops nothing",
       [](GraphMaker& g) {
         g.constant("zero", {}, {0}).node("Cast", {"zero"}, {"trains"}, "to=9");
         g.node("Dropout", {"x", "", "trains"}, {"y"});
       },
       "axis 0, 1 each", "axis 1, 1 each"},
      {"drops what it draws",
       [](GraphMaker& g) {
         g.truth("trains").node("Dropout", {"x", "", "trains.bool"}, {"y"});
       },
       "mixed by y", "mixed by y"},
      {"an aside that wants thirds",
       [](GraphMaker& g) {
         g.constant("to", {2}, {3, -1}).node("Reshape", {"x", "to"}, {"aside"}).node("Relu", {"x"}, {"y"});
       },
       "mixed by aside", "mixed by aside"},
      {"a mask for each of three rows",
       [](GraphMaker& g) {
         g.constant("m", {3, 1, 1, 1}, {0, 1, 2}).node("Cast", {"m"}, {"mask"}, "to=1");
         g.node("Attention", {"x", "x", "x", "mask"}, {"y"}, "q_num_heads=1 kv_num_heads=1", {}, 23);
       },
       "mixed by y", "mixed by y"},
      {"a mask for all",
       [](GraphMaker& g) {
         g.constant("m", {1, 1, 1, 1}, {0}).node("Cast", {"m"}, {"mask"}, "to=1");
         g.node("Attention", {"x", "x", "x", "mask"}, {"y"}, "q_num_heads=1 kv_num_heads=1", {}, 23);
       },
       "axis 0, 1 each", "mixed by y"},
      {"only a size", [](GraphMaker& g) { g.node("Shape", {"x"}, {"y"}, "start=1 end=2"); }, "the same", "mixed by y"},
  };
  for (const AxesRow& row : rows) {
    GraphMaker g;
    g.input("x", DType::f32, 3);
    row.nodes(g);
    const auto graph = g.finish({"y"});
    graph->values[graph->inputs[0]].declared->dims->back().value = 4;
    EXPECT_EQ(told(*graph, 0), row.along_0) << row.what;
    EXPECT_EQ(told(*graph, 1), row.along_1) << row.what;
  }
}

// There is no row of such an input, be it read or not.
TEST(Rows, OfAnInputThatHasTwoAxesOfTheSymbol) {
  GraphMaker g;
  g.input("x", DType::f32, 1).input("z", DType::f32, 2).node("Relu", {"x"}, {"y"});
  const auto graph = g.finish({"y"});
  for (const ValueId id : graph->inputs)
    for (DeclaredDim& dim : *graph->values[id].declared->dims) dim.name = "n";
  const Typed typed = solve(graph);
  const auto proofs = prove_rows(typed, accepted_set(typed));
  ASSERT_EQ(proofs.size(), 1u);
  EXPECT_FALSE(proofs.front().independent);
}

TEST(Rows, OfBodies) {
  for (const bool sums : {false, true}) {
    GraphMaker main;
    main.input("x", DType::f32, 2).input("c", DType::boolean, 0);
    GraphMaker taken(&main), other(&main);
    taken.node("Softmax", {"x"}, {"t"}, sums ? "axis=0" : "axis=1");
    other.node("Relu", {"x"}, {"e"});
    main.node("If", {"c"}, {"y"}, "", {{"then_branch", taken.finish({"t"})}, {"else_branch", other.finish({"e"})}});
    EXPECT_EQ(told(*main.finish({"y"}), 0), sums ? "mixed by t" : "axis 0, 1 each");
  }
  for (const char* axis : {"0", "1"}) {
    GraphMaker main;
    main.input("x", DType::f32, 2).input("count", DType::i64, 0).truth("yes");
    GraphMaker body(&main);
    body.input("i").input("go").input("v").node("Identity", {"go"}, {"on"});
    body.node("Softmax", {"v"}, {"w"}, std::string("axis=") + axis);
    main.node("Loop", {"count", "yes.bool", "x"}, {"y"}, "", {{"body", body.finish({"on", "w"})}});
    EXPECT_EQ(told(*main.finish({"y"}), 0), axis[0] == '0' ? "mixed by w" : "axis 0, 1 each");
  }
}

// A running sum over axis `axis` of x[x.0, x.1], which is collected along axis 1.
TEST(Rows, OfScan) {
  for (const int axis : {0, 1}) {
    GraphMaker main;
    main.input("x", DType::f32, 2).constant("along", {1}, {axis});
    main.node("ReduceMax", {"x"}, {"start"}, fmt::format("axes=[{}] keepdims=0", axis), {}, 13);
    GraphMaker body(&main);
    body.input("sum").input("entry").node("Add", {"sum", "entry"}, {"next"}).node("Identity", {"next"}, {"each"});
    main.node("Scan", {"start", "x"}, {"last", "y"},
              fmt::format("num_scan_inputs=1 scan_input_axes=[{}] scan_output_axes=[1]", axis),
              {{"body", body.finish({"next", "each"})}});
    const auto graph = main.finish({"y"});
    EXPECT_EQ(told(*graph, axis), "mixed by start");
    EXPECT_EQ(told(*graph, 1 - axis), "axis 0, 1 each");
  }
}

TEST(Rows, OfScanWithoutItsInput) {
  GraphMaker main;
  main.input("x", DType::f32, 2);
  GraphMaker body(&main);
  body.input("sum").input("entry").node("Identity", {"sum"}, {"next"}).node("Identity", {"sum"}, {"each"});
  main.node("Scan", {"x", ""}, {"last", "y"}, "num_scan_inputs=1", {{"body", body.finish({"next", "each"})}});
  const Typed typed = solve(main.finish({"y"}));
  for (const RowsProof& proof : prove_rows(typed, accepted_set(typed))) EXPECT_FALSE(proof.independent);
}

}  // namespace
}  // namespace anyshape
