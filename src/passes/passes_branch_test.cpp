#include <gtest/gtest.h>

#include "passes/pipeline.h"
#include "passes/print.h"
#include "passes/testing.h"
#include "run/cpu/target.h"

namespace anyshape {
namespace {

// A branch: its inputs are the values of that name outside.
std::shared_ptr<Graph> branch_of(const Graph& outer, std::string_view text) {
  auto branch = std::make_shared<Graph>(*testing::parse_graph(text));
  for (ValueId id : branch->inputs) {
    const auto captured = outer.find(branch->values[id].name);
    EXPECT_TRUE(captured);
    branch->captures.push_back({captured.value_or(0), id});
  }
  branch->inputs.clear();
  branch->finish();
  return branch;
}

std::shared_ptr<Graph> with_branches(std::string_view text, std::string_view then_text, std::string_view else_text) {
  auto graph = std::make_shared<Graph>(*testing::parse_graph(text));
  for (Node& node : graph->nodes) {
    if (node.type != "If") continue;
    node.attributes.emplace_back("then_branch", branch_of(*graph, then_text));
    node.attributes.emplace_back("else_branch", branch_of(*graph, else_text));
  }
  graph->finish();
  return graph;
}

// The nodes that are left, a line each.
std::string nodes_after(const std::shared_ptr<const Graph>& graph) {
  PassOptions options;
  options.verify = true;
  for (const Pass& pass : all_passes())
    if (pass.name != "branch" && pass.name != "dead") options.without.emplace_back(pass.name);
  const Typed typed = solve(graph);
  EXPECT_FALSE(typed.refusal());
  const auto program = rewritten(typed, cpu::target(), options);
  EXPECT_TRUE(program);
  std::string out, text = print_graph(*program->graph, program->facts);
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::string line = text.substr(at + 2, text.find('\n', at) - at - 2);
    if (line.find(" <- ") != std::string::npos) out += line.substr(0, line.find("  \"")) + "\n";
  }
  return out;
}

constexpr std::string_view kBySize = R"(
    input x f32[n, 1]
    constant second i64[] = [1]
    constant one i64[] = [1]
    sizes <- Shape(x)
    size <- Gather(sizes, second)
    is_one <- Equal(size, one)
    y <- If(is_one)
    output y)";
constexpr std::string_view kSqueeze = R"(
    input x f32[n, 1]
    constant axes i64[1] = [1]
    z <- Squeeze(x, axes)
    y <- Relu(z)
    output y)";
constexpr std::string_view kAsItIs = R"(
    input x f32[n, 1]
    output x)";

TEST(Passes, BranchOfAKnownCondition) {
  EXPECT_EQ(nodes_after(with_branches(kBySize, kSqueeze, kAsItIs)),
            "z f32[n] <- Squeeze(x, axes)\n"
            "y f32[n] <- Relu(z)\n");
  // What a branch hands on is handed on.
  EXPECT_EQ(nodes_after(with_branches(kBySize, kAsItIs, kSqueeze)), "y f32[n, 1] <- Identity(x)\n");
}

TEST(Passes, BranchThatDataDecides) {
  const std::string text = nodes_after(with_branches(R"(
    input x f32[n, 1]
    input given bool[]
    y <- If(given)
    output y)",
                                                     kSqueeze, kAsItIs));
  EXPECT_NE(text.find("If(given)"), std::string::npos) << text;
}

TEST(Passes, BranchInABranch) {
  auto graph = with_branches(kBySize, kSqueeze, kAsItIs);
  auto outer = std::make_shared<Graph>(*testing::parse_graph(kBySize));
  const auto inner = std::make_shared<Graph>(*graph);
  for (Node& node : outer->nodes) {
    if (node.type != "If") continue;
    auto nested = std::make_shared<Graph>(*inner);
    nested->captures.push_back({*outer->find("x"), *nested->find("x")});
    nested->inputs.clear();
    nested->finish();
    node.attributes.emplace_back("then_branch", nested);
    node.attributes.emplace_back("else_branch", branch_of(*outer, kAsItIs));
  }
  outer->finish();
  EXPECT_EQ(nodes_after(outer),
            "z f32[n] <- Squeeze(x, axes)\n"
            "y f32[n] <- Relu(z)\n");
}

}  // namespace
}  // namespace anyshape
