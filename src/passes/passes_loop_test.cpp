#include <gtest/gtest.h>

#include "passes/body.h"
#include "passes/pipeline.h"
#include "passes/print.h"
#include "passes/testing.h"
#include "run/cpu/target.h"

namespace anyshape {
namespace {

// A body: inputs that have the name of a value outside are captured.
std::shared_ptr<Graph> body_of(const Graph& outer, std::string_view text) {
  auto body = std::make_shared<Graph>(*testing::parse_graph(text));
  std::erase_if(body->inputs, [&](ValueId id) {
    const auto captured = outer.find(body->values[id].name);
    if (captured) body->captures.push_back({*captured, id});
    return captured.has_value();
  });
  body->finish();
  return body;
}

std::shared_ptr<Graph> with_body(std::string_view text, std::string_view body) {
  auto graph = std::make_shared<Graph>(*testing::parse_graph(text));
  for (Node& node : graph->nodes)
    if (node.type == "Loop") node.attributes.emplace_back("body", body_of(*graph, body));
  graph->finish();
  return graph;
}

struct Rewritten {
  std::string nodes;  // a line each
  std::string body;   // as a graph of its own
};

Rewritten rewritten_loop(const std::shared_ptr<const Graph>& graph) {
  PassOptions options;
  options.verify = true;
  for (const Pass& pass : all_passes())
    if (pass.name != "invariant" && pass.name != "no-ops") options.without.emplace_back(pass.name);
  const Typed typed = solve(graph);
  EXPECT_FALSE(typed.refusal());
  const auto program = rewritten(typed, cpu::target(), options);
  EXPECT_TRUE(program);
  Rewritten out;
  const std::string text = print_graph(*program->graph, program->facts);
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::string line = text.substr(at + 2, text.find('\n', at) - at - 2);
    if (line.find(" <- ") != std::string::npos) out.nodes += line.substr(0, line.find("  \"")) + "\n";
  }
  for (const Node& node : program->graph->nodes)
    for_each_body(node, [&](const Graph& body) {
      const auto source = program->sources.find(&body);
      const auto known = typed.bodies().find(source == program->sources.end() ? &body : source->second);
      const auto closed = closed_body(body, program->facts, known == typed.bodies().end() ? nullptr : &known->second);
      const Typed inner = solve_part(closed, {.corners = false});
      out.body = print_graph(inner.graph(), inner.facts());
    });
  return out;
}

constexpr std::string_view kLoop = R"(
    input x f32[n, 4]
    input m i64[]
    input more bool[]
    constant w f32[4, 4]
    a, b, c <- Loop(m, more, x, w, x)
    y <- Add(a, c)
    output y, b)";
constexpr std::string_view kBody = R"(
    input i i64[]
    input going bool[]
    input state f32[p, 4]
    input kernel f32[4, 4]
    input start f32[p, 4]
    next <- MatMul(state, kernel)
    sum <- Add(next, start)
    same <- Identity(start)
    output going, sum, kernel, same)";

TEST(Passes, LoopInvariants) {
  const Rewritten after = rewritten_loop(with_body(kLoop, kBody));
  EXPECT_EQ(after.nodes,
            "a f32[n, 4] <- Loop(m, more, x) body=<3 nodes>\n"
            "b f32[4, 4] <- Identity(w)\n"
            "y f32[n, 4] <- Add(a, x)\n");
  // The weights are constant in the body, and sizes that are the same outside are so inside.
  EXPECT_EQ(after.body.substr(after.body.find("  input state")),
            "  input state f32[size0, 4]\n"
            "  input start f32[size0, 4]\n"
            "  input kernel f32[4, 4]\n"
            "  constant kernel f32[4, 4]\n"
            "  next f32[size0, 4] <- MatMul(state, kernel)  \"next\"\n"
            "  sum f32[size0, 4] <- Add(next, start)  \"sum\"\n"
            "  same f32[size0, 4] <- Identity(start)  \"same\"\n"
            "  output going, sum\n");
}

// Whether it ends is to be seen by running it.
TEST(Passes, LoopThatHandsOnOnly) {
  const Rewritten after = rewritten_loop(with_body(R"(
    input x f32[n]
    input m i64[]
    input more bool[]
    a <- Loop(m, more, x)
    output a)",
                                                   R"(
    input i i64[]
    input going bool[]
    input s f32[n]
    output going, s)"));
  EXPECT_EQ(after.nodes, "a f32[n] <- Loop(m, more, x) body=<0 nodes>\n");
}

// Two values that change places are no invariants.
TEST(Passes, LoopThatSwaps) {
  const Rewritten after = rewritten_loop(with_body(R"(
    input x f32[n]
    input y f32[n]
    input m i64[]
    input more bool[]
    a, b <- Loop(m, more, x, y)
    output a, b)",
                                                   R"(
    input i i64[]
    input going bool[]
    input s f32[n]
    input t f32[n]
    output going, t, s)"));
  EXPECT_EQ(after.nodes, "a f32[n], b f32[n] <- Loop(m, more, x, y) body=<0 nodes>\n");
  EXPECT_NE(after.body.find("input s f32[size0]\n  input t f32[size0]\n"), std::string::npos) << after.body;
}

}  // namespace
}  // namespace anyshape
