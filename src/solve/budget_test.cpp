#include "solve/budget.h"

#include <gtest/gtest.h>

#include <random>

#include "base/effort.h"
#include "base/work.h"
#include "check/report.h"
#include "ops/graph_maker.h"
#include "solve/contract.h"
#include "solve/rows.h"

// Graphs made to take long: the counted steps of an analysis end, and what it says is true.
namespace anyshape {
namespace {

using Maker = ops::GraphMaker;
using Made = std::shared_ptr<const Graph>;

std::string numbered(const char* stem, size_t i) { return stem + std::to_string(i); }

// One node more of a chain: `now` is its first input, and from then on its output.
void follow(Maker& m, std::string& now, const char* type, std::vector<std::string> more, const std::string& out,
            const char* attributes = "") {
  more.insert(more.begin(), now);
  m.node(type, more, {out}, attributes);
  now = out;
}

// y = x0 + x1 + ..., every axis of every input a symbol of its own.
Made adds_in_a_row(size_t count, size_t rank) {
  Maker m;
  for (size_t i = 0; i <= count; ++i) m.input(numbered("x", i), DType::f32, rank);
  std::string sum = "x0";
  for (size_t i = 1; i <= count; ++i) follow(m, sum, "Add", {numbered("x", i)}, numbered("y", i));
  return m.finish({sum});
}

Made adds_in_a_tree(size_t leaves, size_t rank) {
  Maker m;
  std::vector<std::string> level;
  for (size_t i = 0; i < leaves; ++i) m.input(level.emplace_back(numbered("x", i)), DType::f32, rank);
  for (size_t made = 0; level.size() > 1;) {
    std::vector<std::string> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      m.node("Add", {level[i], level[i + 1]}, {next.emplace_back(numbered("y", made++))});
    if (level.size() % 2 == 1) next.push_back(level.back());
    level = std::move(next);
  }
  return m.finish({level[0]});
}

Made one_node(const char* type, size_t inputs, const char* attributes) {
  Maker m;
  std::vector<std::string> names;
  for (size_t i = 0; i < inputs; ++i) m.input(names.emplace_back(numbered("x", i)), DType::f32, 2);
  m.node(type, names, {"y"}, attributes);
  return m.finish({"y"});
}

Made many_outputs(size_t outputs) {
  Maker m;
  m.input("x", DType::f32, 2);
  std::vector<std::string> names;
  for (size_t i = 0; i < outputs; ++i) names.push_back(numbered("y", i));
  m.node("Split", {"x"}, names, "axis=0", {}, 13);
  return m.finish(names);
}

// Each size becomes half of itself, and a bit: quotients inside quotients.
Made quotients(size_t depth) {
  Maker m;
  m.input("x", DType::f32, 4).input("w", DType::f32, 4);
  std::string now = "x";
  for (size_t i = 0; i < depth; ++i) {
    follow(m, now, "MaxPool", {}, numbered("p", i),
           i % 2 == 0 ? "kernel_shape=[3, 2] strides=[2, 3] pads=[1, 0, 1, 0]" : "kernel_shape=[2, 5] strides=[3, 2]");
    if (i % 3 == 2) follow(m, now, "Add", {"w"}, numbered("a", i));
  }
  return m.finish({now});
}

// s * s * ... as a size.
Made powers(size_t count) {
  Maker m;
  m.input("x", DType::f32, 3).node("Shape", {"x"}, {"s0"});
  for (size_t i = 0; i < count; ++i) {
    m.node("Concat", {numbered("s", i), numbered("s", i)}, {numbered("c", i)}, "axis=0");
    m.node("Mul", {numbered("c", i), numbered("c", i)}, {numbered("s", i + 1)});
  }
  m.node("ReduceProd", {numbered("s", count)}, {"all"}, "keepdims=1");
  m.node("ConstantOfShape", {"all"}, {"zeros"}).node("Add", {"x", "zeros"}, {"y"});
  return m.finish({"y"});
}

// One round: `type` of the carried value and a constant, so many times.
std::shared_ptr<Graph> round_of(Maker& outer, const std::vector<const char*>& types) {
  Maker body(&outer);
  body.input("i", DType::i64, 0).input("go", DType::boolean, 0).input("v", DType::i64, 1);
  body.node("Identity", {"go"}, {"go2"});
  std::string now = "v";
  for (size_t i = 0; i < types.size(); ++i) follow(body, now, types[i], {"seven"}, numbered("v", i));
  return body.finish({"go2", now});
}

// The end of `rounds` rounds is the size y has.
Made rounds(const char* count, const std::vector<const char*>& types) {
  Maker m;
  m.input("x", DType::f32, 1).constant("seven", {1}, {7}).constant("far", {}, {3900}).constant("first", {}, {0});
  m.truth("yes").node("Shape", {"x"}, {"s"}).node("Gather", {"s", "first"}, {"n"}).node("Add", {"n", "far"}, {"more"});
  m.node("Loop", {count, "yes.bool", "s"}, {"end"}, "", {{"body", round_of(m, types)}});
  m.node("Expand", {"x", "end"}, {"e"}).node("Add", {"e", "x"}, {"y"});
  return m.finish({"y"});
}

struct BudgetRow {
  const char* name;
  Made graph;
  int64_t steps;  // of all analyses together, at most
};

constexpr int64_t kMillion = 1'000'000;
// What the limits of the analyses come to.
constexpr int64_t kAll = 25 * kMillion;

std::vector<BudgetRow> rows() {
  return {
      {"13 additions", adds_in_a_row(13, 2), kAll},
      {"200 additions", adds_in_a_row(200, 2), kAll},
      {"additions in a tree", adds_in_a_tree(64, 2), kAll},
      {"a sum of many", one_node("Sum", 1000, ""), kAll},
      {"many sizes added up", one_node("Concat", 1000, "axis=0"), kAll},
      {"many outputs", many_outputs(2000), kMillion / 2},
      {"quotients", quotients(24), kAll},
      {"powers", powers(3), kMillion},
      {"a long loop", rounds("far", {"Add", "Mul", "Mod"}), 2 * kMillion},
      {"a long loop of many nodes", rounds("far", std::vector<const char*>(100, "Mod")), kAll},
      {"a loop as long as a size", rounds("more", {"Add", "Mul", "Mod"}), kMillion},
  };
}

constexpr int64_t kEndless = std::numeric_limits<int64_t>::max() / 4;

bool holds_at(const AcceptedSet& set, const Binding& binding) {
  return std::all_of(set.conditions.begin(), set.conditions.end(),
                     [&](const AcceptedCondition& c) { return evaluate(c.condition, binding) == Tri::yes; });
}

// What the set says and what the walk with numbers says, where all sizes are the same.
void expect_truth(const Typed& typed, const AcceptedSet& set, int64_t size) {
  const Binding binding = [&](Dim) { return std::optional(size); };
  const Walked walked = walk_shape(typed.graph(), shapes_at(typed, binding));
  const bool claimed = holds_at(set, binding);
  EXPECT_TRUE(claimed || !walked.accepts()) << size;
  EXPECT_FALSE(claimed && set.exact && walked.refuses()) << size << ": " << walked.answer.sentence;
}

TEST(Budget, HostileGraphsEnd) {
  for (const BudgetRow& row : rows()) {
    SCOPED_TRACE(row.name);
    const Effort all(kEndless);
    const Typed typed = solve(row.graph);
    const AcceptedSet set = accepted_set(typed);
    make_report(typed, set, {}, {});
    EXPECT_LE(all.taken_in_all(), row.steps);
    EXPECT_TRUE(set.exact || !set.not_exact_because.empty());
    for (const int64_t size : {1, 2, 7}) expect_truth(typed, set, size);
  }
}

TEST(Budget, TheAnswersAreTheSameInEveryRun) {
  const auto answer = [](const Made& graph) {
    const Effort all(kEndless);
    const Typed typed = solve(graph);
    const AcceptedSet set = accepted_set(typed);
    std::string text = fmt::format("{} steps, exact {}", all.taken_in_all(), set.exact);
    for (const AcceptedCondition& c : set.conditions) text += "\n" + print(c.condition);
    return text;
  };
  for (const Made& graph : {quotients(6), adds_in_a_tree(16, 1)}) EXPECT_EQ(answer(graph), answer(graph));
}

TEST(Budget, ProofsOfRowsEnd) {
  const Typed typed = solve(one_node("Concat", 4000, "axis=0"));
  const Effort all(kEndless);
  const std::vector<RowsProof> proofs = prove_rows(typed, accepted_set(typed));
  ASSERT_EQ(proofs.size(), typed.axes().size());
  EXPECT_LE(all.taken_in_all(), 2 * budget::kRows);
  EXPECT_EQ(proofs.front().mixed_by.code, "rows.mixed");
  EXPECT_EQ(proofs.back().mixed_by.code, "work.budget");
}

TEST(Budget, AProofOverASetEnds) {
  const Typed typed = solve(rounds("more", {"Add", "Mul", "Mod"}));
  const AcceptedSet set = accepted_set(typed);
  const Effort all(kEndless);
  const auto covered = prove_covers(typed, set, typed, set);
  ASSERT_TRUE(covered);
  EXPECT_EQ(covered->kind, Proof::Kind::unproved) << covered->why;
  EXPECT_LE(all.taken_in_all(), 5 * budget::kProof);
}

TEST(Budget, WithoutTimeNothingIsClaimed) {
  const WorkScope scope({nullptr, 0, 1e-9});
  while (!Work::budget_spent()) {
  }
  const Typed typed = solve(adds_in_a_row(3, 2));
  const AcceptedSet set = accepted_set(typed);
  EXPECT_FALSE(set.exact);
  ASSERT_EQ(set.not_exact_because.size(), 1u);
  EXPECT_EQ(set.not_exact_because[0].code, "work.budget");
  EXPECT_EQ(set.not_exact_because[0].node, "y1");
}

// Random graphs of what makes expressions grow.
class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : random_(seed) {}

  Made make() {
    Maker m;
    for (size_t i = 0; i < 4; ++i) m.input(values_.emplace_back(numbered("x", i)), DType::f32, 2);
    m.constant("halves", {2}, {2, 3})
        .constant("flat", {2}, {-1, 6})
        .constant("start", {1}, {1})
        .constant("end", {1}, {-1});
    for (size_t i = 0; i < 40; ++i) add(m, i);
    return m.finish({values_.back()});
  }

 private:
  size_t pick(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random_); }
  // The later ones more often: they have grown.
  std::string some() { return values_[values_.size() - 1 - pick(std::min<size_t>(values_.size(), 5))]; }

  void add(Maker& m, size_t i) {
    const std::string in = some(), out = numbered("v", i);
    switch (pick(6)) {
      case 0:
      case 1:
        m.node("Add", {in, some()}, {out});
        break;
      case 2:
        m.node("Concat", {in, some()}, {out}, pick(2) == 0 ? "axis=0" : "axis=1");
        break;
      case 3:
        m.node("Shape", {in}, {out + ".s"}).node("Div", {out + ".s", "halves"}, {out + ".d"});
        m.node("Reshape", {in, pick(2) == 0 ? out + ".d" : "flat"}, {out});
        break;
      case 4:
        m.node("Slice", {in, "start", "end"}, {out});
        break;
      default:
        m.node("MatMul", {in, some()}, {out});
        break;
    }
    values_.push_back(out);
  }

  std::mt19937 random_;
  std::vector<std::string> values_;
};

TEST(Budget, RandomGraphsEndAndTellTheTruth) {
  const uint32_t first = std::random_device()();
  fmt::print("seed {}\n", first);
  for (uint32_t seed = first; seed != first + 12; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Effort all(kEndless);
    const Typed typed = solve(RandomGraph(seed).make());
    const AcceptedSet set = accepted_set(typed);
    EXPECT_LE(all.taken_in_all(), 2 * kAll);
    for (const int64_t size : {1, 2, 6, 12}) expect_truth(typed, set, size);
  }
}

}  // namespace
}  // namespace anyshape
