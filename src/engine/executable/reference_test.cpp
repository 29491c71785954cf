#include "engine/executable/reference.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/memory_meter.h"
#include "ops/graph_maker.h"

namespace anyshape {
namespace {

using ops::GraphMaker;

Datum ints(std::vector<int64_t> dims, std::vector<int64_t> values) { return Tensor::of_ints(std::move(dims), values); }

Datum truth(bool value) {
  auto tensor = Tensor::allocate(DType::boolean, {});
  tensor->set_int(0, value);
  return *std::move(tensor);
}

std::string text(const Datum& datum) {
  if (datum.is_tensor()) return ops::print_all(Fact::of(datum));
  std::string out;
  for (const Datum& item : datum.items()) out += (out.empty() ? "" : ", ") + text(item);
  return "(" + out + ")";
}

std::string run(const Graph& graph, std::vector<Datum> inputs) {
  const auto out = run_reference(graph, std::move(inputs));
  if (!out) return fmt::format("error[{}]", out.error().code);
  std::string all;
  for (const Datum& datum : *out) all += (all.empty() ? "" : "; ") + text(datum);
  return all;
}

// v = v + x and a scan output of v * i, until i reaches 3.
std::shared_ptr<Graph> loop(bool with_count) {
  GraphMaker main;
  if (with_count) main.input("m");
  main.input("c").input("x");
  GraphMaker body(&main);
  body.input("i").input("cond").input("v").constant("three", {}, {3});
  body.node("Add", {"v", "x"}, {"w"}).node("Mul", {"w", "i"}, {"t"}).node("Less", {"i", "three"}, {"more"});
  const auto inner = body.finish({"more", "w", "t"});
  main.node("Loop", {with_count ? "m" : "", "c", "x"}, {"y", "s"}, "", {{"body", inner}});
  return main.finish({"y", "s"});
}

TEST(ReferenceLoop, CountAndCondition) {
  const auto x = [] { return ints({1}, {2}); };
  EXPECT_EQ(run(*loop(true), {ints({}, {2}), truth(true), x()}), "i64[1] = [6]; i64[2, 1] = [0, 6]");
  EXPECT_EQ(run(*loop(true), {ints({}, {INT64_MAX}), truth(true), x()}), "i64[1] = [10]; i64[4, 1] = [0, 6, 16, 30]");
  EXPECT_EQ(run(*loop(false), {truth(true), x()}), "i64[1] = [10]; i64[4, 1] = [0, 6, 16, 30]");
}

// Nothing is declared for the scan output: its shape is that of an iteration.
TEST(ReferenceLoop, NoIteration) {
  for (const auto& m : {ints({}, {0}), ints({}, {-7})})
    EXPECT_EQ(run(*loop(true), {m, truth(true), ints({2}, {2, 3})}), "i64[2] = [2, 3]; i64[0, 2] = []");
  EXPECT_EQ(run(*loop(true), {ints({}, {5}), truth(false), ints({2}, {2, 3})}), "i64[2] = [2, 3]; i64[0, 2] = []");
}

TEST(ReferenceLoop, Refused) {
  EXPECT_EQ(run(*loop(true), {ints({2}, {1, 1}), truth(true), ints({1}, {2})}), "error[loop.scalar]");
  EXPECT_EQ(run(*loop(true), {ints({}, {1}), ints({}, {1}), ints({1}, {2})}), "error[loop.cond]");
}

TEST(ReferenceLoop, CarriesSequences) {
  GraphMaker main;
  main.input("m");
  GraphMaker body(&main);
  body.input("i").input("cond").input("v").node("SequenceInsert", {"v", "i"}, {"w"});
  const auto inner = body.finish({"cond", "w"});
  main.node("SequenceEmpty", {}, {"e"}, "dtype=7").node("Loop", {"m", "", "e"}, {"y"}, "", {{"body", inner}});
  EXPECT_EQ(run(*main.finish({"y"}), {ints({}, {3})}), "(i64[] = [0], i64[] = [1], i64[] = [2])");
}

TEST(ReferenceLoop, IterationNumberAsAList) {
  GraphMaker main;
  main.input("m").constant("none", {0}, {});
  GraphMaker body(&main);
  body.input("i", DType::i64, 1).input("cond", DType::boolean, 1).input("v");
  body.node("Concat", {"v", "i"}, {"w"}, "axis=0");
  const auto inner = body.finish({"cond", "w"});
  main.node("Loop", {"m", "", "none"}, {"y"}, "", {{"body", inner}});
  EXPECT_EQ(run(*main.finish({"y"}), {ints({}, {3})}), "i64[3] = [0, 1, 2]");
}

TEST(ReferenceIf, TakesOneBranch) {
  GraphMaker main;
  main.input("c").input("x");
  GraphMaker then_branch(&main), else_branch(&main);
  then_branch.node("Neg", {"x"}, {"a"});
  else_branch.node("Shape", {"x"}, {"b"});
  main.node("If", {"c"}, {"y"}, "",
            {{"then_branch", then_branch.finish({"a"})}, {"else_branch", else_branch.finish({"b"})}});
  const auto graph = main.finish({"y"});
  EXPECT_EQ(run(*graph, {truth(true), ints({2}, {1, 2})}), "i64[2] = [-1, -2]");
  EXPECT_EQ(run(*graph, {truth(false), ints({2}, {1, 2})}), "i64[1] = [2]");
  EXPECT_EQ(run(*graph, {ints({}, {1}), ints({2}, {1, 2})}), "error[if.cond]");
}

// The state is a running sum, the scan output its values.
std::shared_ptr<Graph> scan(int64_t version, std::string_view attributes) {
  GraphMaker main;
  if (version < 9) main.input("lengths");
  main.input("start").input("x");
  GraphMaker body(&main);
  body.input("state").input("e").node("Add", {"state", "e"}, {"next"}).node("Identity", {"next"}, {"o"});
  std::vector<std::string> in{"start", "x"};
  if (version < 9) in.insert(in.begin(), "lengths");
  main.node("Scan", in, {"y", "s"}, fmt::format("num_scan_inputs=1 {}", attributes),
            {{"body", body.finish({"next", "o"})}}, version);
  return main.finish({"y", "s"});
}

// A body without nodes, that would never end, and one that is larger than the limit.
TEST(ReferenceLimits, CancelAndMemory) {
  std::atomic<bool> cancel = true;
  RunLimits limits;
  limits.cancel = &cancel;
  GraphMaker main;
  main.input("c").input("x");
  GraphMaker body(&main);
  body.input("i").input("cond").input("v");
  main.node("Loop", {"", "c", "x"}, {"y"}, "", {{"body", body.finish({"cond", "v"})}});
  const auto endless = run_reference(*main.finish({"y"}), {truth(true), ints({1}, {1})}, 0, limits);
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().code, "run.cancelled");

  // The scan output of four rounds, the states it is made of.
  const auto code = [&](int64_t bytes) -> std::string {
    cancel = false;
    limits.max_bytes = bytes;
    const auto out = run_reference(*loop(false), {truth(true), ints({1000}, std::vector<int64_t>(1000))}, 0, limits);
    return out ? "" : out.error().code;
  };
  EXPECT_EQ(code(100000), "");
  EXPECT_EQ(code(40000), "run.memory");
  // What counts already counts together with it.
  const auto meter = std::make_shared<MemoryMeter>(100000);
  const MemoryMeter::Scope scope(meter.get());
  auto share = MemoryMeter::share();
  EXPECT_EQ(code(1), "");
  ASSERT_TRUE(share.take(60000));
  EXPECT_EQ(code(1), "run.memory");
}

// Strings, and lists of what takes no memory by itself.
TEST(ReferenceLimits, StringsAndSequencesCount) {
  const auto code = [](const std::string& grow, const std::vector<std::string>& in, int64_t version, int64_t rounds) {
    GraphMaker main;
    main.input("m").input("x").input("start");
    GraphMaker body(&main);
    body.input("i").input("cond").input("v").node(grow, in, {"w"}, "", {}, version);
    main.node("Loop", {"m", "", "start"}, {"y"}, "", {{"body", body.finish({"cond", "w"})}});
    RunLimits limits;
    limits.max_bytes = 100000;
    const bool text = grow == "StringConcat";
    const Datum start = text ? Datum(Tensor::of_strings({2}, {"a", "b"})) : Datum::sequence(DType::i64, {});
    const auto out = run_reference(*main.finish({"y"}), {ints({}, {rounds}), ints({0}, {}), start}, 0, limits);
    return out ? "" : out.error().code;
  };
  EXPECT_EQ(code("StringConcat", {"v", "v"}, 20, 14), "");
  EXPECT_EQ(code("StringConcat", {"v", "v"}, 20, INT64_MAX), "run.memory");
  EXPECT_EQ(code("SequenceInsert", {"v", "x"}, 17, 100), "");
  EXPECT_EQ(code("SequenceInsert", {"v", "x"}, 17, INT64_MAX), "run.memory");
}

TEST(ReferenceScan, AxesAndDirections) {
  const auto run9 = [](std::string_view attributes) {
    return run(*scan(9, attributes), {ints({2}, {0, 0}), ints({3, 2}, {1, 2, 3, 4, 5, 6})});
  };
  EXPECT_EQ(run9(""), "i64[2] = [9, 12]; i64[3, 2] = [1, 2, 4, 6, 9, 12]");
  EXPECT_EQ(run9("scan_input_directions=[1] scan_output_directions=[1] scan_output_axes=[-1]"),
            "i64[2] = [9, 12]; i64[2, 3] = [9, 8, 5, 12, 10, 6]");
  EXPECT_EQ(run9("scan_input_axes=[2]"), "error[axis.range]");
  EXPECT_EQ(run(*scan(9, ""), {ints({2}, {7, 8}), ints({0, 2}, {})}), "i64[2] = [7, 8]; i64[0, 2] = []");
}

TEST(ReferenceScan, BatchesOfDifferentLengths) {
  const auto run8 = [](std::vector<int64_t> lengths) {
    const auto count = static_cast<int64_t>(lengths.size());
    return run(*scan(8, "directions=[1]"),
               {ints({count}, lengths), ints({2, 1}, {0, 10}), ints({2, 3, 1}, {1, 2, 3, 4, 5, 6})});
  };
  EXPECT_EQ(run8({3, 2}), "i64[2, 1] = [6, 19]; i64[2, 3, 1] = [3, 5, 6, 15, 19, 0]");
  EXPECT_EQ(run8({0, 1}), "i64[2, 1] = [0, 14]; i64[2, 3, 1] = [0, 0, 0, 14, 0, 0]");
  EXPECT_EQ(run8({4, 1}), "error[scan.lengths]");
  EXPECT_EQ(run8({1}), "error[scan.lengths]");
}

// An operator with a list of bodies: it adds up what they give.
std::vector<std::shared_ptr<Graph>> listed_bodies;
Result<Facts> infer_sum_of_bodies(const Call&, InferContext&) { return Facts{Fact::tensor(DType::i64, {2})}; }
Status run_sum_of_bodies(const Call&, KernelArgs& args) {
  TRY(args.outputs[0], Tensor::allocate(DType::i64, {2}));
  for (const auto& body : listed_bodies) {
    TRY(const auto made, args.bodies->run(*body, {}));
    for (int64_t i = 0; i < 2; ++i) args.out(0).set_int(i, args.out(0).int_at(i) + made[0].tensor().int_at(i));
  }
  return {};
}
constexpr Kernel kSumOfBodies[] = {{"reference", run_sum_of_bodies}};
constexpr Port kSum[] = {{"sum"}};
constexpr OpDef kSumOfBodiesOp{
    .name = "SumOfBodies", .sig = {{}, kSum, ""}, .infer = infer_sum_of_bodies, .kernels = kSumOfBodies};

// What only the bodies of a list read is kept until they have run.
TEST(ReferenceBodies, CapturesOfAListOfBodies) {
  GraphMaker main;
  main.input("x").node("Add", {"x", "x"}, {"w"}).node("Neg", {"w"}, {"v"});
  listed_bodies.clear();
  for (const char* type : {"Neg", "Identity", "Identity"}) {
    GraphMaker body(&main);
    listed_bodies.push_back(body.node(type, {"w"}, {"o"}).finish({"o"}));
  }
  main.node("SumOfBodies", {}, {"y"});
  const auto graph = main.finish({"y"});
  graph->nodes.back().op = &kSumOfBodiesOp;
  graph->nodes.back().attributes.push_back({"bodies", listed_bodies});
  graph->finish();
  EXPECT_EQ(run(*graph, {ints({2}, {3, 4})}), "i64[2] = [6, 8]");
}

TEST(ReferenceSequenceMap, PairsItems) {
  GraphMaker main;
  main.input("a").input("b").node("SequenceConstruct", {"a", "b"}, {"l"});
  GraphMaker body(&main);
  body.input("item").input("other").node("Concat", {"item", "other"}, {"o"}, "axis=0");
  main.node("SequenceMap", {"l", "a"}, {"y"}, "", {{"body", body.finish({"o"})}});
  EXPECT_EQ(run(*main.finish({"y"}), {ints({1}, {1}), ints({2}, {2, 3})}), "(i64[2] = [1, 1], i64[3] = [2, 3, 1])");
}

}  // namespace
}  // namespace anyshape
