#include <gtest/gtest.h>

#include "ops/graph_maker.h"

namespace anyshape::ops {
namespace {

struct Answer {
  std::string outputs, needs, doubts;
};

// The outputs and requirements of a graph whose inputs are these facts.
Answer walk(const Graph& graph, std::initializer_list<const char*> inputs, bool numeric = false) {
  Symbols symbols;
  Assumptions assumptions(symbols);
  Facts facts;
  for (const char* text : inputs) {
    facts.push_back(parse_fact(text, symbols));
    Dims used = facts.back().dims.value_or(Dims());
    if (facts.back().elements) used.insert(used.end(), facts.back().elements->begin(), facts.back().elements->end());
    for (Dim d : used)
      for (Dim s : d.symbols()) assumptions.assume(Condition::ge(s, 0));
  }
  Walk::Options options;
  options.numeric = numeric;
  Walk walk(assumptions, options);
  const auto result = walk.run(graph, facts);
  Answer out;
  if (!result) return {fmt::format("error[{}]", result.error().code), "", ""};
  for (ValueId id : graph.outputs) out.outputs += (out.outputs.empty() ? "" : "; ") + print_all((*result)[id]);
  for (const Requirement& r : walk.requirements()) {
    if (!out.needs.empty()) out.needs += "; ";
    if (!r.path.is_always()) out.needs += fmt::format("({}) ", print(r.path));
    out.needs += print(r.condition) + (r.on_data ? " on data" : "") + (r.opaque ? " opaque" : "");
  }
  for (const Doubt& doubt : walk.undecided()) out.doubts += doubt.why.code + " ";
  return out;
}

// then: x reshaped to [4, -1]; else: x as it is. The condition compares the first axis of x with 4.
std::shared_ptr<Graph> branches_by_shape(const char* then_target) {
  GraphMaker main;
  main.input("x").constant("zero", {}, {0}).constant("four", {}, {4});
  main.node("Shape", {"x"}, {"dims"}).node("Gather", {"dims", "zero"}, {"first"});
  main.node("Equal", {"first", "four"}, {"is_four"});
  GraphMaker taken(&main), other(&main);
  std::vector<int64_t> target{std::string_view(then_target) == "4" ? 4 : 7, -1};
  taken.constant("target", {2}, target).node("Reshape", {"x", "target"}, {"t"});
  other.node("Identity", {"x"}, {"e"});
  main.node("If", {"is_four"}, {"y"}, "", {{"then_branch", taken.finish({"t"})}, {"else_branch", other.finish({"e"})}});
  return main.finish({"y"});
}

TEST(If, OnlyTheBranchTakenMustBeLegal) {
  EXPECT_EQ(walk(*branches_by_shape("7"), {"f32[3, 5]"}).outputs, "f32[3, 5]");
  EXPECT_EQ(walk(*branches_by_shape("7"), {"f32[4, 5]"}).outputs, "error[reshape.count]");
  const Answer legal = walk(*branches_by_shape("4"), {"f32[b, 5]"});
  EXPECT_EQ(legal.outputs, "f32[b, 5]");
  EXPECT_EQ(legal.needs, "");
  const Answer answer = walk(*branches_by_shape("7"), {"f32[b, 5]"});
  EXPECT_EQ(answer.outputs, "f32[b, 5]");
  EXPECT_EQ(answer.needs, "b != 4");
}

TEST(If, ConditionOnData) {
  GraphMaker main;
  main.input("x").input("c");
  GraphMaker taken(&main), other(&main);
  taken.node("Concat", {"x", "x"}, {"t"}, "axis=0");
  other.node("Identity", {"x"}, {"e"});
  main.node("If", {"c"}, {"y"}, "", {{"then_branch", taken.finish({"t"})}, {"else_branch", other.finish({"e"})}});
  EXPECT_EQ(walk(*main.finish({"y"}), {"f32[b, 5]", "bool[]"}).outputs, "f32[if, 5]");
}

TEST(If, BothBranchesRefused) {
  GraphMaker main;
  main.input("x").input("c");
  std::vector<std::shared_ptr<Graph>> bodies;
  for (int i = 0; i < 2; ++i) {
    GraphMaker body(&main);
    body.constant("t", {1}, {7}).node("Reshape", {"x", "t"}, {"r"});
    bodies.push_back(body.finish({"r"}));
  }
  main.node("If", {"c"}, {"y"}, "", {{"then_branch", bodies[0]}, {"else_branch", bodies[1]}});
  EXPECT_EQ(walk(*main.finish({"y"}), {"f32[2, 5]", "bool[]"}).outputs, "error[reshape.count]");
}

// Carries v; each iteration appends `added`, gathers row i of a table and gives v as it was as a scan output if asked.
std::shared_ptr<Graph> growing_loop(bool scan_carried) {
  GraphMaker main;
  main.input("count").input("v").input("added").input("table").truth("yes");
  GraphMaker body(&main);
  body.input("i").input("c").input("v_in");
  body.node("Identity", {"c"}, {"c_out"});
  body.node("Concat", {"v_in", "added"}, {"v_out"}, "axis=0");
  body.node("Gather", {"table", "i"}, {"row"}, "axis=0");
  const auto graph = body.finish({"c_out", "v_out", scan_carried ? "v_in" : "row"});
  main.node("Loop", {"count", "yes.bool", "v"}, {"v_final", "rows"}, "", {{"body", graph}});
  return main.finish({"v_final", "rows"});
}

TEST(Loop, GrowsByTheSameAmount) {
  const Answer answer = walk(*growing_loop(false), {"i64[] = [s]", "f32[n, 4]", "f32[2, 4]", "f32[512, k]"});
  EXPECT_EQ(answer.outputs, "f32[2*s + n, 4]; f32[s, k]");
  EXPECT_EQ(answer.needs, "(s >= 2) s <= 512");
}

TEST(Loop, KnownCountIsWalkedOneByOne) {
  for (const bool numeric : {false, true}) {
    const Answer answer = walk(*growing_loop(false), {"i64[] = [3]", "f32[5, 4]", "f32[2, 4]", "f32[8, 6]"}, numeric);
    EXPECT_EQ(answer.outputs, "f32[11, 4]; f32[3, 6]");
    EXPECT_EQ(answer.needs, "");
  }
  EXPECT_EQ(walk(*growing_loop(false), {"i64[] = [9]", "f32[5, 4]", "f32[2, 4]", "f32[8, 6]"}).outputs,
            "error[gather.index]");
}

TEST(Loop, ScanOutputsMustKeepTheirShape) {
  EXPECT_EQ(walk(*growing_loop(true), {"i64[] = [3]", "f32[5, 4]", "f32[2, 4]", "f32[8, 6]"}, true).outputs,
            "error[loop.scan]");
}

TEST(Loop, CountThatDependsOnData) {
  const Answer answer = walk(*growing_loop(false), {"i64[]", "f32[n, 4]", "f32[2, 4]", "f32[512, k]"});
  EXPECT_EQ(answer.outputs, "f32[n + 2*trips, 4]; f32[trips, k]");
}

TEST(Loop, BodyThatIsNeverLegal) {
  const Answer answer = walk(*growing_loop(false), {"i64[] = [s]", "f32[n, 4]", "f32[2, 5]", "f32[512, k]"});
  EXPECT_EQ(answer.outputs.substr(0, 9), "f32[n, 4]");
  EXPECT_EQ(answer.needs, "s <= 0");
}

// Too long for one iteration after the other, but every size follows a rule.
TEST(Loop, ManyIterationsAtOnce) {
  const Answer answer = walk(*growing_loop(false), {"i64[] = [5000]", "f32[5, 4]", "f32[2, 4]", "f32[8000, 6]"}, true);
  EXPECT_EQ(answer.doubts, "");
  EXPECT_EQ(answer.outputs, "f32[10005, 4]; f32[5000, 6]");
  const Answer beyond = walk(*growing_loop(false), {"i64[] = [9000]", "f32[5, 4]", "f32[2, 4]", "f32[8000, 6]"}, true);
  EXPECT_NE(beyond.doubts.find("gather.index "), std::string::npos) << beyond.doubts;
}

TEST(Loop, BudgetOfTheNumericWalk) {
  GraphMaker main;
  main.input("count").input("v").truth("yes").constant("start", {1}, {0}).constant("steps", {1}, {2});
  GraphMaker body(&main);
  body.input("i").input("c").input("v_in").constant("last", {1}, {9}).constant("axis", {1}, {0});
  body.node("Identity", {"c"}, {"c_out"}).node("Concat", {"v_in", "v_in"}, {"twice"}, "axis=0");
  body.node("Slice", {"twice", "start", "last", "axis", "steps"}, {"v_out"});
  main.node("Loop", {"count", "yes.bool", "v"}, {"y"}, "", {{"body", body.finish({"c_out", "v_out"})}});
  EXPECT_EQ(walk(*main.finish({"y"}), {"i64[] = [5000]", "f32[7, 4]"}, true).doubts, "loop.budget ");
}

// `while counter < size`, as TensorFlow writes it: no trip count, or the largest number; the counter is carried, the
// comparison stands before the loop and at the end of its body. Gathers row `counter` of x and keeps it.
std::shared_ptr<Graph> while_loop(int64_t start, int64_t step, const char* compare, bool both = false) {
  GraphMaker main;
  main.input("size").input("x").constant("start", {}, {start}).constant("most", {}, {1000});
  main.node(compare, {"start", "size"}, {"enters"});
  GraphMaker body(&main);
  body.input("i").input("c").input("counter").constant("step", {}, {step});
  body.node("Add", {"counter", "step"}, {"next"}).node(compare, {"next", "size"}, {"goes"});
  body.node("Less", {"next", "most"}, {"below"}).node("And", {"goes", "below"}, {"again"});
  body.node("Gather", {"x", "counter"}, {"row"}, "axis=0");
  const auto graph = body.finish({both ? "again" : "goes", "next", "row"});
  main.node("Loop", {"", "enters", "start"}, {"last", "rows"}, "", {{"body", graph}});
  return main.finish({"last", "rows"});
}

TEST(Loop, CountFollowsFromAComparison) {
  const struct {
    std::shared_ptr<Graph> graph;
    const char *size, *x, *outputs, *needs;
  } rows[] = {
      {while_loop(0, 1, "Less"), "i64[] = [s + 1]", "f32[s + 1, 4]", "i64[] = [s + 1]; f32[s + 1, 4]", ""},
      {while_loop(0, 1, "LessOrEqual"), "i64[] = [s]", "f32[s + 1, 4]", "i64[] = [s + 1]; f32[s + 1, 4]", ""},
      {while_loop(2, 1, "Less"), "i64[] = [s + 3]", "f32[s + 3, 4]", "i64[] = [s + 3]; f32[s + 1, 4]", ""},
      {while_loop(0, 2, "Less"), "i64[] = [2*s + 2]", "f32[2*s + 2, 4]", "i64[] = [2*s + 2]; f32[s + 1, 4]", ""},
      // Where the body may not run, a scan output of undeclared rank has none.
      {while_loop(0, 1, "Less"), "i64[] = [s]", "f32[s, 4]", "i64[] = [s]; f32[...]", ""},
      {while_loop(0, 1, "Less"), "i64[] = [7]", "f32[9, 4]", "i64[] = [7]; f32[7, 4]", ""},
  };
  for (const auto& row : rows) {
    const Answer answer = walk(*row.graph, {row.size, row.x});
    EXPECT_EQ(answer.outputs, row.outputs) << row.size;
    EXPECT_EQ(answer.needs, row.needs) << row.size;
    EXPECT_EQ(answer.doubts, "") << row.size;
  }
}

TEST(Loop, CountOfTwoComparisons) {
  EXPECT_EQ(walk(*while_loop(0, 1, "Less", true), {"i64[] = [s]", "f32[1000, 4]"}).outputs,
            "i64[] = [min(s, 1000)]; f32[min(s, 1000), 4]");
}

// Numbers, and more iterations than are walked one by one.
TEST(Loop, CountOfManyIterations) {
  const Answer answer = walk(*while_loop(0, 1, "Less"), {"i64[] = [9000]", "f32[9000, 4]"}, true);
  EXPECT_EQ(answer.outputs, "i64[] = [9000]; f32[9000, 4]");
  EXPECT_EQ(answer.doubts, "");
}

// A counter that never gets there, one that is not carried evenly, a size that depends on data.
TEST(Loop, CountThatNoComparisonTells) {
  EXPECT_EQ(walk(*while_loop(0, 1, "Greater"), {"i64[] = [s]", "f32[t, 4]"}).outputs, "i64[] = [0]; f32[...]");
  EXPECT_EQ(walk(*while_loop(0, 1, "Less"), {"i64[]", "f32[t, 4]"}).outputs.substr(0, 5), "i64[]");
}

TEST(Loop, CollectsASequence) {
  GraphMaker main;
  main.input("count").input("x").truth("yes").node("SequenceEmpty", {}, {"none"}, "dtype=1");
  GraphMaker body(&main);
  body.input("i").input("c").input("list");
  body.node("Identity", {"c"}, {"c_out"}).node("Gather", {"x", "i"}, {"row"}, "axis=0");
  body.node("SequenceInsert", {"list", "row"}, {"longer"});
  main.node("Loop", {"count", "yes.bool", "none"}, {"rows"}, "", {{"body", body.finish({"c_out", "longer"})}});
  main.node("ConcatFromSequence", {"rows"}, {"y"}, "axis=0 new_axis=1").node("SequenceLength", {"rows"}, {"n"});
  const Answer answer = walk(*main.finish({"y", "n"}), {"i64[] = [s]", "f32[s, 8]"});
  EXPECT_EQ(answer.outputs, "f32[s, 8]; i64[] = [s]");
  EXPECT_EQ(answer.needs, "s >= 1");
}

std::shared_ptr<Graph> running_sum(const char* attributes) {
  GraphMaker main;
  main.input("start").input("x").input("w");
  GraphMaker body(&main);
  body.input("state").input("row").input("factor");
  body.node("Mul", {"row", "factor"}, {"scaled"}).node("Add", {"state", "scaled"}, {"sum"});
  body.node("Identity", {"sum"}, {"each"});
  main.node("Scan", {"start", "x", "w"}, {"last", "all"}, attributes, {{"body", body.finish({"sum", "each"})}});
  return main.finish({"last", "all"});
}

TEST(Scan, StateAndOutputs) {
  const Answer answer = walk(*running_sum("num_scan_inputs=2"), {"f32[k]", "f32[s, k]", "f32[t, k]"});
  EXPECT_EQ(answer.outputs, "f32[k]; f32[s, k]");
  EXPECT_EQ(answer.needs, "s == t");
  EXPECT_EQ(walk(*running_sum("num_scan_inputs=2"), {"f32[1]", "f32[6, 3]", "f32[6, 3]"}, true).outputs,
            "error[scan.state]");
  EXPECT_EQ(walk(*running_sum("num_scan_inputs=2 scan_input_axes=[1, -1] scan_output_axes=[1]"),
                 {"f32[k]", "f32[k, s]", "f32[k, s]"})
                .outputs,
            "f32[k]; f32[k, s]");
  EXPECT_EQ(walk(*running_sum("num_scan_inputs=4"), {"f32[k]", "f32[s, k]", "f32[s, k]"}).outputs,
            "error[scan.inputs]");
}

TEST(SequenceMap, EveryItem) {
  GraphMaker main;
  main.input("a").input("b").node("SequenceConstruct", {"a", "b"}, {"list"});
  GraphMaker body(&main);
  body.input("item").node("Concat", {"item", "item"}, {"twice"}, "axis=0");
  main.node("SequenceMap", {"list"}, {"mapped"}, "", {{"body", body.finish({"twice"})}});
  main.constant("one", {}, {1}).node("SequenceAt", {"mapped", "one"}, {"y"});
  EXPECT_EQ(walk(*main.finish({"y"}), {"f32[n, 2]", "f32[m, 3]"}).outputs, "f32[2*m, 3]");
}

TEST(Sequences, Rows) {
  check_rows({
      {"SequenceConstruct", 11, "f32[a]; i64[b]", "", "error[sequence.type]"},
      {"SequenceLength", 11, "f32[a]", "", "error[sequence.input]"},
      {"SplitToSequence", 11, "f32[s, 4]", "keepdims=0", "seq(f32[4])"},
      {"SplitToSequence", 11, "f32[s, 4]; i64[2] = [3, 5]", "", "seq(f32[?, 4])", "s == 8"},
      {"SplitToSequence", 11, "f32[s, 4]; i64[] = [0]", "", "error[splittosequence.split]"},
      {"Optional", 15, "f32[a]", "", "optional(f32[a])"},
      {"OptionalHasElement", 18, "f32[a]", "", "bool[] = [1]"},
      {"OptionalGetElement", 18, "optional(f32[a])", "", "f32[a]", "data[optional.empty]"},
      {"OptionalGetElement", 15, "f32[a]", "", "error[optional.type]"},
  });
}

}  // namespace
}  // namespace anyshape::ops
